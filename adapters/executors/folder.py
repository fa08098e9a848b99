"""Opens files in one folder and never outside of it: component by component, without following links.

A path is checked by opening it. Each folder on the way is opened relative to its parent and with O_NOFOLLOW. If
somebody replaces a name with a link meanwhile, the opening fails and doesn't follow the link.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hitl.cards.text import one_line
from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

#: The value of a precondition on a file that doesn't exist.
ABSENT = "absent"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK is set because opening a pipe without a writer would wait.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_NAME = 255

_PLAINLY = {
    errno.ELOOP: "path.link",
    errno.ENOTDIR: "path.through",
    errno.ENOENT: "path.absent",
    errno.EISDIR: "path.folder",
    errno.EACCES: "path.barred",
}


class Folder:
    """The folder of a group of tools, with safe access to its files.

    Its own path `root` is trusted and may contain links. The paths of files in it may not contain links.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve(strict=True)
        if not self.root.is_dir() or self.root == Path(self.root.anchor):
            raise ValueError(f"{self.root} can't be a workspace")
        #: This lock is held from the check of a file to its change, so that no other tool of this service changes the
        #: file in between.
        self.changing = threading.Lock()

    def parts(self, path: str) -> tuple[str, ...]:
        """Return the components of a path inside the folder, or an empty tuple for the folder itself.

        Raises InvalidConfirmation for a path that leads out of the folder, and for a path that no file can have.
        """
        inside = path
        if path.startswith("/"):
            inside = path.removeprefix(f"{self.root}/") if path != str(self.root) else "."
        parts = tuple(part for part in inside.split("/") if part not in {"", "."})
        if inside.startswith("/") or ".." in parts:
            raise _refusal("path.outside", path, root=self.root)
        if any("\0" in part or len(part.encode()) > _LONGEST_NAME for part in parts):
            raise _refusal("path.none", path)
        return parts

    @contextmanager
    def opened(self, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """A context manager that opens the folder with these components. With `make`, missing folders are made.


        Raises OSError, with ELOOP or ENOTDIR for a link.
        """
        at = os.open(self.root, _FOLDER)
        try:
            for part in parts:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=at)
                        _give_as_above(at, part)
                below = os.open(part, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)

    @contextmanager
    def reading(self, parts: tuple[str, ...]) -> Iterator[BufferedReader]:
        """A context manager that opens a regular file for reading.

        Raises OSError, or InvalidConfirmation if it isn't a regular file.
        """
        with self.opened(parts[:-1]) as folder, open_regular(parts[-1], folder, "/".join(parts)) as file:
            yield file

    def digest(self, parts: tuple[str, ...]) -> str:
        """Return the SHA-256 of the file's bytes in hex, or `absent` if there is no file.

        Raises the errors of `reading`.
        """
        try:
            with self.reading(parts) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return ABSENT

    def replace(self, parts: tuple[str, ...], data: bytes, base: str) -> bool:
        """Write the file whole or not at all, and only if its current digest is `base`. Return whether it was written.

        The bytes are on disk before the name points to them. The file keeps its mode, and its owner if possible.
        """
        with self.opened(parts[:-1], make=base == ABSENT) as folder:
            if _digest_at(parts, folder) != base:
                return False
            spare = f".sayso-{secrets.token_hex(8)}"
            try:
                _write_new(spare, folder, data, like=parts[-1])
                return _put_in_place(spare, parts, folder, base)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(spare, dir_fd=folder)

    def delete(self, parts: tuple[str, ...], base: str) -> bool:
        """Remove the file if its current digest is `base`. Return whether it was removed."""
        with self.opened(parts[:-1]) as folder:
            if _digest_at(parts, folder) != base:
                return False
            os.unlink(parts[-1], dir_fd=folder)
            return True


@contextmanager
def open_regular(name: str, folder: int, path: str) -> Iterator[BufferedReader]:
    """A context manager that opens the regular file `name` in an open folder, for reading.

    Raises OSError, or InvalidConfirmation if it isn't a regular file. `path` is the file's path for the error's
    message.
    """
    # This check comes before the opening, because opening a device or a pipe has effects. The check after the opening
    # is needed because somebody may replace the file in between.
    _must_be_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
    descriptor = os.open(name, _FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        _must_be_regular(os.fstat(descriptor), path)
        yield file


def _must_be_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _refusal("path.link", path)
    if not stat.S_ISREG(status.st_mode):
        raise _refusal("path.irregular", path)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """A context manager that turns an OSError about the path into InvalidConfirmation with a plain sentence."""
    try:
        yield
    except OSError as error:
        if plainly := _PLAINLY.get(error.errno or 0):
            raise _refusal(plainly, path) from error
        raise _refusal("path.trouble", path, error=error.strerror) from error


def _digest_at(parts: tuple[str, ...], folder: int) -> str:
    try:
        with open_regular(parts[-1], folder, "/".join(parts)) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ABSENT


def _write_new(name: str, folder: int, data: bytes, *, like: str) -> None:
    with os.fdopen(os.open(name, _NEW, 0o666, dir_fd=folder), "wb") as file:
        try:
            old = os.stat(like, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            _give_as_above(folder, name)
        else:
            with contextlib.suppress(PermissionError):
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _give_as_above(folder: int, name: str) -> None:
    """If this process is root, give a new file or folder to the owner of the folder above.

    If root owned it, commands that run as that owner couldn't change it.
    """
    if os.geteuid() == 0:
        above = os.fstat(folder)
        os.chown(name, above.st_uid, above.st_gid, dir_fd=folder, follow_symlinks=False)


def _put_in_place(spare: str, parts: tuple[str, ...], folder: int, base: str) -> bool:
    """Give the new file `spare` its final name, if the file with this name still has the digest `base`.

    Return whether the new file got the name.

    If there was no file (`base` is `absent`), the new file gets the name by a link, which fails if a file has appeared
    there. If there was a file, a rename replaces it.
    """
    if base == ABSENT:
        try:
            os.link(spare, parts[-1], src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
    elif _digest_at(parts, folder) != base:
        return False
    else:
        os.rename(spare, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)
    return True


def _refusal(key: str, path: str, **facts: object) -> InvalidConfirmation:
    return InvalidConfirmation(fact(key, path=one_line(path, 120), **facts))
