"""Answers system calls that change a file. It makes a change in the command's own folders, and refuses any other
change.

Landlock decides which files a command may open. It doesn't decide who may change a file's mode, owner, times or
attributes. The kernel allows such changes to the owner of the file. The command's user also owns the service's state.
Root owns the system's files, which a command may open to read. If all these calls were refused outright, git, gcc, tar
and `python -m venv` would fail.

The kernel therefore stops the caller (SECCOMP_RET_USER_NOTIF) and hands its system call to the keeper. The keeper opens
the path itself. The path must be below one of the folders, and no link may lead out of that folder (openat2,
RESOLVE_BENEATH). The keeper then changes the opened file and answers in the kernel's place. It never lets the original
call continue, because the path could lead to another file after the check. If a call names a descriptor, the keeper
opens that descriptor's file, and asks the kernel for its path.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import struct
import time
from typing import TYPE_CHECKING, NamedTuple

from adapters.executors.confining import seccomp, system

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Requests of ioctl for seccomp notifications (linux/seccomp.h): receive, send an answer, and check that the caller
# still exists.
_RECEIVE, _SEND, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTIFICATION, _RESPONSE = struct.Struct("QIIiIQ6Q"), struct.Struct("QqiI")
# Constants from fcntl.h, linux/openat2.h and linux/stat.h.
_AT_FDCWD, _NO_FOLLOW, _OPENAT2 = 0xFFFFFF9C, 0x100, 437
_BENEATH, _NO_MAGIC_LINKS = 0x08, 0x02
_NOW, _OMIT = (1 << 30) - 1, (1 << 30) - 2
_LONGEST_PATH, _PAGE, _MOST_BYTES = 4096, 4096, 65_536
_UNCHANGED = 0xFFFFFFFF
#: The mode bits that the keeper may set. The filter refuses set-user-ID and set-group-ID before a system call comes
#: here.
_MODES = 0o1777
_BY_DESCRIPTOR = frozenset({"fchmod", "fchown", "fsetxattr", "fremovexattr"})
_OWN_DESCRIPTOR = re.compile(r"/proc/(?:self|thread-self)/fd/(\d+)")


class Notification(NamedTuple):
    """One system call that waits for its answer."""

    #: The caller's process id.
    pid: int
    #: The arguments as the kernel gives them: numbers and addresses.
    args: Sequence[int]

    def memory(self, address: int, size: int) -> bytes:
        """Return bytes of the caller's memory at an address."""
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:
            memory.seek(address)
            return memory.read(size)

    def text(self, address: int) -> str:
        """Return the text at an address, up to the first NUL.

        No single read crosses the end of a page, because the next page may not exist.
        """
        read = b""
        while b"\0" not in read and len(read) < _LONGEST_PATH:
            read += self.memory(address + len(read), _PAGE - (address + len(read)) % _PAGE)
        return os.fsdecode(read.split(b"\0")[0])

    def named(self, folder: int | None, path: str) -> str:
        """Return the caller's path as an absolute path. The path may be relative to a folder's descriptor."""
        if own := _OWN_DESCRIPTOR.fullmatch(path):
            return os.readlink(f"/proc/{self.pid}/fd/{own.group(1)}")
        if path.startswith("/"):
            return path
        number = None if folder is None else folder & 0xFFFFFFFF
        at = "cwd" if number in {None, _AT_FDCWD} else f"fd/{number}"
        return os.readlink(f"/proc/{self.pid}/{at}") + ("/" + path if path else "")


class Answers:
    """Answers the system calls of one command, which the kernel sends to the listener of the command's filter.

    Changes a file only if it is in one of `folders`.
    """

    def __init__(self, listener: int, folders: Sequence[str]) -> None:
        self._listener = listener
        self._folders = [(path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) for path in folders]
        self._named = seccomp.numbers().changes

    def one(self) -> None:
        """Answer the next system call. If its caller has ended, do nothing."""
        request = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, request)
        except OSError:
            return
        ident, pid, _flags, number, _arch, _ip, *args = _NOTIFICATION.unpack(request)
        answer = -self._answered(ident, Notification(pid, args), self._named.get(number, ""))
        try:
            fcntl.ioctl(self._listener, _SEND, bytearray(_RESPONSE.pack(ident, 0, answer, 0)))
        except OSError:
            return

    def _answered(self, ident: int, asked: Notification, name: str) -> int:
        """Make the change that the system call asks for. Return 0, or the number of the error."""
        try:
            wanted = _CHANGES[name](asked)
            descriptor = self._reached(ident, asked, name)
        except OSError as error:
            return errno.EPERM if error.errno in {errno.EXDEV, errno.ELOOP, None} else error.errno
        except Exception:  # noqa: BLE001 - arguments that can't be understood are refused
            return errno.EPERM
        try:
            wanted(f"/proc/self/fd/{descriptor}")
        except OSError as error:
            return error.errno or errno.EPERM
        finally:
            os.close(descriptor)
        return 0

    def _reached(self, ident: int, asked: Notification, name: str) -> int:
        """Return a descriptor of the file that a system call names.

        Raises OSError if the file isn't in one of the folders.
        """
        # utimensat without a path changes the descriptor's file.
        if name in _BY_DESCRIPTOR or (name == "utimensat" and not asked.args[1]):
            descriptor = os.open(f"/proc/{asked.pid}/fd/{asked.args[0] & _UNCHANGED}", os.O_PATH | os.O_CLOEXEC)
            try:
                self._check(ident)
                self._root_of(os.readlink(f"/proc/self/fd/{descriptor}"))
            except OSError:
                os.close(descriptor)
                raise
            return descriptor
        folder, path, follow = _aims(name, asked.args)
        target = asked.named(folder, asked.text(path))
        self._check(ident)
        return self._opened(target, follow=follow)

    def _check(self, ident: int) -> None:
        """Raise OSError if the caller has ended. In that case, the memory that was read may be of another process."""
        fcntl.ioctl(self._listener, _VALID, bytearray(struct.pack("Q", ident)))

    def _root_of(self, target: str) -> tuple[str, int]:
        """Return the one of `folders` that holds a path, and its descriptor, or raise PermissionError."""
        for root, at in self._folders:
            if target == root or target.startswith(root + "/"):
                return root, at
        raise PermissionError(errno.EPERM, "outside")

    def _opened(self, target: str, *, follow: bool) -> int:
        """Return a descriptor of a file in one of `folders`. Raises PermissionError for any other file."""
        root, at = self._root_of(target)
        below = target[len(root) :].lstrip("/") or "."
        flags = os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
        how = struct.pack("QQQ", flags, 0, _BENEATH | _NO_MAGIC_LINKS)
        return system.call(_OPENAT2, at, os.fsencode(below), how, len(how))


def _aims(name: str, args: Sequence[int]) -> tuple[int | None, int, bool]:
    """Return the file that a system call names: a folder's descriptor or None, a path's address, and whether to follow
    links.
    """
    at_folder = name in {"fchmodat", "fchmodat2", "fchownat", "futimesat", "utimensat"}
    flags = {"fchmodat2": 3, "utimensat": 3, "fchownat": 4}.get(name)
    follow = not name.startswith("l") and not (flags is not None and args[flags] & _NO_FOLLOW)
    return (args[0] if at_folder else None), args[1 if at_folder else 0], follow


def _mode(asked: Notification, at: int) -> Callable[[str], None]:
    mode = asked.args[at] & _MODES
    return lambda path: os.chmod(path, mode)


def _owner(asked: Notification, at: int) -> Callable[[str], None]:
    """Return a function that gets a file's path and changes the file's group.

    The new group must be one that the user is in. The kernel lets a file's owner change the group, but not the owner.
    The function checks this itself, because the keeper may run as root, and root may make any change.
    """
    uid, gid = (value & _UNCHANGED for value in asked.args[at : at + 2])

    def change(path: str) -> None:
        found = os.stat(path)
        groups = {_UNCHANGED, found.st_gid, os.getegid(), *os.getgroups()}
        if uid not in {_UNCHANGED, found.st_uid} or gid not in groups:
            raise PermissionError(errno.EPERM, "not the owner's to give")
        os.chown(path, -1, -1 if gid == _UNCHANGED else gid)

    return change


def _times(asked: Notification, at: int, shape: str, factor: int) -> Callable[[str], None]:
    """Return a function that gets a file's path and sets the file's two times, of access and of change.

    If the system call has no pointer to times, the function sets the current time.

    `shape` describes the numbers at the pointer: seconds and a fraction for each time, or only seconds for each time.
    `factor` is the nanoseconds in one unit of the fraction.
    """
    if not asked.args[at]:
        return os.utime
    read = struct.unpack(shape, asked.memory(asked.args[at], struct.calcsize(shape)))
    pairs = [(read[0], read[1]), (read[2], read[3])] if len(read) == 4 else [(read[0], 0), (read[1], 0)]  # noqa: PLR2004

    def change(path: str) -> None:
        found = os.stat(path)
        olds = (found.st_atime_ns, found.st_mtime_ns)
        new = [_time(*pair, factor, old) for pair, old in zip(pairs, olds, strict=True)]
        os.utime(path, ns=(new[0], new[1]))

    return change


def _time(seconds: int, part: int, factor: int, old: int) -> int:
    """Return one time in nanoseconds.

    In utimensat (factor 1), `part` may also be one of two signs instead of a fraction. One means the current time. The
    other means that the file keeps its time: the result is then `old`.
    """
    if factor == 1 and part in {_NOW, _OMIT}:
        return time.time_ns() if part == _NOW else old
    return seconds * 10**9 + part * factor


def _attribute(asked: Notification) -> Callable[[str], None]:
    name, size, flags = asked.text(asked.args[1]), asked.args[3], asked.args[4]
    value = asked.memory(asked.args[2], min(size, _MOST_BYTES)) if size else b""
    _of_user(name)
    return lambda path: os.setxattr(path, name, value, flags & 0b11)


def _no_attribute(asked: Notification) -> Callable[[str], None]:
    name = asked.text(asked.args[1])
    _of_user(name)
    return lambda path: os.removexattr(path, name)


def _of_user(name: str) -> None:
    """Refuse extended attributes outside of `user.`, because the kernel derives rights from some of them
    (`security.*`).
    """
    if not name.startswith("user."):
        raise OSError(errno.ENOTSUP, "only user attributes")


def _length(asked: Notification) -> Callable[[str], None]:
    length = asked.args[1]
    return lambda path: os.truncate(path, length)


_CHANGES: dict[str, Callable[[Notification], Callable[[str], None]]] = {
    "chmod": lambda asked: _mode(asked, 1),
    "fchmod": lambda asked: _mode(asked, 1),
    "fchmodat": lambda asked: _mode(asked, 2),
    "fchmodat2": lambda asked: _mode(asked, 2),
    "chown": lambda asked: _owner(asked, 1),
    "fchown": lambda asked: _owner(asked, 1),
    "lchown": lambda asked: _owner(asked, 1),
    "fchownat": lambda asked: _owner(asked, 2),
    "utime": lambda asked: _times(asked, 1, "qq", 0),
    "utimes": lambda asked: _times(asked, 1, "qqqq", 1000),
    "futimesat": lambda asked: _times(asked, 2, "qqqq", 1000),
    "utimensat": lambda asked: _times(asked, 2, "qqqq", 1),
    "setxattr": _attribute,
    "lsetxattr": _attribute,
    "fsetxattr": _attribute,
    "removexattr": _no_attribute,
    "lremovexattr": _no_attribute,
    "fremovexattr": _no_attribute,
    "truncate": _length,
}
