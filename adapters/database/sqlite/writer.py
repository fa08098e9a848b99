"""The one writer of the database. It commits units (`hitl.ports.Unit`) in groups, and answers only after the data is on
disk.

The units that arrive during the commit of a group form the next group. The writer never waits to fill a group. The
statements of a group run on the event loop's thread. The COMMIT of the group must wait for the disk. If the disk is
quick, the COMMIT runs on the loop's thread too, because the way to another thread and back takes as long as a quick
disk. If the disk is slow, the COMMIT runs on a worker thread, and the loop continues (`commit_speed.py` measures both).
The same connection copies the log into the database on the worker thread, after a number of units, or when nothing was
written for a while (`log.py` explains why no other connection may do this).

A failing unit doesn't affect the other units of its group: the group is rolled back, and written again with a savepoint
for each unit. The work of a unit may therefore run twice; the writes of its first run are undone. If the group itself
fails, all of it is rolled back and every caller gets the error.

The writer can't prevent one case: the disk reports that a COMMIT failed, and the process crashes before the next
COMMIT. The database may then have the group although the callers got an error. For example, a call may be approved
although the approver read that nothing was recorded. But a call never has two decisions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from adapters.database.sqlite.cache import Known
from adapters.database.sqlite.commit_speed import Pace
from adapters.database.sqlite.failures import is_locked, spoils, unavailable
from adapters.database.sqlite.log import COPY_UNITS, Log
from adapters.database.wording import say
from hitl.changes import Listeners
from hitl.errors import Unavailable
from hitl.faults import reach
from hitl.ports import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from hitl.ports import Clock

_log = logging.getLogger(__name__)

T = TypeVar("T")

#: SQLite may not copy the log inside a commit, because the writer copies it between commits. SQLite may not sleep for
#: a lock, because that would block the event loop: the writer waits for locks itself.
_SETTINGS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA busy_timeout=0",
)

#: A group has at most this many units (writes) besides new calls. Writing a larger group would block the event loop for
#: more than 2 ms.
LARGEST_GROUP = 256
#: Seconds that a unit waits while another program locks the database.
LOCK_WAIT_S = 5.0
#: Seconds between two attempts to get the lock.
_LOCK_LOOK_S = 0.002
#: If nothing was written for this many seconds, the log is copied. The next check comes after the same number of
#: seconds.
IDLE_S = 0.5
#: Seconds between two searches for old rows, after a search that left no old row.
PRUNE_S = 3600.0


def connect(database: Path) -> sqlite3.Connection:
    """Open a connection that may write. It uses a write-ahead log and syncs each commit.

    The caller begins and ends the transactions. Triggers and views of the file do nothing: a statement that would use
    them fails. Raises Unavailable if the file can't be opened, or if the file system doesn't support a write-ahead log.
    """
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.set_authorizer(_permit)
    try:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        for setting in _SETTINGS:
            connection.execute(setting)
    except sqlite3.Error as error:
        connection.close()
        raise unavailable(error, str(database)) from error
    if mode != "wal":
        connection.close()
        raise Unavailable(say("database.log", path=database, mode=mode))
    return connection


def _permit(_action: int, _one: str | None, _two: str | None, _schema: str | None, inside: str | None) -> int:
    """Permit an action of a statement, unless a trigger or view (`inside`) takes it.

    SQLite asks when it prepares a statement, and not when it runs the statement again. Sayso's schema has no trigger
    and no view. Somebody who writes the file while the service runs could plant a trigger that undoes or hides what the
    service writes.
    """
    return sqlite3.SQLITE_OK if inside is None else sqlite3.SQLITE_DENY


class _Unit(Struct):
    answer: asyncio.Future[Any]
    work: Callable[[sqlite3.Connection, datetime], Any]
    value: Any = None
    error: Exception | None = None


class Writer:
    """Owns the connection that writes. It must be made and used on one running event loop.

    `database` is the path of the file. `prune` is a short unit that deletes old rows and returns whether there may be
    more; it runs at times when nothing else is written. `known` is the memory of the database's contents, which follows
    every commit.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: Clock,
        *,
        database: str,
        lock_wait_s: float = LOCK_WAIT_S,
        prune: Callable[[sqlite3.Connection, datetime], bool] | None = None,
        known: Known | None = None,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self.database = database
        self._log = Log(connection, database)
        self._lock_wait_s = lock_wait_s
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(1, "sayso-commit")
        self._queue: list[_Unit] = []
        self._new: list[_Unit] = []
        self._busy = False
        self._away = False
        self._closed = False
        self._at_rest: asyncio.Future[None] | None = None
        self._locked_since: float | None = None
        self._pace = Pace()
        self._look: asyncio.TimerHandle | None = None
        self._groups = 0
        self._prune = prune
        self._prune_at = 0.0
        self._known = known or Known(())
        #: Get the change of each unit when it is on disk, before the caller of `submit` gets it.
        self.listeners = Listeners()

    def submit(self, work: Callable[[sqlite3.Connection, datetime], T], *, new: bool = False) -> asyncio.Future[T]:
        """Queue a unit of work. The future gets the result of `work` when the unit's writes are on disk.

        `work` gets the clock's time, which is read once for the unit. Units are written in the order of their `submit`,
        with one exception: units of `new` calls wait for all other units, and only a few new calls share a group. An
        exception in `work` fails only this unit. The future raises Unavailable if the group couldn't be written. If the
        future is cancelled while the unit is queued, the unit isn't written. Raises Unavailable if the writer is
        closed.
        """
        if self._closed:
            raise Unavailable(f"The database {self.database} is closed. Nothing was changed.")
        answer: asyncio.Future[T] = self._loop.create_future()
        (self._new if new else self._queue).append(_Unit(answer, work))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._turn)
        return answer

    @property
    def lends(self) -> sqlite3.Connection | None:
        """The writer's connection, for an immediate read on the event loop's thread, or None.

        Outside of a transaction, this connection shows only data that is on disk. The result is None while the worker
        thread uses the connection, and after a failure that couldn't be rolled back. A read through this connection is
        faster: the connection's page cache follows its own commits, while another connection must read changed pages
        from the log after each commit.
        """
        unfit = self._away or self._closed or self._connection.in_transaction
        return None if unfit else self._connection

    async def drain(self) -> None:
        """Accept no further units, and wait until the queued units are written."""
        self._closed = True
        if self._busy:
            self._at_rest = self._loop.create_future()
            await self._at_rest
        if self._look is not None:
            self._look.cancel()
        self._pool.shutdown()

    async def close(self) -> None:
        """Call `drain`, and close the connection. SQLite then copies the log, unless another connection is open."""
        await self.drain()
        self._connection.close()

    def _turn(self) -> None:
        try:
            reach("writer.before-begin")
            self._begin()
        except Exception as error:  # noqa: BLE001 - every caller in the queue gets the error
            if not self._waits_for(error):
                self._settle(self._take(len(self._queue), len(self._new)), error)
            return
        self._locked_since = None
        group = self._take(LARGEST_GROUP, self._pace.new_calls)
        failure = self._write(group)
        if failure is not None:
            self._settle(group, failure)
        else:
            alone = len(group) == 1 and not self._queue and not self._new
            if self._pace.on_loop(alone=alone):
                failure, took = self._commit()
                self._pace.took(took, alone=alone)
                self._settle(group, failure)
            else:
                self._beside(self._commit, partial(self._back, group, perf_counter()))

    def _back(self, group: Sequence[_Unit], began: float, committed: tuple[Exception | None, float]) -> None:
        failure, took = committed
        self._pace.way.took(perf_counter() - began - took)
        self._settle(group, failure)

    def _beside(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Run `work` on the worker thread, then call `then` with its value on the event loop's thread.

        Nothing else may use the connection meanwhile.
        """
        self._away = True

        def back(done: asyncio.Future[T]) -> None:
            self._away = False
            then(done.result())

        self._loop.run_in_executor(self._pool, work).add_done_callback(back)

    def _begin(self) -> None:
        """Begin a transaction. If an earlier transaction couldn't be rolled back when it failed, roll it back now."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN IMMEDIATE")

    def _waits_for(self, error: Exception) -> bool:
        """Return whether the group will be tried again soon, because another program has locked the database."""
        now = self._loop.time()
        since = self._locked_since = self._locked_since or now
        if not is_locked(error) or now - since > self._lock_wait_s:
            self._locked_since = None
            return False
        self._loop.call_later(_LOCK_LOOK_S, self._turn)
        return True

    def _take(self, most: int, new_calls: int) -> list[_Unit]:
        """Remove the next group of units from the queues.

        New calls go last, so that decisions never wait for many new calls.
        """
        taken = self._queue[:most] + self._new[:new_calls]
        del self._queue[:most], self._new[:new_calls]
        return [unit for unit in taken if not unit.answer.done()]

    def _write(self, group: Sequence[_Unit]) -> Exception | None:
        """Run the statements of all units. Return the error that failed the whole group, or None.

        After a savepoint, SQLite keeps the old contents of each changed page, which costs half as much as the
        statements themselves. So the units are first written without savepoints. If a unit fails, everything is rolled
        back and written again, with a savepoint for each unit.
        """
        try:
            if not self._all(group):
                self._connection.execute("BEGIN IMMEDIATE")
                for unit in group:
                    self._alone(unit)
        except sqlite3.Error as error:
            return self._undone(error)
        return None

    def _all(self, group: Sequence[_Unit]) -> bool:
        """Write the group without savepoints. Return False if a unit failed. In that case the group is rolled back."""
        try:
            for unit in group:
                unit.value = unit.work(self._connection, self._clock.now())
        except Exception as error:
            if spoils(error):
                raise
            self._connection.execute("ROLLBACK")
            self._known.undone()
            return False
        return True

    def _alone(self, unit: _Unit) -> None:
        execute = self._connection.execute
        execute("SAVEPOINT unit")
        try:
            unit.value = unit.work(self._connection, self._clock.now())
        except Exception as error:
            if spoils(error):
                raise
            unit.error = error
            execute("ROLLBACK TO unit")
        execute("RELEASE unit")

    def _commit(self) -> tuple[Exception | None, float]:
        """Commit the group. Return the error, or None, and the seconds that the commit took."""
        began, failure = perf_counter(), None
        try:
            reach("writer.before-commit")
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
            reach("writer.after-commit")
        except Exception as error:  # noqa: BLE001 - every caller of the group gets the error
            failure = self._undone(error)
        return failure, perf_counter() - began

    def _undone(self, error: Exception) -> Exception:
        """Roll the transaction back, unless SQLite has done so already. Return the error.

        If the rollback fails too, this doesn't raise, because every caller must get an answer. `_begin` then tries the
        rollback again before the next group.
        """
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        return error

    def _settle(self, group: Sequence[_Unit], failure: Exception | None) -> None:
        if failure is None:
            self._known.settled()
            self._groups += 1
            self._log.units += len(group)
        else:
            self._known.undone()
            _log.error("store.failed", {"error": str(failure), "units": len(group)})
        for unit in group:
            error = unit.error or failure
            if error is None and isinstance(unit.value, Change):
                self.listeners.tell(unit.value)
            self._answer(unit, error)
        if self._log.units >= COPY_UNITS:
            self._beside(self._log.copy, self._next)
        else:
            self._next()

    def _next(self, _: None = None) -> None:
        """Begin the next group, or stop until a unit comes."""
        if self._queue or self._new:
            self._loop.call_soon(self._turn)
            return
        self._busy = False
        if self._at_rest is not None:
            self._at_rest.set_result(None)
        elif self._look is None and self._log.units:
            self._look = self._loop.call_later(IDLE_S, self._when_idle, self._groups)

    def _when_idle(self, groups: int) -> None:
        """Delete old rows if the last search for old rows was long ago.

        Otherwise, if no group was committed meanwhile, copy the log. In this case, the number of committed groups is
        still `groups`. If a group was committed, check again later.
        """
        self._look = None
        if self._busy:
            return
        if self._prune is not None and self._loop.time() >= self._prune_at:
            self._prune_at = self._loop.time() + PRUNE_S
            self.submit(self._prune).add_done_callback(self._pruned)
        elif groups == self._groups:
            self._busy = True
            self._beside(partial(self._log.copy, cut=True), self._next)
        else:
            self._next()

    def _pruned(self, done: asyncio.Future[bool]) -> None:
        """Prune again at the next check if there may be more rows to delete."""
        if error := done.exception():
            _log.warning("store.not_pruned", {"error": str(error)})
        elif done.result():
            self._prune_at = 0.0

    def _answer(self, unit: _Unit, error: Exception | None) -> None:
        if unit.answer.done():
            return
        if error is None:
            unit.answer.set_result(unit.value)
        elif isinstance(error, sqlite3.Error) and error is not unit.error:
            unit.answer.set_exception(unavailable(error, self.database))
        else:
            unit.answer.set_exception(error)
