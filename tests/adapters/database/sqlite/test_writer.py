"""The writer commits in groups, and tells nobody anything that isn't on disk."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pytest

from adapters.database.sqlite.commit_speed import NEW_CALLS
from adapters.database.sqlite.writer import LARGEST_GROUP, Writer, connect
from hitl import faults
from hitl.errors import Unavailable
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime
    from pathlib import Path

    from hitl.testing import SetClock


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with one table of unique numbers."""
    path = tmp_path / "numbers.db"
    connection = connect(path)
    connection.execute("create table numbers (number integer primary key, padding blob)")
    connection.close()
    return path


@pytest.fixture
def connection(database: Path) -> sqlite3.Connection:
    """The connection that the writer under test owns."""
    return connect(database)


@pytest.fixture
async def writer(connection: sqlite3.Connection, database: Path, clock: SetClock) -> AsyncIterator[Writer]:
    """A writer that waits a short time for locks."""
    writer = Writer(connection, clock, database=str(database), lock_wait_s=0.1)
    yield writer
    await writer.close()


def keep(number: int, size: int = 0) -> Callable[[sqlite3.Connection, datetime], int]:
    """A unit that keeps a number and answers it."""

    def work(connection: sqlite3.Connection, _now: datetime) -> int:
        connection.execute("insert into numbers values (?, zeroblob(?))", (number, size))
        return number

    return work


def on_disk(database: Path) -> list[int]:
    """The numbers that another process sees."""
    connection = sqlite3.connect(database)
    rows = connection.execute("select number from numbers order by number").fetchall()
    connection.close()
    return [number for (number,) in rows]


def counter(name: str) -> list[int]:
    """A list that grows by the thread's id each time that the point is reached."""
    seen: list[int] = []
    faults.plan(name, lambda: seen.append(threading.get_ident()))
    return seen


async def all_of(writer: Writer, *numbers: int) -> list[int | BaseException]:
    """Keep numbers, all queued at once; the answers."""
    return await asyncio.gather(*(writer.submit(keep(number)) for number in numbers), return_exceptions=True)


def no_rollback(action: int, what: str | None, *_: str | None) -> int:
    """An authorizer (sqlite3_set_authorizer) for a SQLite that can't roll back."""
    denied = (action, what) == (sqlite3.SQLITE_TRANSACTION, "ROLLBACK")
    return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK


class TestGroups:
    """What queued together is committed together."""

    async def test_what_queued_together_is_one_commit(self, writer: Writer, database: Path) -> None:
        """A hundred units, one sync; each gets its own answer."""
        commits = counter("writer.before-commit")

        answers = await all_of(writer, *range(100))

        assert list(range(100)) == answers
        assert 1 == len(commits)
        assert list(range(100)) == on_disk(database)

    async def test_a_group_has_a_largest_size(self, writer: Writer) -> None:
        """More units than that make further groups."""
        commits = counter("writer.before-commit")

        await all_of(writer, *range(2 * LARGEST_GROUP + 1))

        assert 3 == len(commits)

    async def test_new_calls_let_others_pass_and_share_groups_a_few_at_a_time(self, writer: Writer) -> None:
        """A decision that comes behind a crowd of new calls is in the next group, and their own order stays."""
        order: list[int] = []
        groups: list[int] = []
        faults.plan("writer.before-commit", lambda: groups.append(len(order)))

        def note(number: int) -> Callable[[sqlite3.Connection, datetime], None]:
            return lambda _connection, _now: order.append(number)

        crowd = [writer.submit(note(number), new=True) for number in range(2 * NEW_CALLS + 1)]
        decision = writer.submit(note(-1))
        await asyncio.gather(*crowd, decision)

        assert [-1, *range(2 * NEW_CALLS + 1)] == order
        assert [1 + NEW_CALLS, 1 + 2 * NEW_CALLS, 2 + 2 * NEW_CALLS] == groups

    async def test_a_unit_that_fails_takes_nobody_with_it(self, writer: Writer, database: Path) -> None:
        """Its neighbours in the group are kept; it gets its own error, and all that it wrote is undone."""

        def half_way(connection: sqlite3.Connection, now: datetime) -> int:
            keep(50)(connection, now)
            return keep(1)(connection, now)

        first, failing, last = writer.submit(keep(1)), writer.submit(half_way), writer.submit(keep(3))

        assert 1 == await first
        assert 3 == await last
        with pytest.raises(sqlite3.IntegrityError):
            await failing
        assert [1, 3] == on_disk(database)

    async def test_a_unit_that_fails_alone_is_undone(self, writer: Writer, database: Path) -> None:
        """Also what it wrote before it failed; the next one is kept."""

        def half_way(connection: sqlite3.Connection, now: datetime) -> int:
            keep(1)(connection, now)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await writer.submit(half_way)
        await writer.submit(keep(2))

        assert [2] == on_disk(database)

    async def test_the_clock_is_read_for_each_unit(self, writer: Writer, clock: SetClock) -> None:
        """A unit that comes later in a group may see a later time."""

        def look(_connection: sqlite3.Connection, now: datetime) -> datetime:
            clock.advance(1)
            return now

        first, second = await asyncio.gather(writer.submit(look), writer.submit(look))

        assert 1.0 == (second - first).total_seconds()

    async def test_a_unit_whose_asker_left_before_its_turn_is_not_done(self, writer: Writer, database: Path) -> None:
        """Nobody would hear of it; those beside it are kept."""
        left, stays = writer.submit(keep(1)), writer.submit(keep(2))
        left.cancel()

        assert 2 == await stays
        assert [2] == on_disk(database)

    async def test_an_asker_who_leaves_while_the_disk_works_harms_nobody(self, writer: Writer, database: Path) -> None:
        """The group is on its way; the others are answered."""
        await slow_down(writer)
        reached = threading.Event()
        faults.plan("writer.before-commit", reached.set)
        left, stays = writer.submit(keep(1)), writer.submit(keep(2))
        await asyncio.to_thread(reached.wait, 5)
        left.cancel()

        assert 2 == await stays
        assert [1, 2] == [number for number in on_disk(database) if number < 100]

    async def test_closing_writes_what_has_queued(self, writer: Writer, database: Path) -> None:
        """Whoever queued before is answered; whoever comes after is refused."""
        queued = writer.submit(keep(1))
        await writer.close()

        assert 1 == await queued
        assert [1] == on_disk(database)
        with pytest.raises(Unavailable, match="is closed"):
            writer.submit(keep(2))


async def slow_down(writer: Writer) -> None:
    """Commit on a disk that takes 5 ms until the writer has seen that."""
    faults.plan("writer.before-commit", lambda: time.sleep(0.005))
    for number in range(100, 110):
        await writer.submit(keep(number))
    faults.clear()


class TestWhereCommitsRun:
    """On the loop's thread while the disk is quick, beside it when it is slow."""

    async def test_a_slow_disk_is_waited_for_on_a_thread(self, writer: Writer) -> None:
        """Statements stay on the loop's thread; the loop goes on while the disk works."""
        await slow_down(writer)
        commits, begins = counter("writer.before-commit"), counter("writer.before-begin")

        await writer.submit(keep(1))

        assert [threading.get_ident()] == begins
        assert threading.get_ident() not in commits

    async def test_what_queues_while_a_slow_disk_works_is_the_next_group(self, writer: Writer) -> None:
        """Ten that come meanwhile are one commit."""
        await slow_down(writer)
        reached, go_on = threading.Event(), threading.Event()
        commits: list[int] = []

        def hold() -> None:
            commits.append(1)
            reached.set()
            go_on.wait(5)

        faults.plan("writer.before-commit", hold)
        first = writer.submit(keep(1))
        await asyncio.to_thread(reached.wait, 5)
        rest = [writer.submit(keep(number)) for number in range(2, 12)]
        assert not any(answer.done() for answer in (first, *rest))
        go_on.set()

        assert list(range(1, 12)) == await asyncio.gather(first, *rest)
        assert 2 == len(commits)

    async def test_a_disk_that_is_quick_again_is_waited_for_on_the_loop(self, writer: Writer) -> None:
        """The mean forgets; 200 quick commits are enough for any disk that deserves it."""
        await slow_down(writer)
        faults.plan("writer.before-commit", lambda: None)
        for number in range(200):
            await writer.submit(lambda _connection, _now, number=number: number)  # type: ignore[misc]
        commits = counter("writer.before-commit")

        await writer.submit(lambda _connection, _now: None)

        assert [threading.get_ident()] == commits


class TestFailures:
    """A group that can't be made durable fails as a whole, says why, and leaves nothing."""

    async def test_a_commit_that_fails_fails_all(self, writer: Writer, database: Path) -> None:
        """Everybody is told; nothing is there, also for another process; the next group is kept."""
        error = sqlite3.OperationalError("disk I/O error")
        faults.plan("writer.before-commit", lambda: throw(error))

        answers = await all_of(writer, 1, 2, 3)
        faults.clear()

        assert [Unavailable] * 3 == [type(answer) for answer in answers]
        assert [] == on_disk(database)
        assert [1] == await all_of(writer, 1)
        assert [1] == on_disk(database)

    async def test_a_commit_that_fails_on_the_thread_fails_all(self, writer: Writer, database: Path) -> None:
        """The same on a slow disk."""
        await slow_down(writer)
        before = on_disk(database)
        faults.plan("writer.before-commit", lambda: throw(sqlite3.OperationalError("disk I/O error")))

        answers = await all_of(writer, 1, 2)
        faults.clear()

        assert [Unavailable] * 2 == [type(answer) for answer in answers]
        assert before == on_disk(database)
        assert [1] == await all_of(writer, 1)

    async def test_a_unit_that_failed_of_itself_is_told_so_also_when_the_commit_fails(self, writer: Writer) -> None:
        """Its own error says more."""
        faults.plan("writer.before-commit", lambda: throw(sqlite3.OperationalError("disk I/O error")))

        answers = await all_of(writer, 1, 1)

        assert [Unavailable, sqlite3.IntegrityError] == [type(answer) for answer in answers]

    async def test_a_full_disk(
        self, writer: Writer, connection: sqlite3.Connection, database: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """SQLite's own SQLITE_FULL: the group fails, says that the disk is full, and there is nothing of it."""
        pages = connection.execute("pragma page_count").fetchone()[0]
        connection.execute(f"pragma max_page_count = {pages}")

        answers = await asyncio.gather(
            *(writer.submit(keep(number, 100_000)) for number in (1, 2)), return_exceptions=True
        )

        assert ["the disk is full"] * 2 == [said for answer in answers for said in told(answer)]
        assert ["store.failed"] == [line.msg for line in caplog.records]
        assert [] == on_disk(database)
        connection.execute("pragma max_page_count = 1000000")
        assert [1] == await all_of(writer, 1)

    async def test_a_disk_error(self, writer: Writer, database: Path) -> None:
        """The kernel refuses to let the log grow: an error in the middle of a group, and nothing is there."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, hard))
        try:
            answers = await asyncio.gather(
                *(writer.submit(keep(number, 100_000)) for number in (1, 2)), return_exceptions=True
            )
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        assert [True] * 2 == [says(str(answer), "database.disk") for answer in answers]
        assert [] == on_disk(database)
        assert [1] == await all_of(writer, 1)

    async def test_a_database_that_became_read_only(self, writer: Writer, connection: sqlite3.Connection) -> None:
        """SQLite's own SQLITE_READONLY, which root gets too where file modes don't bind it."""
        connection.execute("pragma query_only = on")

        answers = await all_of(writer, 1)

        assert ["it is read-only"] == told(answers[0])

    @pytest.mark.parametrize("point", ["a unit", "writer.before-commit"])
    async def test_what_cannot_be_rolled_back_is_told_hidden_and_undone_later(
        self, writer: Writer, connection: sqlite3.Connection, database: Path, point: str
    ) -> None:
        """Everybody is answered, nobody reads what isn't on disk, and the next group is written without it."""

        def fail() -> None:
            connection.execute("insert into nowhere values (1)")

        connection.set_authorizer(no_rollback)
        if point != "a unit":
            faults.plan(point, fail)
        answers = await all_of(writer, 1, 2, 2 if point == "a unit" else 3)
        again = await all_of(writer, 4)
        lent = writer.lends
        faults.clear()
        connection.set_authorizer(None)

        assert [Unavailable] * 4 == [type(answer) for answer in answers + again]
        assert lent is None
        assert [5] == await all_of(writer, 5)
        assert connection is writer.lends
        assert [5] == on_disk(database)

    async def test_a_lock_that_goes_is_waited_for(self, writer: Writer, database: Path) -> None:
        """The loop goes on meanwhile, and what queues meanwhile is one group."""
        other = sqlite3.connect(database, isolation_level=None)
        other.execute("begin immediate")
        looked_often = asyncio.Event()
        looks = iter([lambda: None, lambda: None, looked_often.set])
        faults.plan("writer.before-begin", lambda: next(looks, looked_often.set)())  # noqa: PLW0108 - each another
        commits = counter("writer.before-commit")

        queued = [writer.submit(keep(number)) for number in range(3)]
        await looked_often.wait()
        other.execute("rollback")
        other.close()

        assert [0, 1, 2] == await asyncio.gather(*queued)
        assert 1 == len(commits)

    async def test_a_lock_that_stays_is_an_error(self, writer: Writer, database: Path) -> None:
        """All are told after the time that one waits, with what to do; once the lock is gone, all is well."""
        other = sqlite3.connect(database, isolation_level=None)
        other.execute("begin immediate")

        began = time.monotonic()
        new = [writer.submit(keep(number), new=True) for number in range(3, 3 + 20 * NEW_CALLS)]
        answers = await all_of(writer, 1, 2) + await asyncio.gather(*new, return_exceptions=True)
        took = time.monotonic() - began

        assert all(says(str(answer), "database.locked") for answer in answers)
        assert took < 1.5
        other.execute("rollback")
        other.close()
        assert [1] == await all_of(writer, 1)
        assert [1] == on_disk(database)


def throw(error: Exception) -> None:
    """Raise it."""
    raise error


def told(answer: object) -> list[str]:
    """Why the database can't be used, from the sentence for people."""
    assert isinstance(answer, Unavailable)
    return [answer.message.split("can't be used: ")[1].split(". ")[0].split(" (")[0]]


class TestConnections:
    """A connection that may write is what the writer relies on."""

    def test_each_commit_is_synced_in_a_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        """WAL, synchronous FULL (2), foreign keys on, no checkpoints in commits, no sleeping inside SQLite."""
        names = ("journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "busy_timeout")
        found = {name: connection.execute(f"pragma {name}").fetchone()[0] for name in names}
        connection.close()

        assert dict(zip(names, ("wal", 2, 1, 0, 0), strict=True)) == found

    def test_a_file_system_without_write_ahead_log_is_refused(self, tmp_path: Path) -> None:
        """The mode is read back; SQLite keeps another one silently, as it does for a database in memory."""
        with pytest.raises(Unavailable, match="journal mode is memory"):
            connect(tmp_path.joinpath(":memory:").relative_to(tmp_path))
