"""System calls that the standard library doesn't have. Each raises OSError if the kernel refuses the call."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct

# The options of prctl(2), from linux/prctl.h.
PDEATHSIG, DUMPABLE, CAPBSET_DROP, SUBREAPER, NO_NEW_PRIVS, CAP_AMBIENT = 1, 4, 24, 36, 38, 47
_CLEAR_ALL, _SET_NAME = 4, 15
#: The name of the helper processes of a confinement, which wait for the command to end.
AROUND = "sayso-around"
_SFD_CLOEXEC = os.O_CLOEXEC
#: The size of a `struct signalfd_siginfo`, whose first field is the signal's number: signalfd(2).
SIGNAL_SIZE = 128

_libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    """Make a system call by its number. An integer is passed as a long, and bytes as a pointer."""
    return checked(_libc.syscall(ctypes.c_long(number), *map(_passed, arguments)))


def prctl(option: int, value: int) -> None:
    """Change how the kernel treats this process. See the manual page of prctl, section 2."""
    checked(_libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def rename(name: str) -> None:
    """Give this process a name that `/proc` shows. The kernel keeps the first 15 bytes."""
    checked(_libc.prctl(_SET_NAME, name.encode(), 0, 0, 0))


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str | None = None) -> None:
    """Mount a file system, or a part of a file system, at the target."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    checked(_libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]))


def unmount(target: str, flags: int) -> None:
    """Unmount the file system at the target: umount2(2)."""
    checked(_libc.umount2(os.fsencode(target), flags))


def unshare(flags: int) -> None:
    """Give this process the new namespaces that the flags name."""
    checked(_libc.unshare(flags))


def signals(numbers: set[signal.Signals]) -> int:
    """Return a descriptor that becomes readable when the process gets one of these signals: signalfd(2).

    The caller must block the signals.
    """
    mask = sum(1 << (number - 1) for number in numbers)
    return checked(_libc.signalfd(-1, struct.pack("Q120x", mask), _SFD_CLOEXEC))


def no_privileges() -> None:
    """Make sure that the next program has no capabilities and can't gain any.

    Root's capabilities could bypass Landlock: for example, CAP_PERFMON reads any process's environment. A user other
    than root may not drop capabilities from the bounding set, but has none after exec.
    """
    with contextlib.suppress(PermissionError), open("/proc/sys/kernel/cap_last_cap", "rb") as last:
        for capability in range(int(last.read()) + 1):
            prctl(CAPBSET_DROP, capability)
    prctl(CAP_AMBIENT, _CLEAR_ALL)
    prctl(NO_NEW_PRIVS, 1)


def checked(returned: int) -> int:
    """Return the value that a system call returned. Raises OSError if the call failed."""
    if returned < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return returned


def _passed(argument: object) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument
