"""Confinement with Landlock and a filter of system calls, for hosts on which a process can't have its own namespaces.

The kernel refuses access to files outside of the plan's lists and, since Linux 6.12, signals to other processes. The
filter refuses every socket, and every system call that reads another process. Landlock doesn't check some changes of
files, such as `chmod`. The keeper answers the system calls for those changes (`notifications`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from typing import TYPE_CHECKING

from adapters.executors.confining import seccomp, system

if TYPE_CHECKING:
    import socket

    from adapters.executors.confining.plan import Plan

# The numbers of Landlock's system calls (linux/landlock.h). They are the same on every architecture.
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_READS = 1 << 0 | 1 << 2 | 1 << 3
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_FS_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP_SINCE, _TCP = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the kernel's version of Landlock. Raises OSError if the kernel has no Landlock."""
    return system.call(_CREATE, None, 0, _VERSION)


def signals_pass() -> bool:
    """Return whether this kernel lets a confined command send signals to other processes of its user."""
    return version() < _SCOPES_SINCE


def enter(plan: Plan, command: list[str], channel: socket.socket | None = None) -> list[str]:
    """Confine this process to the plan's paths, and return the command unchanged.

    The filter passes system calls that change a file by its path to the keeper, the process that supervises the
    command. The keeper gets the descriptor for these calls through the channel. A command that runs as another user
    needs no channel, because the kernel itself refuses to change files that this other user doesn't own.
    """
    _restrict(plan.reads, (plan.root, *plan.writes))
    if channel is None:
        seccomp.load(seccomp.alone(answered=False))
        return command
    import socket  # noqa: PLC0415 - the keeper has loaded it, if there is a channel

    listener = seccomp.load(seccomp.alone(answered=True), seccomp.NEW_LISTENER)
    socket.send_fds(channel, [b"x"], [listener])
    os.close(listener)
    channel.close()
    return command


def _restrict(reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
    abi = version()
    rights = _FS_RIGHTS[max(known for known in _FS_RIGHTS if known <= abi)]
    attributes = _Ruleset(rights, _TCP if abi >= _TCP_SINCE else 0, _SCOPES if abi >= _SCOPES_SINCE else 0)
    ruleset = system.call(_CREATE, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    for paths, allowed in ((reads, _READS), (writes, rights)):
        for path in paths:
            _allow(ruleset, path, allowed & rights)
    system.no_privileges()
    system.call(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(at).st_mode):
            allowed &= _FILE_RIGHTS
        system.call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(_PathRule(allowed, at)), 0)
        os.close(at)
