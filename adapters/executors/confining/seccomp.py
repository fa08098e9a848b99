"""Makes filters of system calls, as programs of classic BPF: seccomp(2).

The kernel refuses the system calls that the filters name.

A filter sees only numbers, pointers and descriptors, so it can't read the path of a system call. The kernel therefore
hands system calls that change a file to the keeper (`notifications`), which checks the path and makes the change
itself.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import NamedTuple

from adapters.executors.confining import system

_ALLOW, _KILL, _NOTIFY, _ERRNO = 0x7FFF0000, 0x80000000, 0x7FC00000, 0x00050000
_SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
# Offsets in `struct seccomp_data`, and BPF operations: linux/seccomp.h, linux/bpf_common.h.
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: The first number of x86-64's x32 system calls. They are other numbers for the same system calls, so a filter must
#: refuse them.
_X32 = 0x40000000
#: The flags of open(2) that make a file: O_CREAT, and O_TMPFILE without its O_DIRECTORY bit.
_MAKES = 0o20000100
#: CLONE_NEWUSER. In its own user namespace a command has capabilities, and can attack more of the kernel.
_NEW_USERS = 0x10000000
#: The bits set-user-ID and set-group-ID. A file with one of them later runs with the rights of its owner or group.
_SET_ID = 0o6000


class Numbers(NamedTuple):
    """The numbers of the system calls of one architecture.

    System calls that the architecture doesn't have are left out.
    """

    architecture: int
    seccomp: int
    #: For each system call that sets a mode, the positions of two of its arguments: the mode and the flags. The second
    #: position is None if the system call always uses the mode, and not only for a new file.
    modes: dict[int, tuple[int, int | None]]
    #: System calls that the filter reports as not implemented: those that use memory without counting against a bound,
    #: I/O that bypasses filters, and those whose arguments a filter can't read. Programs work without these system
    #: calls, as on an older kernel.
    absent: tuple[int, ...]
    clone: int
    #: System calls that make or enter namespaces.
    namespaces: tuple[int, ...]
    #: System calls that read or control other processes, and system calls for kernel keys.
    others: tuple[int, ...]
    #: System calls that make a socket, except a connected pair, and system calls for IPC objects that outlive their
    #: process.
    channels: tuple[int, ...]
    #: System calls that change a file by its path or descriptor, each with the name of its change in `notifications`.
    changes: dict[int, str]


# The numbers are from arch/x86/entry/syscalls/syscall_64.tbl.
_X86_64 = Numbers(
    architecture=0xC000003E,
    seccomp=317,
    modes={
        90: (1, None),
        91: (1, None),
        268: (2, None),
        452: (2, None),
        2: (2, 1),
        257: (3, 2),
        85: (1, None),
        133: (1, None),
        259: (2, None),
    },
    absent=(319, 323, 425, 426, 427, 435, 437, 447, 463, 466, 469),
    clone=56,
    namespaces=(272, 308),
    others=(101, 310, 311, 312, 438, 440, 248, 249, 250, 298, 321),
    channels=(41, 29, 68, 64, 240),
    changes={
        90: "chmod",
        268: "fchmodat",
        452: "fchmodat2",
        92: "chown",
        94: "lchown",
        260: "fchownat",
        132: "utime",
        235: "utimes",
        261: "futimesat",
        76: "truncate",
        188: "setxattr",
        189: "lsetxattr",
        197: "removexattr",
        198: "lremovexattr",
        280: "utimensat",
        91: "fchmod",
        93: "fchown",
        190: "fsetxattr",
        199: "fremovexattr",
    },
)
# The numbers are from include/uapi/asm-generic/unistd.h.
_AARCH64 = Numbers(
    architecture=0xC00000B7,
    seccomp=277,
    modes={52: (1, None), 53: (2, None), 452: (2, None), 56: (3, 2), 33: (2, None)},
    absent=(279, 282, 425, 426, 427, 435, 437, 447, 463, 466, 469),
    clone=220,
    namespaces=(97, 268),
    others=(117, 270, 271, 272, 438, 440, 217, 218, 219, 241, 280),
    channels=(198, 194, 186, 190, 180),
    changes={
        53: "fchmodat",
        452: "fchmodat2",
        54: "fchownat",
        45: "truncate",
        5: "setxattr",
        6: "lsetxattr",
        14: "removexattr",
        15: "lremovexattr",
        88: "utimensat",
        52: "fchmod",
        55: "fchown",
        7: "fsetxattr",
        16: "fremovexattr",
    },
)
_KNOWN = {"x86_64": _X86_64, "aarch64": _AARCH64}


def numbers() -> Numbers:
    """Return the system call numbers for this machine. Raises OSError for an unknown architecture."""
    machine = os.uname().machine
    if machine not in _KNOWN:
        raise OSError(errno.ENOSYS, f"no filter of system calls is known for {machine}")
    return _KNOWN[machine]


def inside() -> bytes:
    """Return the filter for a command in its own namespaces.

    It refuses calls in `absent`, further namespaces, and modes with set-user-ID or set-group-ID.
    """
    found = numbers()
    return _program(found, *_always(found))


def alone(*, answered: bool) -> bytes:
    """Return the filter for a command that only Landlock confines.

    The filter refuses sockets and control of other processes. If `answered` is true, it sends system calls that change
    a file to the keeper process, which allows or refuses each of them.
    """
    found = numbers()
    changes = [_if(number, [_returned(_NOTIFY)]) for number in found.changes]
    return _program(
        found,
        *_always(found),
        _refused(found.others, errno.EPERM),
        _refused(found.channels, errno.EACCES),
        *(changes if answered else ()),
    )


def load(program: bytes, flags: int = 0) -> int:
    """Install a filter in this process. It can't be removed. If the flags ask for a listener, return the listener's
    descriptor.
    """
    kept = ctypes.create_string_buffer(program)
    header = struct.pack("H6xQ", len(program) // 8, ctypes.addressof(kept))
    return system.call(numbers().seccomp, _SET_MODE_FILTER, flags, header)


_Code = list[tuple[int, int, int, int]]


def _program(found: Numbers, *parts: _Code) -> bytes:
    code = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, found.architecture), _returned(_KILL), (_LOAD, 0, 0, _NUMBER)]
    code += [(_AT_LEAST, 0, 1, _X32), _returned(_KILL)]
    for part in parts:
        code += part
    return b"".join(struct.pack("HBBI", *each) for each in [*code, _returned(_ALLOW)])


def _always(found: Numbers) -> tuple[_Code, ...]:
    new_users = [_loaded(0), (_ANY_BIT, 0, 1, _NEW_USERS), _returned(_ERRNO | errno.EPERM), (_LOAD, 0, 0, _NUMBER)]
    return (
        _no_set_id(found),
        _refused(found.absent, errno.ENOSYS),
        _refused(found.namespaces, errno.EPERM),
        _if(found.clone, new_users),
    )


def _no_set_id(found: Numbers) -> _Code:
    code: _Code = []
    for number, (mode, flags) in found.modes.items():
        bits = [_loaded(mode), (_ANY_BIT, 0, 1, _SET_ID), _returned(_ERRNO | errno.EPERM)]
        makes = [] if flags is None else [_loaded(flags), (_ANY_BIT, 0, len(bits), _MAKES)]
        code += _if(number, [*makes, *bits, (_LOAD, 0, 0, _NUMBER)])
    return code


def _refused(calls: tuple[int, ...], why: int) -> _Code:
    return [step for number in calls for step in _if(number, [_returned(_ERRNO | why)])]


def _if(number: int, then: _Code) -> _Code:
    return [(_EQUAL, 0, len(then), number), *then]


def _loaded(argument: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)


def _returned(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)
