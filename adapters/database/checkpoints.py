"""Copies the write-ahead log into the database, beside the commits, and keeps the log from growing.

Left to SQLite, a commit now and then does this work itself and takes fifty times as long as the others. The log's
file keeps its size, because a commit that overwrites a part of it is synced in half the time of one that makes it
longer; SQLite begins it anew whenever all of it has been copied.
"""

from __future__ import annotations

import logging
import sqlite3
from threading import Event, Thread
from typing import TYPE_CHECKING

from adapters.database.writer import connect

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

#: After so many units the log is copied. A unit alone writes about 50 KB of it, one in a large group a fifth.
COPY_UNITS = 512
#: A log that has grown to so many pages (32 MB), because units came faster than they were copied, is begun anew
#: while writing waits.
RESTART_PAGES = 8192
#: A larger file is cut when nothing is written: somebody kept an old state of the database open for long.
CUT_BYTES = 64 << 20
_LOOK_S = 0.1
#: After so many looks without a commit all is copied and the thread sleeps.
_IDLE_LOOKS = 10
_WAIT_MS = 1000


class Checkpointer:
    """A thread with a connection of its own. It sleeps while nothing is written.

    Raises Unavailable where the database can't be opened.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._log_file = database.with_name(database.name + "-wal")
        self._units = 0
        self._wrote = Event()
        self._stop = Event()
        self._trouble = ""
        self._connection = connect(database)
        self._connection.execute(f"PRAGMA busy_timeout={_WAIT_MS}")
        self._thread = Thread(target=self._run, name="sayso-checkpoint", daemon=True)
        self._thread.start()

    def wrote(self, units: int) -> None:
        """So many units were committed. Called by one thread at a time; counting only paces the copying."""
        self._units += units
        if not self._wrote.is_set():
            self._wrote.set()

    def close(self) -> None:
        """Copy all and end the thread."""
        self._stop.set()
        self._wrote.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wrote.wait()
            self._watch()
            self._checkpoint("TRUNCATE" if self._size() > CUT_BYTES else "RESTART")
        self._connection.close()

    def _watch(self) -> None:
        """Keep the log in bounds until nothing was written for a while."""
        idle = 0
        while idle < _IDLE_LOOKS and not self._stop.wait(_LOOK_S):
            idle = 0 if self._wrote.is_set() else idle + 1
            self._wrote.clear()
            if self._units >= COPY_UNITS:
                self._units = 0
                self._copy()

    def _copy(self) -> None:
        """Most of it beside the writing; where that can't keep up, the rest while writing waits."""
        if self._checkpoint("PASSIVE") > RESTART_PAGES:
            self._checkpoint("RESTART")

    def _size(self) -> int:
        try:
            return self._log_file.stat().st_size
        except FileNotFoundError:
            return 0

    def _checkpoint(self, how: str) -> int:
        """How many pages the log held; one that fails or is held up loses nothing, the next one takes it all."""
        try:
            _busy, pages, _copied = self._connection.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
        except sqlite3.Error as error:
            self._say(str(error))
            return 0
        self._trouble = ""
        return int(pages)

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:
            _log.warning("the write-ahead log of %s can't be copied: %s", self._database, trouble)
        self._trouble = trouble
