"""Counts the bytes that commits write to SQLite's write-ahead log.

The log's format is in https://sqlite.org/fileformat2.html, section 4.1.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from statistics import mean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HEADER, _FRAME_HEADER = 32, 24
_WINDOWS = 20
#: Cycles between two looks at the log, and the commits of a cycle.
CYCLES, _COMMITS = 10, 3


@dataclass(slots=True)
class Logged:
    """Counts in windows of `CYCLES` cycles, one call at a time."""

    database: Path
    _counted: list[float] = field(default_factory=list)

    def windows(self) -> Iterator[None]:
        """Yield before each window, until enough were counted."""
        while len(self._counted) < _WINDOWS:
            salts, before = self._position()
            yield
            now, after = self._position()
            # A window in which SQLite restarted the log from its beginning isn't counted.
            if now == salts:
                self._counted.append((after - before) / CYCLES / _COMMITS)

    def bytes_per_commit(self) -> float:
        """Return the mean over all windows."""
        return mean(self._counted)

    def _position(self) -> tuple[bytes, int]:
        """Return the salts of the log and the length of its valid part.

        SQLite changes the salts when it restarts the log.
        """
        log = self.database.with_name(f"{self.database.name}-wal").read_bytes()
        (page,), salts = struct.unpack(">I", log[8:12]), log[16:24]
        frame, end = _FRAME_HEADER + page, _HEADER
        while log[end + 8 : end + 16] == salts:
            end += frame
        return salts, end
