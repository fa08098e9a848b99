"""The state folder. It holds the database and the keys, is closed to other users, and has one service at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import secrets
import stat
from pathlib import Path
from typing import Self

from adapters.database.wording import say
from hitl.errors import Unavailable

_DATABASE = "sayso.db"
#: The name of the key file, if no other file was given.
KEYS = "keys.json"
#: The name of the file that notes the calls for which callers wait.
ATTENDED = "attended"
_LOCK = "sayso.lock"
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class FolderInUse(Unavailable):
    """Another service uses the state folder. Nothing was changed; stop that service first."""

    code = "STATE_IN_USE"

    def __init__(self, why: str | None = None, pid: str = "unknown") -> None:
        super().__init__(why)
        #: The process id of the other service, or "unknown".
        self.pid = pid


class StateFolder:
    """A locked state folder. The kernel holds the lock (flock), and releases it when the process ends.

    `id` is the id of the folder. The id is the same at every start, and no other living process uses it. `keys` is the
    path of the key file. `keys_given` says that the settings name the key file; the service then doesn't make that
    file.
    """

    def __init__(self, path: Path, lock: int, id_: str, keys: Path | None) -> None:
        self.path = path
        self.keys = keys or path / KEYS
        self.keys_given = keys is not None
        self.id = id_
        self._lock = lock
        own = ((path, _FOLDER_MODE), (path / _DATABASE, _FILE_MODE), (self.keys, _FILE_MODE))
        self._closed = [(str(each), mode) for each, mode in own[: 2 if self.keys_given else 3]]

    @classmethod
    def open(cls, path: Path, keys: Path | None = None) -> Self:
        """Make the folder and its parents with mode 0700 if they are missing, close it to others, and lock it.

        Raises FolderInUse if another service uses the folder. Raises Unavailable if the folder can't be made or
        written, if it belongs to another user, or if other users can write to it.
        """
        try:
            path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            close_to_others(path, _FOLDER_MODE)
            return cls(path, *_locked(path / _LOCK), keys)
        except OSError as error:
            raise Unavailable(say("database.folder.unusable", path=path, why=error.strerror)) from error

    @property
    def database(self) -> Path:
        """The path of the database. The file is made if it is missing, and closed to other users."""
        return private_file(self.path / _DATABASE)

    def exposed(self) -> str | None:
        """Return a sentence that says why other users may have read or changed the folder's files, or None.

        The service calls this method often, because an approved tool may have opened the folder to others since the
        start. A call costs only two or three stat calls.
        """
        for path, mode in self._closed:
            try:
                found = os.stat(path)  # noqa: PTH116 - a Path would double the time of a check that every call makes twice
            except OSError as error:
                return say("database.folder.unseen", path=path, why=error.strerror)
            if found.st_mode & _OTHERS:
                return say("database.folder.exposed", path=path, found=_octal(found.st_mode), mode=f"{mode:o}")
        return None

    @property
    def identity(self) -> str:
        """The identity of the folder (`folder_identity`), for comparison with that of another folder."""
        return _identity(self.id, os.fstat(self._lock))

    def close(self) -> None:
        """Release the lock, so that another service can use the folder."""
        os.close(self._lock)


def close_to_others(path: Path, mode: int) -> None:
    """Give a file or folder the permission bits `mode`.

    Raises Unavailable if the path belongs to another user, or if other users can write to it. In both cases nobody can
    trust the contents, so the mode isn't repaired silently.
    """
    found = path.stat()
    if found.st_uid != os.geteuid():
        user = _name(found.st_uid)
        raise Unavailable(say("database.folder.foreign", path=path, uid=found.st_uid, user=user))
    if found.st_mode & _WRITABLE_BY_OTHERS:
        text = say("database.folder.writable", path=path, found=_octal(found.st_mode), mode=f"{mode:o}")
        raise Unavailable(text)
    if stat.S_IMODE(found.st_mode) != mode:
        path.chmod(mode)


def _octal(mode: int) -> str:
    return f"{stat.S_IMODE(mode):04o}"


def _name(uid: int) -> str:
    """Return the name of a user for `sudo -u`, or the quoted user id (`'#1001'`) if the user has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"'#{uid}'"


def private_file(path: Path) -> Path:
    """Make an empty file if it is missing, let only this process's user read and write it, and return its path.

    Raises the errors of `close_to_others`, and Unavailable if the file can't be opened.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _FILE_MODE))
        close_to_others(path, _FILE_MODE)
    except OSError as error:
        raise Unavailable(say("database.folder.file", path=path, why=error.strerror)) from error
    return path


def folder_identity(path: Path) -> str | None:
    """Return the identity of a state folder, or None if no service ever used it.

    A copy of a folder has another identity, because it has its own lock file. Raises OSError if the lock file can't be
    read, for example by another user than the service's.
    """
    lock = path / _LOCK
    try:
        _, id_ = _written(lock.read_text())
    except FileNotFoundError:
        return None
    return _identity(id_, lock.stat())


def service_pid(path: Path) -> int | None:
    """Return the process id of the service that uses a state folder, or None if no service does."""
    with contextlib.suppress(OSError, ValueError), (path / _LOCK).open() as lock:
        pid, _ = _written(lock.read())
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        # another process holds the lock, and the lock file names it: that process is the service
        except BlockingIOError:
            return int(pid)
    return None


def _written(text: str) -> tuple[str, str]:
    """Return the process id of the latest service and the folder's id from the text of a lock file.

    A missing part is ''.
    """
    pid, id_, *_ = [*text.split(), "", ""]
    return pid, id_


def _identity(id_: str, lock: os.stat_result) -> str:
    return f"{id_}-{lock.st_ino:x}"


def sync_folder(folder: Path) -> None:
    """Make sure that a crash can't lose the folder's new and replaced files. Raises OSError."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _locked(path: Path) -> tuple[int, str]:
    """Take the lock. Return its descriptor and the folder's id.

    The lock file holds the process id of the latest service, and the folder's id.
    """
    lock = os.open(private_file(path), os.O_RDWR)
    pid, id_ = _written(path.read_text())
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        pid = pid or "unknown"
        raise FolderInUse(say("database.folder.used", pid=pid, path=path.parent), pid) from error
    id_ = id_ or secrets.token_hex(4)
    os.ftruncate(lock, os.pwrite(lock, f"{os.getpid()} {id_}\n".encode(), 0))
    return lock, id_
