"""The mark: the position in the audit record at which a call was last allowed to run, or at which the service stopped.

A database that was restored from an older copy doesn't know which calls have run since, and would let them run again.
MACs can't detect this, because every MAC in the copy is valid. The mark can detect it: its file is outside the state
folder, and if the audit record ends before the mark, the database is an older copy.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from adapters.database.folder import sync_folder
from hitl.proof.keyring import Purpose
from hitl.proof.seals import pack

if TYPE_CHECKING:
    from pathlib import Path

    from hitl.proof.keyring import Keyring

_FILE_MODE = 0o600
_LONGEST = 4096


class Mark:
    """The mark file: a position in the audit record (the `id` of a line), the hash of this line, and a MAC.

    This line was the newest line of the audit record when a call was last allowed to run, or at the last start or clean
    stop if that was later.
    """

    def __init__(self, path: Path, keys: Keyring) -> None:
        self.path = path
        self._keys = keys

    def read(self) -> tuple[int, str] | None:
        """Return the position and the hash of the marked line, or (0, '') if there is no mark file.

        Return None if the mark can't be read, or if its MAC is wrong.
        """
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
        """Replace the mark. After the return, the new mark is on disk.

        On OSError, the file still has the whole old mark.
        """
        told = {"position": position, "line": line, "seal": self._keys.seal(Purpose.MARK, pack(position, line))}
        new = self.path.with_name(self.path.name + ".new")
        opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, _FILE_MODE)
        with os.fdopen(opened, "w") as file:
            file.write(json.dumps(told) + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)
        sync_folder(self.path.parent)
