"""The names whose rights `sayso revoke` has ended, in a file of the state folder: one name in each line.

The service can write the state folder wherever it runs; the folder of the settings is often read-only, or belongs to
root. No tool of an agent reaches the state folder. Earlier versions kept the names next to the settings. That older
file is still read, so that nobody gets rights back by an upgrade.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAME = "revoked"


def revoked_file(state: Path) -> Path:
    """Return the file with the revoked names in a state folder."""
    return state / _NAME


def older_file(source: Path) -> Path:
    """Return the file next to the settings in which earlier versions kept the names.

    The service still reads this file.
    """
    return source.with_name(f"{source.name}.revoked")


def revoked_names(state: Path, source: Path | None) -> frozenset[str]:
    """Return the revoked names of a state folder, and the names next to the settings file `source`.

    Some users, such as an agent's, can't enter the state folder. For these users, only the names next to the settings
    are returned. This is safe: their programs don't decide anybody's rights. Raises OSError if a file exists and can't
    be read, because it may name a person who has no rights any more.
    """
    found = _names(older_file(source)) if source else frozenset()
    if not os.access(state, os.X_OK, effective_ids=True):
        return found
    return found | _names(revoked_file(state))


def keep_revoked(state: Path, name: str) -> None:
    """Add a name to the file, in one write that reaches the disk. Raises OSError.

    If root runs this, the file is written as the owner of the state folder. So the service can read and change the
    file, and a link in that folder can't make root write to another file.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _as_owner(state):
        file = revoked_file(state)
        if name in _names(file):
            return
        # A person may have edited the file, so its last line may lack a line feed.
        begins = "\n" if file.exists() and file.read_bytes()[-1:] not in {b"", b"\n"} else ""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        with os.fdopen(os.open(file, flags, 0o600), "a", encoding="utf-8") as handle:
            handle.write(f"{begins}{name}\n")
            handle.flush()
            os.fsync(handle.fileno())


def _names(file: Path) -> frozenset[str]:
    try:
        return frozenset(filter(None, map(str.strip, file.read_text("utf-8").splitlines())))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


@contextlib.contextmanager
def _as_owner(folder: Path) -> Iterator[None]:
    """While the context is open and this process runs as root, act with the rights of the folder's owner."""
    owner = folder.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        yield
        return
    group = os.getegid()
    os.setegid(owner.st_gid)
    os.seteuid(owner.st_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
