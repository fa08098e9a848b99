"""Runs one command and leaves nothing of it behind: started as a program of its own, with nothing but Python.

    python -I -S keeper.py PARENT_PID GRACE_S LANDLOCK_JSON SCRATCH -- PROGRAM ARG ...

It is a separate program because limits must be set between fork and exec, which is safe only where there
is one thread. Whatever the command starts is re-parented to the keeper (PR_SET_CHILD_SUBREAPER), also
what left the session, so all of it can be found and killed: when the command ends, when the keeper is
told to stop (SIGTERM), and when the service dies (PR_SET_PDEATHSIG). Told to stop, it asks with SIGTERM
first and kills after GRACE_S.

LANDLOCK_JSON is null, or an object of two lists of paths: `reads` may be read and run, `writes` also written.
SCRATCH is empty, or a folder that the service made for this command. The service removes it. Told to stop, the keeper
does: a service that was killed may have threads that still end, and looks alive until the last one has.
Exit: the command's status, 128 + N after signal N as shells have it, 125 where the command was never started.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import stat
import sys
import time
from pathlib import Path
from typing import NoReturn

NEVER_STARTED = 125
_AWAITED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
# linux/prctl.h
_PDEATHSIG, _CAPBSET_DROP, _SUBREAPER, _NO_NEW_PRIVS, _CAP_AMBIENT, _CLEAR_ALL = 1, 24, 36, 38, 47, 4
# linux/landlock.h; the numbers of the system calls are the same on every architecture.
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_READS = 1 << 0 | 1 << 2 | 1 << 3
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_FS_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP_SINCE, _TCP = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11

_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def main(arguments: list[str]) -> int:
    """Keep the command; the exit status."""
    parent, grace_s, (limits, scratch), command = int(arguments[0]), float(arguments[1]), arguments[2:4], arguments[5:]
    status, stopped = _kept(parent, grace_s, limits, command)
    if scratch and (stopped or os.getppid() != parent):
        import shutil  # noqa: PLC0415 - importing it takes long, and nearly no keeper needs it

        shutil.rmtree(scratch, ignore_errors=True)
    return status


def _kept(parent: int, grace_s: float, limits: str, command: list[str]) -> tuple[int, bool]:
    """The exit status, and whether the keeper was told to stop."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    _prctl(_PDEATHSIG, signal.SIGTERM)
    _prctl(_SUBREAPER, 1)
    if os.getppid() != parent:
        return NEVER_STARTED, True
    child = os.fork()
    if child == 0:
        _become(command, json.loads(limits))
    keeping = _Keeping(child, grace_s)
    status = keeping.until_over()
    shown = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    return shown, keeping.kill_at is not None


class _Keeping:
    """The loop over the signals that say something: a child ended, or stop."""

    def __init__(self, child: int, grace_s: float) -> None:
        self.child = child
        self.grace_s = grace_s
        self.status: int | None = None
        self.alone = False
        self.kill_at: float | None = None

    def until_over(self) -> int:
        """The command's wait status, once nothing that it started is left."""
        while not self.alone or self.status is None:
            got = signal.sigtimedwait(_AWAITED, self._patience())
            if got and got.si_signo != signal.SIGCHLD and self.kill_at is None:
                self.kill_at = time.monotonic() + self.grace_s
                _signal_all(signal.SIGTERM)
            self._reap()
            if self._must_kill():
                _signal_all(signal.SIGKILL)
        return self.status

    def _patience(self) -> float:
        """Seconds to wait for a signal. While killing, short: what is killed may have forked just before."""
        if self._must_kill():
            return 0.01
        return 3600.0 if self.kill_at is None else max(self.kill_at - time.monotonic(), 0.0)

    def _must_kill(self) -> bool:
        """Whether what is left goes: its time is up, or the command ended by itself."""
        if self.kill_at is None:
            return self.status is not None and not self.alone
        return time.monotonic() >= self.kill_at

    def _reap(self) -> None:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.child:
                    self.status = ended[1]
        except ChildProcessError:
            self.alone = True


def _signal_all(number: int) -> None:
    """Signal every descendant. The sandbox itself is only killed: asked to end, it would kill what is in
    it.
    """
    for pid, name in _descendants():
        if number == signal.SIGKILL or name != "bwrap":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _descendants() -> list[tuple[int, str]]:
    """The processes below this one, each with its name."""
    below: dict[int, list[tuple[int, str]]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = status.read_text(errors="replace").rpartition(")")
            pid, _, name = head.partition(" (")
            below.setdefault(int(rest.split()[1]), []).append((int(pid), name))
    found = list(below.get(os.getpid(), ()))
    for found_pid, _ in found:
        found += below.get(found_pid, ())
    return found


def _become(command: list[str], limits: dict[str, list[str]] | None) -> NoReturn:
    """In the child: a session of its own, the limits, and then the command in its place."""
    try:
        os.setsid()
        _prctl(_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these; programs count on them.
            signal.signal(number, signal.SIG_DFL)
        if limits is not None:
            _restrict(limits["reads"], limits["writes"])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
        os.execv(command[0], command)  # noqa: S606  the command that was approved
    except (OSError, ValueError) as error:
        os.write(2, f"not started: {error}\n".encode())
    finally:
        os._exit(NEVER_STARTED)


def _restrict(reads: list[str], writes: list[str]) -> None:
    """Landlock this process: files as listed, no TCP, no signals to others. Raises OSError where it can't
    be.
    """
    abi = _checked(_libc.syscall(_CREATE, None, 0, 1))
    rights = _FS_RIGHTS[max(known for known in _FS_RIGHTS if known <= abi)]
    attributes = _Ruleset(rights, _TCP if abi >= _TCP_SINCE else 0, _SCOPES if abi >= _SCOPES_SINCE else 0)
    ruleset = _checked(_libc.syscall(_CREATE, ctypes.byref(attributes), ctypes.sizeof(attributes), 0))
    for paths, allowed in ((reads, _READS), (writes, rights)):
        for path in paths:
            _allow(ruleset, path, allowed & rights)
    _drop_capabilities()
    _prctl(_NO_NEW_PRIVS, 1)
    _checked(_libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Leave the command none after exec. Root's would reach around Landlock: CAP_PERFMON reads any environment.

    Who isn't root may not drop them, and after exec has none.
    """
    with contextlib.suppress(PermissionError):
        for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1):
            _prctl(_CAPBSET_DROP, capability)
    _prctl(_CAP_AMBIENT, _CLEAR_ALL)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(at).st_mode):
            allowed &= _FILE_RIGHTS
        _checked(_libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(_PathRule(allowed, at)), 0))
        os.close(at)


def _prctl(option: int, value: int) -> None:
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def _checked(returned: int) -> int:
    if returned < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return returned


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
