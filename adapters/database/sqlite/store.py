"""Implements the port `Store` on SQLite.

Writes go through the one writer; reads use the writer's connection or a second connection.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from adapters.database import keys as keyfile
from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.mark import Mark
from adapters.database.sqlite import schema
from adapters.database.sqlite.cache import Known
from adapters.database.sqlite.credentials import SqliteCredentials
from adapters.database.sqlite.failures import unavailable
from adapters.database.sqlite.parts import SqliteCalls, SqliteChanges, SqliteConversations, SqliteInbox, SqliteOutbox
from adapters.database.sqlite.reading import fetched, newest_time
from adapters.database.sqlite.retention import Retention
from adapters.database.sqlite.turns import SqliteTurns
from adapters.database.sqlite.units import LETS_RUN
from adapters.database.sqlite.writer import Writer, connect
from hitl.call import Event
from hitl.errors import Unavailable
from hitl.limits import KEEP_EVENTS
from hitl.proof.chain import is_intact
from hitl.proof.keyring import Keyring
from hitl.times import Steady, micros

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from adapters.database.folder import StateFolder
    from hitl.call import Entry
    from hitl.ports import Change, Clock

_log = logging.getLogger(__name__)
#: When the audit record gets a line with an event in `_GRANTS`, the mark (`mark.py`) is written this many seconds
#: later. So the mark is on disk within a second, even if writing is slow.
_MARK_EVERY_S = 0.5
#: The events that let a call run, and the event that records that the open calls of a restored older copy were ended.
_GRANTS = LETS_RUN | {Event.ROLLED_BACK}


class SqliteStore(
    SqliteCalls,
    SqliteChanges,
    SqliteOutbox,
    SqliteInbox,
    SqliteConversations,
    SqliteCredentials,
    SqliteTurns,
):
    """Stores calls in the database of a state folder. Use it on the event loop that opened it.

    `hitl.ports.Store` describes the methods. A read sees every write whose method has returned.
    """

    def __init__(self, writer: Writer, reader: sqlite3.Connection, clock: Clock, keys: Keyring, known: Known) -> None:
        super().__init__(writer, reader, clock, keys, known)
        self._mark: Mark | None = None
        self._marking: asyncio.Task[None] | None = None
        self._marks = asyncio.Lock()
        self.follow(self._heard)

    @classmethod
    async def open(cls, folder: StateFolder, clock: Clock, *, keep_events: timedelta = KEEP_EVENTS) -> Self:
        """Open the store of a locked folder. Update the schema, and make keys if the folder is new.

        Events of the inbox are deleted `keep_events` after they were handled or set aside, while nothing else is
        written. Raises Unavailable if the database can't be used, if a newer version of this program made it, or if the
        key of a MAC in the database or of an open call is missing.
        """
        database = folder.database
        keys = Keyring(keyfile.load(folder.keys, given=folder.keys_given, database=database))
        with ExitStack() as undo:
            connection = undo.enter_context(closing(connect(database)))
            schema.ensure(connection, str(database), keys)
            _free_edits(connection, str(database))
            reader = undo.enter_context(closing(connect(database)))
            reader.execute("PRAGMA query_only=ON")
            steady = _steady(connection, clock, keys, str(database))
            known = _known(connection, keys, str(database))
            undo.pop_all()
        prune = Retention(keep_events).prune
        writer = Writer(connection, steady, database=str(database), prune=prune, known=known)
        store = cls(writer, reader, steady, keys, known)
        try:
            await keyfile.check_keys(store, keys)
        except Unavailable:
            await store.close()
            raise
        return store

    @property
    def database(self) -> Path:
        """The path of the database, for code that reads the file without this store."""
        return Path(self._writer.database)

    async def close(self) -> None:
        """Write the queued units and the mark (`mark.py`), then close.

        A write whose method has returned is on disk already. The writer's connection is closed last, because SQLite
        copies the log when the last connection is closed.
        """
        await self._writer.drain()
        if self._marking is not None:
            self._marking.cancel()
        async with self._marks:
            # Lines that let nothing run, such as a rejection, don't move the mark while the service runs. After this,
            # none of them can be cut off unnoticed either.
            self._write_mark(*self._last())
        self._reader.close()
        await self._writer.close()

    async def keep_mark(self, path: Path) -> bool:
        """Use this file for the mark (`mark.py`) from now on. Return whether the database is as new as the mark in the
        file.

        If the result is True, a new mark is written soon. If the database is older than the mark, it was restored from
        an older copy, and the caller must let none of its open calls run. The result is also False if lines of the
        audit record are missing, or if the mark can't be read.
        """
        mark = Mark(path, self.keys)
        last, lines = self._read(sql.POSITION)[0]
        marked, self._mark = mark.read(), mark
        current = marked is not None and last == lines and (not marked[0] or self._hash_at(marked[0]) == marked[1])
        if current:
            # The mark is written at every start, because the key of the old MAC may be removed from the keyring later.
            # It is also written before the first call runs, so that a restore can know that no call has run.
            self._moves_on()
        return current

    def _heard(self, change: Change) -> None:
        if any(map(_lets_run, change.entries)):
            # After a restore the mark is ahead of the record, so `sayso audit verify` would report missing lines.
            rolled_back = any(entry.event is Event.ROLLED_BACK for entry in change.entries)
            if rolled_back:
                self._memory.rolled_back = self.clock.now()
            self._moves_on(0 if rolled_back else _MARK_EVERY_S)

    def _moves_on(self, after_s: float = _MARK_EVERY_S) -> None:
        if self._mark is not None and self._marking is None:
            self._marking = asyncio.get_running_loop().create_task(self._put_mark(after_s))

    async def _put_mark(self, after_s: float) -> None:
        """Wait `after_s` seconds, then write the mark, so that calls cause at most two writes a second.

        If this fails, the failure is logged, and the next event in `_GRANTS` causes another attempt.
        """
        await asyncio.sleep(after_s)
        self._marking = None
        async with self._marks:
            await asyncio.to_thread(self._write_mark, *self._last())

    def _write_mark(self, position: int, line: str) -> None:
        try:
            if self._mark is not None:
                self._mark.write(position, line)
        except OSError as error:
            _log.error("store.unmarked", {"path": str(self._mark and self._mark.path), "why": error.strerror})

    def _last(self) -> tuple[int, str]:
        """Return position and hash of the last line of the audit record, or 0 and '' for an empty record.

        They come from memory: if somebody deleted the end of the record, the mark must still name the deleted line.
        """
        return self._memory.last

    def _hash_at(self, position: int) -> str:
        found = self._read(sql.HASH_AT, position)
        return str(found[0][0]) if found else ""

    async def key_ids(self) -> frozenset[str]:
        """Return the ids of all master keys that may have made MACs in the database."""
        return frozenset(row[0] for row in self._read(sql.KEY_IDS))

    async def open_key_ids(self) -> frozenset[str]:
        """Return the ids of the master keys that made the MACs of the calls that haven't ended."""
        return frozenset(row[0] for row in self._read(sql.OPEN_KEY_IDS))

    async def keep_key_ids(self, ids: Iterable[str]) -> None:
        """Store the ids of master keys that may make MACs in the database."""
        kept = sorted(ids)

        def keep(connection: sqlite3.Connection, now: datetime) -> None:
            connection.executemany(sql.KEEP_KEY_ID, [(kid, micros(now)) for kid in kept])

        await self._writer.submit(keep)


def _lets_run(entry: Entry) -> bool:
    return entry.event in _GRANTS


def _steady(connection: sqlite3.Connection, clock: Clock, keys: Keyring, database: str) -> Steady:
    """Return a clock that never goes below the newest recorded time.

    Log a warning if the real clock is behind that time.
    """
    try:
        newest = newest_time(connection, keys)
    except sqlite3.Error as error:
        raise unavailable(error, database) from error
    if (behind := (newest - clock.now()).total_seconds()) > 0:
        _log.warning("clock.behind", {"seconds": round(behind), "newest": newest.isoformat()})
    return Steady(clock, newest)


def _known(connection: sqlite3.Connection, keys: Keyring, database: str) -> Known:
    """Return a copy in memory of the pending calls in the database, and of what the audit record says about its end.

    A row that can't be read is left out.
    """
    try:
        found = fetched(connection, sql.ASKED)
        ended = map(rows.line_of, fetched(connection, sql.ROLLED_BACK))
        position, line = connection.execute(sql.LAST).fetchone() or (0, "")
    except sqlite3.Error as error:
        raise unavailable(error, database) from error
    waiting = []
    for row in found:
        with suppress(*rows.UNREADABLE):
            waiting.append(rows.asked_of(row))
    known = Known(waiting, (position, str(line)))
    known.rolled_back = next((line.at for line in ended if is_intact(keys, line)), None)
    return known


def _free_edits(connection: sqlite3.Connection, database: str) -> None:
    """End the leases and the retry pauses of all queued edits, so that no card waits for a process that has ended.

    Only this process uses the folder, so the owners of the leases have ended. Sending an edit twice is harmless.
    Posting a new card twice is not, so the posting of a new card keeps its lease. If somebody presses a button of that
    card before the lease ends, the press proves that the card was posted, and it isn't posted again.
    """
    try:
        connection.execute(sql.FREE_EDITS)
    except sqlite3.Error as error:
        raise unavailable(error, database) from error
