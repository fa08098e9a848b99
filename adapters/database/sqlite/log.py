"""The write-ahead log: when it is copied into the database, and how long its file may get.

The connection that writes is the only one that copies. Before its releases 3.51.3, 3.50.7 and 3.44.6, SQLite can
lose acknowledged commits when one connection copies the log while another one begins it again from the start. One
connection does these two things one after the other, so the fault can't occur here, whatever the version. That also
is why `wal_autocheckpoint` is 0 on every connection, and why nothing else in this process may load a second SQLite
library: two libraries in one process release each other's file locks.

A commit that overwrites a part of the log's file is synced in half the time of one that makes the file longer. So
the file is made long after the first copy and keeps its size. SQLite begins the log again from its start with the
first commit after a copy of all of it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from pathlib import Path

from hitl.faults import reach

_log = logging.getLogger(__name__)

#: After so many units the log is copied between two groups, which takes 5 to 10 ms. More units would make whoever
#: commits meanwhile wait longer.
COPY_UNITS = 512
#: The file is made so long, which takes some 20 ms once: what the units between two copies take, one commit each.
LONG_BYTES = 8 << 20
_ZEROS = bytes(1 << 20)
#: A larger file is cut when nothing is written: another program kept an old state of the database open for long.
CUT_BYTES = 64 << 20


#: The first releases without the fault: on two older branches, and from then on.
_MENDED = ((3, 44, 6), (3, 50, 7))
_MENDED_FROM = (3, 51, 3)


def has_reset_fault(version: tuple[int, int, int]) -> bool:
    """Whether this release number of SQLite has the fault; a distribution may have repaired an older release."""
    return version < _MENDED_FROM and not any(version[:2] == fix[:2] and version >= fix for fix in _MENDED)


class Log:
    """The log of the connection that writes. It has no thread of its own: whoever owns the connection calls it."""

    def __init__(self, connection: sqlite3.Connection, database: str) -> None:
        self._connection = connection
        self._database = database
        self._file = Path(f"{database}-wal")
        self._trouble = ""
        #: Units committed since the latest copy.
        self.units = 0

    def copy(self, *, cut: bool = False) -> None:
        """Copy the log into the database, outside a transaction, and make its file long if it is shorter.

        `cut` also empties a file larger than CUT_BYTES.

        A copy that fails, or that another program's open transaction holds up, loses nothing: a later one takes all.
        """
        self.units = 0
        cut = cut and self._size() > CUT_BYTES
        try:
            reach("writer.before-copy")
            self._connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if cut else 'PASSIVE'})").fetchone()
        except sqlite3.Error as error:
            if str(error) != self._trouble:
                _log.warning("the write-ahead log of %s can't be copied: %s", self._database, error)
            self._trouble = str(error)
        else:
            self._trouble = ""
        if self._size() < LONG_BYTES:
            self._lengthen()

    def _lengthen(self) -> None:
        """Write zeros from the end of the log's file up to LONG_BYTES; if that can't be done, the file stays short.

        SQLite takes zeros for the end of the log. The transaction keeps other programs from writing there meanwhile.
        Space that is only reserved (fallocate) would not do: its first write changes the file's metadata as well.
        """
        with contextlib.suppress(sqlite3.Error, OSError):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                with self._file.open("r+b", buffering=0) as file:
                    missing = LONG_BYTES - file.seek(0, os.SEEK_END)
                    while missing > 0:
                        missing -= file.write(_ZEROS[:missing])
                    os.fsync(file)
            finally:
                self._connection.execute("ROLLBACK")

    def _size(self) -> int:
        try:
            return self._file.stat().st_size
        except OSError:
            return 0
