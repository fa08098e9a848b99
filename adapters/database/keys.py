"""The master keys. They are made on the first run, and kept in a file that only the service reads.

They are never in the database.
"""

from __future__ import annotations

import json
import os
import secrets
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, Protocol

from adapters.database.folder import close_to_others, sync_folder
from adapters.database.wording import say
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from hitl.proof.keyring import Keyring

_FILE_MODE = 0o600
_KEY_BYTES = 32
#: Permission bits that a key file may not have. The first number is for the key file that the service made. The second
#: number is for a key file that the settings name: that file may belong to root, and the service's group may read it.
_OPEN, _OPEN_GIVEN = 0o077, 0o037


def load(path: Path, *, given: bool = False, database: Path | None = None) -> Sequence[tuple[str, bytes]]:
    """Return the master keys, as `read` does. A missing file is made with mode 0600, unless the settings name the file.

    If `database` already holds data, no file is made, because other keys made the MACs of that data.
    """
    try:
        if not given and not path.exists():
            if database is not None and (why := lost(path, database)):
                raise Unavailable(why)
            _make(path)
        if not given and not path.stat().st_mode & _OPEN:
            close_to_others(path, _FILE_MODE)
    except OSError as error:
        raise _unreadable(path, error) from error
    return read(path, given=given)


def read(path: Path, *, given: bool = False) -> Sequence[tuple[str, bytes]]:
    """Return the master keys as pairs of key id and key. Changes nothing.

    The first key makes the new MACs; every key can verify MACs. `given` is true for a file that the settings name (a
    credential, a mounted secret). The group of such a file may read it. Other key files may be read only by their
    owner.

    The file is `{"keys": [{"id": ..., "key": base64}, ...]}`. A MAC can only be verified with the key that made it, so
    rotation keeps the old keys after the new key. Raises Unavailable if the file is
    missing, if other users can use it, or if it isn't a key file.
    """
    try:
        if path.stat().st_mode & (_OPEN_GIVEN if given else _OPEN):
            raise Unavailable(say("database.keys.open", path=path))
        return _parsed(json.loads(path.read_bytes()))
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(say("database.keys.malformed", path=path)) from error


def rotate(path: Path) -> Sequence[str]:
    """Put a new key before the others in the key file that the service made. Return the ids of all keys, in this order.

    The file keeps its owner, and is replaced as a whole. A running service uses the new key after its next start.
    Raises Unavailable as `read` does, or if the file can't be replaced.
    """
    keys = [_fresh(), *read(path)]
    try:
        owner = path.stat()
        new = _written(path, keys)
        if os.geteuid() == 0:
            os.chown(new, owner.st_uid, owner.st_gid, follow_symlinks=False)
        new.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise Unavailable(say("database.keys.unwritable", path=path, why=error.strerror)) from error
    return [kid for kid, _ in keys]


def lost(path: Path, database: Path) -> str | None:
    """Return a sentence with the remedy if the key file is missing but the database isn't empty, else None."""
    if path.exists() or not database.exists() or not database.stat().st_size:
        return None
    return say("database.keys.lost", path=path, database=database)


def _unreadable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(say("database.keys.unreadable", path=path, why=error.strerror))


class KeptKeys(Protocol):
    """A store that knows the ids of the keys that made the MACs of its rows."""

    async def key_ids(self) -> frozenset[str]:
        """Return the ids of all keys that may have made MACs in the store."""

    async def open_key_ids(self) -> frozenset[str]:
        """Return the ids of the keys that made the MACs of the calls that haven't ended."""

    async def keep_key_ids(self, ids: Iterable[str]) -> None:
        """Store the ids of the keys in use."""


async def check_keys(store: KeptKeys, keyring: Keyring) -> None:
    """Check that the keyring has the keys of all open calls, and store the ids of the keyring's keys.

    Raises Unavailable if a call that hasn't ended has a MAC of a key that isn't in the keyring.
    """
    missing = await store.open_key_ids() - keyring.ids if await store.key_ids() - keyring.ids else frozenset()
    if missing:
        raise Unavailable(say("database.keys.missing", ids=", ".join(sorted(missing))))
    await store.keep_key_ids(keyring.ids)


def _make(path: Path) -> None:
    """Make a key file with one new key."""
    new = _written(path, [_fresh()])
    os.link(new, path)
    new.unlink()
    sync_folder(path.parent)


def _fresh() -> tuple[str, bytes]:
    return secrets.token_hex(4), secrets.token_bytes(_KEY_BYTES)


def _written(path: Path, keys: Sequence[tuple[str, bytes]]) -> Path:
    """Write the keys to a new file in the folder of `path`, and return the new file's path.

    The caller then gives this file the name `path`, so that a crash leaves no incomplete key file.
    """
    told = [{"id": kid, "key": b64encode(key).decode()} for kid, key in keys]
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    made = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _FILE_MODE)
    with os.fdopen(made, "w") as file:
        file.write(json.dumps({"keys": told}, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return new


def _parsed(told: dict[str, Any]) -> Sequence[tuple[str, bytes]]:
    keys = [(str(key["id"]), b64decode(key["key"], validate=True)) for key in told["keys"]]
    if len({kid for kid, _ in keys}) != len(keys) or not keys:
        raise ValueError(say("database.keys.twice"))
    return keys
