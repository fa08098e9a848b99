"""The master keys: made on first run, kept in one file that only the service reads, never in the database."""

from __future__ import annotations

import json
import os
import secrets
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, Protocol

from adapters.database.sqlite.folder import close_to_others, sync_folder
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from hitl.proof.keyring import Keyring

_FILE_MODE = 0o600
_KEY_BYTES = 32
#: What may not be set in the mode of a file of ours, and of one that was given: such a file may belong to root and be
#: read by our group.
_OPEN, _OPEN_GIVEN = 0o077, 0o037


def load(path: Path, *, given: bool = False) -> Sequence[tuple[str, bytes]]:
    """The master keys as of `read`. A file that wasn't `given` is made where there is none, and gets the mode 0600."""
    try:
        if not given and not path.exists():
            _make(path)
        if not given and not path.stat().st_mode & _OPEN:
            close_to_others(path, _FILE_MODE)
    except OSError as error:
        raise _unreadable(path, error) from error
    return read(path, given=given)


def read(path: Path, *, given: bool = False) -> Sequence[tuple[str, bytes]]:
    """The master keys, `(key id, key)`: the first signs, all verify. Nothing is changed.

    The group of a file that was `given` (a credential, a mounted secret) may read it.

    The file is `{"keys": [{"id": ..., "key": base64}, ...]}`. To rotate, put a new key first and keep the old one
    behind it: what that one sealed can be checked with it alone. Raises Unavailable for a file that isn't there, that
    others can use, or that isn't one.
    """
    try:
        if path.stat().st_mode & (_OPEN_GIVEN if given else _OPEN):
            raise Unavailable(f"{path} can be used by other users. Make new keys, or run: chmod 600 {path}")
        return _parsed(json.loads(path.read_bytes()))
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(
            f"The keys in {path} can't be read: it isn't a key file ({error}). Restore it from a backup;"
            " without it, open calls can't be decided."
        ) from error


def _unreadable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"The keys in {path} can't be read: {error.strerror}.")


class KeptKeys(Protocol):
    """A store that remembers by which keys its rows are sealed."""

    async def key_ids(self) -> frozenset[str]:
        """Return the ids of all keys that the store may be sealed with."""

    async def open_key_ids(self) -> frozenset[str]:
        """Return the ids of the keys of calls that aren't over."""

    async def keep_key_ids(self, ids: Iterable[str]) -> None:
        """Remember the ids of the keys in use."""


async def check_keys(store: KeptKeys, keyring: Keyring) -> None:
    """Hold the database to the keys, and remember which keys it may be sealed with from now on.

    Raises Unavailable where a call that isn't over is sealed with a key that isn't in the keyring.
    """
    missing = await store.open_key_ids() - keyring.ids if await store.key_ids() - keyring.ids else frozenset()
    if missing:
        raise Unavailable(
            f"Open calls are sealed with keys that are missing: {', '.join(sorted(missing))}. Put them back"
            " into keys.json, after the first; they can go when those calls are over."
        )
    await store.keep_key_ids(keyring.ids)


def _make(path: Path) -> None:
    """Write the whole file under another name, then give it its own: a crash leaves no half a key file."""
    key = {"id": secrets.token_hex(4), "key": b64encode(secrets.token_bytes(_KEY_BYTES)).decode()}
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    made = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _FILE_MODE)
    with os.fdopen(made, "w") as file:
        file.write(json.dumps({"keys": [key]}, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.link(new, path)
    new.unlink()
    sync_folder(path.parent)


def _parsed(told: dict[str, Any]) -> Sequence[tuple[str, bytes]]:
    keys = [(str(key["id"]), b64decode(key["key"], validate=True)) for key in told["keys"]]
    if len({kid for kid, _ in keys}) != len(keys) or not keys:
        raise ValueError("it has no key, or two with one id")
    return keys
