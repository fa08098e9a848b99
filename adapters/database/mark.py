"""The mark: how far the record had come when something was last allowed to run, kept outside the state folder.

A database that is restored from an older copy knows nothing of what ran since, so it would let it run again. Seals
don't help there, because all in the copy is as it was sealed. The mark tells: a shorter record is an older one.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from adapters.database.sqlite.folder import sync_folder
from hitl.proof.keyring import Purpose
from hitl.proof.seals import pack

if TYPE_CHECKING:
    from pathlib import Path

    from hitl.proof.keyring import Keyring

_FILE_MODE = 0o600
_LONGEST = 4096


class Mark:
    """A sealed file with the newest position (`id` of a line of the record) that let something run, and its hash."""

    def __init__(self, path: Path, keys: Keyring) -> None:
        self.path = path
        self._keys = keys

    def read(self) -> tuple[int, str] | None:
        """Position and hash; 0 and '' where there is no mark, None for a mark that isn't one of ours."""
        try:
            with self.path.open("rb") as file:
                told = json.loads(file.read(_LONGEST))
            position, line, seal = told["position"], told["line"], told["seal"]
        except FileNotFoundError:
            return 0, ""
        except (OSError, ValueError, KeyError, TypeError):
            return None
        sound = type(position) is int and type(line) is str
        return (position, line) if sound and self._keys.holds(Purpose.MARK, seal, pack(position, line)) else None

    def write(self, position: int, line: str) -> None:
        """Put the mark there, whole or not at all, and durable. Raises OSError."""
        told = {"position": position, "line": line, "seal": self._keys.seal(Purpose.MARK, pack(position, line))}
        new = self.path.with_name(self.path.name + ".new")
        opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, _FILE_MODE)
        with os.fdopen(opened, "w") as file:
            file.write(json.dumps(told) + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)
        sync_folder(self.path.parent)
