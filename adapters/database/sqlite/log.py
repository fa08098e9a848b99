"""Copies the write-ahead log into the database, and controls the size of the log's file.

Only the connection that writes copies the log. Until its releases 3.51.3, 3.50.7 and 3.44.6, SQLite can lose
acknowledged commits if one connection copies the log while another connection restarts the log from its beginning. In
this service, one connection does both, one after the other, so the fault can't occur in any release. For the same
reason, `wal_autocheckpoint` is 0 on every connection, and nothing in this process may load a second SQLite library: two
libraries in one process release each other's file locks.

A commit that overwrites a part of the log's file syncs in half the time of a commit that makes the file longer. After
the first copy, the file is therefore made long, and it keeps that size. SQLite restarts the log from its beginning with
the first commit after a complete copy.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from pathlib import Path

from hitl.faults import reach

_log = logging.getLogger(__name__)

#: After this many committed units (`hitl.ports.Unit`), the writer copies the log before its next commit. A copy takes 5
#: to 10 ms; with more units, the callers that commit meanwhile would wait longer.
COPY_UNITS = 512
#: The length of the log's file. The file gets this length once, which takes about 20 ms. The units between two copies
#: fit into a file of this length, even if each unit has its own commit.
LONG_BYTES = 8 << 20
_ZEROS = bytes(1 << 20)
#: If the log's file is longer than this, the file is emptied at a time without writes. The file grows so long only if
#: another program keeps an old state of the database open for a long time.
CUT_BYTES = 64 << 20


#: The releases that repaired the fault of `has_reset_fault` on two older branches of SQLite.
_MENDED = ((3, 44, 6), (3, 50, 7))
#: From this release of SQLite on, no release has the fault of `has_reset_fault`.
_MENDED_FROM = (3, 51, 3)


def has_reset_fault(version: tuple[int, int, int]) -> bool:
    """Return whether this release of SQLite, as SQLite's project published it, can lose commits.

    A distribution may have repaired the fault without changing the version number.
    """
    return version < _MENDED_FROM and not any(version[:2] == fix[:2] and version >= fix for fix in _MENDED)


class Log:
    """The log of the connection that writes. The owner of that connection calls its methods, on any thread."""

    def __init__(self, connection: sqlite3.Connection, database: str) -> None:
        self._connection = connection
        self._database = database
        self._file = Path(f"{database}-wal")
        self._trouble = ""
        #: The number of units that were committed since the latest copy.
        self.units = 0

    def copy(self, *, cut: bool = False) -> None:
        """Copy the log into the database, and make the log's file LONG_BYTES long if it is shorter.

        The caller may not have an open transaction. With `cut`, a log file that is longer than CUT_BYTES is emptied
        too. Nothing is lost if a copy fails, or if another program's open transaction prevents a part of the copy: a
        later copy includes that part.
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
        """Write zeros from the end of the log's file up to LONG_BYTES. On an error, the file stays short.

        SQLite reads zeros as the end of the log. A transaction keeps other programs from writing to the log meanwhile.
        Reserving the space with fallocate would not help, because the first write to reserved space still changes the
        file's metadata.
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
