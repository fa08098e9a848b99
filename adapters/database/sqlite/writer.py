"""The one writer of the database. It commits in groups, and tells nobody anything that isn't on disk.

What queued while the last group was on its way to disk is the next group: no timer, no waiting to fill one.
A group's statements run on the event loop's thread. Its COMMIT, which waits for the disk, runs there too if the
disk is quick, because the way to a thread and back costs as much as a quick disk; if the disk is slow, it runs
on a thread, and the loop goes on (`pace.py` measures both). The same connection copies the log into the database,
on the thread, after so many units or when nothing was written for a while (`log.py` says why no other may).

A unit that fails takes nobody with it: the group is undone, and written again with a savepoint for each of its
units. A unit's work may therefore run twice; what it wrote first is gone then. When the group itself fails, all
of it is rolled back and everybody is told. One case is the disk's alone: a COMMIT that it reported as failed, and
a crash before the next, may bring the group back; a call then stands further on than its asker was told, never
with two decisions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.database.sqlite.cache import Known
from adapters.database.sqlite.commit_speed import Pace
from adapters.database.sqlite.failures import is_locked, spoils, unavailable
from adapters.database.sqlite.log import COPY_UNITS, Log
from hitl.errors import Unavailable
from hitl.faults import reach

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from hitl.ports import Clock

_log = logging.getLogger(__name__)

T = TypeVar("T")

#: No copying of the log inside a commit: the writer does that between commits. No sleeping inside SQLite, which
#: would hold up the event loop: the writer waits for locks itself.
_SETTINGS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA busy_timeout=0",
)

#: A larger group would hold up the loop for more than 2 ms.
LARGEST_GROUP = 256
#: How long a unit waits for a program that holds the database locked, and how often it looks.
LOCK_WAIT_S = 5.0
_LOCK_LOOK_S = 0.002
#: The log is copied when nothing was written for so long; the loop looks as often.
IDLE_S = 0.5
#: Seconds between two looks for what may be deleted, once there was nothing more.
PRUNE_S = 3600.0


def connect(database: Path) -> sqlite3.Connection:
    """A connection that may write: write-ahead log, each commit synced, transactions begun and ended by us.

    Raises Unavailable where the file can't be opened or the file system can't carry a write-ahead log.
    """
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False, cached_statements=256)
    try:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        for setting in _SETTINGS:
            connection.execute(setting)
    except sqlite3.Error as error:
        connection.close()
        raise unavailable(error, str(database)) from error
    if mode != "wal":
        connection.close()
        raise Unavailable(
            f"The database {database} can't keep a write-ahead log (its journal mode is {mode}), as on most"
            " network file systems. Put the state folder on a local disk."
        )
    return connection


@dataclass(slots=True)
class _Unit:
    answer: asyncio.Future[Any]
    work: Callable[[sqlite3.Connection, datetime], Any]
    value: Any = None
    error: Exception | None = None


class Writer:
    """Owns the connection that writes. Made and used on one running event loop.

    `database` is the path of the file. `prune` is a short unit that deletes what is kept no longer, and tells whether
    there may be more; it is done now and then when nothing else is. `known` is the memory that follows what is written.
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

    def submit(self, work: Callable[[sqlite3.Connection, datetime], T], *, new: bool = False) -> asyncio.Future[T]:
        """What `work` returns, once that which it wrote is durable. It gets the clock's time, read once.

        Units are written in the order in which they come, except that those of `new` calls let others pass, and only
        a few of them share a group. What it raises fails this unit alone. Raises Unavailable when nothing could be
        written. A unit whose future is cancelled before its turn isn't done.
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
        """The connection, for a read at once on the loop's thread: outside a transaction it shows what is on disk.

        None while a thread commits on it, or where what failed couldn't be rolled back. Its page cache knows each
        commit of its own, while another connection reads every page again after each, from the log.
        """
        unfit = self._away or self._closed or self._connection.in_transaction
        return None if unfit else self._connection

    async def drain(self) -> None:
        """Write what has queued, and take nothing more."""
        self._closed = True
        if self._busy:
            self._at_rest = self._loop.create_future()
            await self._at_rest
        if self._look is not None:
            self._look.cancel()
        self._pool.shutdown()

    async def close(self) -> None:
        """Drain, and close the connection, which copies the log unless another connection is open."""
        await self.drain()
        self._connection.close()

    def _turn(self) -> None:
        try:
            reach("writer.before-begin")
            self._begin()
        except Exception as error:  # noqa: BLE001 - handed to everybody who waits for the group
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
        """Have the thread do what takes the connection for longer, and hand `then` its value on the loop's thread."""
        self._away = True

        def back(done: asyncio.Future[T]) -> None:
            self._away = False
            then(done.result())

        self._loop.run_in_executor(self._pool, work).add_done_callback(back)

    def _begin(self) -> None:
        """A transaction; one that couldn't be rolled back when it failed goes first."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN IMMEDIATE")

    def _waits_for(self, error: Exception) -> bool:
        """Whether the turn comes again when a lock may be gone."""
        now = self._loop.time()
        since = self._locked_since = self._locked_since or now
        if not is_locked(error) or now - since > self._lock_wait_s:
            self._locked_since = None
            return False
        self._loop.call_later(_LOCK_LOOK_S, self._turn)
        return True

    def _take(self, most: int, new_calls: int) -> list[_Unit]:
        """The next group. What begins no call goes first, so that decisions never wait behind a crowd of new calls."""
        taken = self._queue[:most] + self._new[:new_calls]
        del self._queue[:most], self._new[:new_calls]
        return [unit for unit in taken if not unit.answer.done()]

    def _write(self, group: Sequence[_Unit]) -> Exception | None:
        """Run the statements of all; what failed the group, if anything did.

        Behind a savepoint SQLite keeps what each page was, which costs half of what the statements do. So the units
        are tried without; only where one fails, all is undone and done again, each unit behind its savepoint.
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
        """Whether the group is written; if not, a unit of it failed, and nothing is."""
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
        """Make the group durable: what failed, if anything did, and the seconds that it took."""
        began, failure = perf_counter(), None
        try:
            reach("writer.before-commit")
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
            reach("writer.after-commit")
        except Exception as error:  # noqa: BLE001 - handed to everybody who waits for the group
            failure = self._undone(error)
        return failure, perf_counter() - began

    def _undone(self, error: Exception) -> Exception:
        """The error, after the transaction was rolled back, unless SQLite had done that.

        Where even that fails the next turn tries again: nobody may be left without an answer.
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
            self._answer(unit, unit.error or failure)
        if self._log.units >= COPY_UNITS:
            self._beside(self._log.copy, self._next)
        else:
            self._next()

    def _next(self, _: None = None) -> None:
        """Begin the next group, or rest."""
        if self._queue or self._new:
            self._loop.call_soon(self._turn)
            return
        self._busy = False
        if self._at_rest is not None:
            self._at_rest.set_result(None)
        elif self._look is None and self._log.units:
            self._look = self._loop.call_later(IDLE_S, self._when_idle, self._groups)

    def _when_idle(self, groups: int) -> None:
        """Prune if it is time; else copy the log if nothing was committed since there were so many groups.

        Else look again later.
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
        """Go on at the next look if there may be more."""
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
