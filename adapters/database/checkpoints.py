"""Moves the write-ahead log into the database, away from the commits, and keeps the log small.

Left to SQLite, a commit now and then does this work itself and takes a hundred times as long as the others.
"""

from __future__ import annotations

import logging
import sqlite3
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

#: From this size on the log is copied beside the writing, ...
COPY_BYTES = 4 << 20
#: ... and from this size on writing is held up until it is empty.
EMPTY_BYTES = 64 << 20
_LOOK_S = 0.1
#: After so many looks without a commit the log is emptied and the thread sleeps.
_IDLE_LOOKS = 10
_WAIT_MS = 1000


class Checkpointer:
    """A thread with a connection of its own. It sleeps while nothing is written."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._log_file = database.with_name(database.name + "-wal")
        self._wrote = Event()
        self._stop = Event()
        self._trouble = ""
        self._thread = Thread(target=self._run, name="sayso-checkpoint", daemon=True)
        self._thread.start()

    def wrote(self) -> None:
        """Something was committed."""
        if not self._wrote.is_set():
            self._wrote.set()

    def close(self) -> None:
        """Empty the log and end the thread."""
        self._stop.set()
        self._wrote.set()
        self._thread.join()

    def _run(self) -> None:
        connection = sqlite3.connect(self._database, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout={_WAIT_MS}")
        while not self._stop.is_set():
            self._wrote.wait()
            self._watch(connection)
            self._checkpoint(connection, "TRUNCATE")
        connection.close()

    def _watch(self, connection: sqlite3.Connection) -> None:
        """Keep the log in bounds until nothing was written for a while."""
        idle = 0
        while idle < _IDLE_LOOKS and not self._stop.wait(_LOOK_S):
            idle = 0 if self._wrote.is_set() else idle + 1
            self._wrote.clear()
            size = self._log_file.stat().st_size
            if size > COPY_BYTES:
                self._checkpoint(connection, "TRUNCATE" if size > EMPTY_BYTES else "PASSIVE")

    def _checkpoint(self, connection: sqlite3.Connection, how: str) -> None:
        """One that fails or is held up loses nothing: the log keeps what it has for the next one."""
        try:
            connection.execute(f"PRAGMA wal_checkpoint({how})").fetchall()
        except sqlite3.Error as error:
            self._say(str(error))
        else:
            self._trouble = ""

    def _say(self, trouble: str) -> None:
        if trouble != self._trouble:
            _log.warning("the write-ahead log of %s can't be emptied: %s", self._database, trouble)
        self._trouble = trouble
