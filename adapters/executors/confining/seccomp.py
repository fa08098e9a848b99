"""Filters of system calls, as programs of classic BPF: seccomp(2). The kernel refuses what they name.

Paths are pointers, which a filter can't follow. Calls that name what they change by a path are therefore handed to the
keeper (`answers`), which looks at the path and makes the change itself.
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
# Offsets in `struct seccomp_data`, and operations of BPF: linux/seccomp.h, linux/bpf_common.h.
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: Numbers from here on are those of x86-64's x32, which would escape a filter by number.
_X32 = 0x40000000
#: O_CREAT, and what O_TMPFILE has beside O_DIRECTORY.
_MAKES = 0o20000100
#: CLONE_NEWUSER: in a user namespace of its own a command has capabilities, and so more of the kernel to attack.
_NEW_USERS = 0x10000000
#: set-user-ID and set-group-ID: with one of them, whoever runs the file later does so as its owner.
_SET_ID = 0o6000


class Numbers(NamedTuple):
    """The system calls of one architecture, by number; a call that it doesn't have is absent."""

    architecture: int
    seccomp: int
    #: By call: the number of its argument for a file's mode, and of its flags if the mode counts only for a new file.
    modes: dict[int, tuple[int, int | None]]
    #: Memory that no bound sees, I/O around any filter, and calls whose arguments a filter can't see. Programs do
    #: without them, as on a kernel that doesn't have them.
    absent: tuple[int, ...]
    #: `clone`, and the calls that enter namespaces.
    clone: int
    namespaces: tuple[int, ...]
    #: Looking into, or taking from, other processes; kernel keys.
    others: tuple[int, ...]
    #: Every way to a socket but a connected pair, and segments that outlive their maker.
    channels: tuple[int, ...]
    #: Calls that change a file by its path, and what `answers` is to do for each.
    by_path: dict[int, str]
    utimensat: int


# arch/x86/entry/syscalls/syscall_64.tbl
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
    by_path={
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
    },
    utimensat=280,
)
# include/uapi/asm-generic/unistd.h
_AARCH64 = Numbers(
    architecture=0xC00000B7,
    seccomp=277,
    modes={52: (1, None), 53: (2, None), 452: (2, None), 56: (3, 2), 33: (2, None)},
    absent=(279, 282, 425, 426, 427, 435, 437, 447, 463, 466, 469),
    clone=220,
    namespaces=(97, 268),
    others=(117, 270, 271, 272, 438, 440, 217, 218, 219, 241, 280),
    channels=(198, 194, 186, 190, 180),
    by_path={
        53: "fchmodat",
        452: "fchmodat2",
        54: "fchownat",
        45: "truncate",
        5: "setxattr",
        6: "lsetxattr",
        14: "removexattr",
        15: "lremovexattr",
    },
    utimensat=88,
)
_KNOWN = {"x86_64": _X86_64, "aarch64": _AARCH64}


def numbers() -> Numbers:
    """Return the numbers of this machine. Raises OSError if they aren't known."""
    machine = os.uname().machine
    if machine not in _KNOWN:
        raise OSError(errno.ENOSYS, f"no filter of system calls is known for {machine}")
    return _KNOWN[machine]


def inside() -> bytes:
    """Return the filter for a command in namespaces of its own: refused are only memory that no bound sees,
    more namespaces, and files that would run as their owner.
    """
    found = numbers()
    return _program(found, *_always(found))


def alone(*, answered: bool) -> bytes:
    """Return the filter for a command that only Landlock holds: no sockets, no other processes.

    `answered`: it changes no file by its path but through the keeper.
    """
    found = numbers()
    by_path = [_if(number, [_returned(_NOTIFY)]) for number in found.by_path]
    by_path.append(_if(found.utimensat, _if_set(1, [_returned(_NOTIFY)])))
    return _program(
        found,
        *_always(found),
        _refused(found.others, errno.EPERM),
        _refused(found.channels, errno.EACCES),
        *(by_path if answered else ()),
    )


def load(program: bytes, flags: int = 0) -> int:
    """Put this process under a filter for good; the listener's descriptor if the flags ask for one."""
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


def _if_set(argument: int, then: _Code) -> _Code:
    """Do this if a pointer isn't NULL, looking at both of its halves; then load the number again."""
    low, high = _loaded(argument), (_LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4)
    again = (_LOAD, 0, 0, _NUMBER)
    return [low, (_EQUAL, 0, 2, 0), high, (_EQUAL, len(then), 0, 0), *then, again]


def _loaded(argument: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)


def _returned(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)
