"""Handled events of the inbox go after a time, a few at a time, when nothing else is written."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.database.sqlite.retention import BATCH, Retention
from adapters.database.sqlite.writer import connect
from hitl.ports import Change, Unit
from hitl.times import micros
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adapters.database.sqlite.store import SqliteStore
    from hitl.testing import SetClock

KEEP = timedelta(days=30)


@pytest.fixture
def connection(state: Path) -> Iterator[sqlite3.Connection]:
    """A connection to an empty inbox."""
    connection = connect(state / "sayso.db")
    yield connection
    connection.close()


def keep(connection: sqlite3.Connection, clock: SetClock, *events: str, age: timedelta = KEEP) -> None:
    """Events that came so long ago, and were handled, set aside or neither ("open") at once, by their names."""
    at = micros(clock.now() - age)
    for name in events:
        handled, aside = (at if name.startswith(kind) else None for kind in ("handled", "aside"))
        connection.execute(
            "insert into inbox (source, id, ordering, body, received_at, handled_at, failures, aside_at)"
            " values ('telegram', ?, 'chat', x'', ?, ?, 0, ?)",
            (name, at, handled, aside),
        )


def left(connection: sqlite3.Connection) -> list[str]:
    """The events that are there."""
    return [name for (name,) in connection.execute("select id from inbox order by seq")]


def test_what_was_handled_or_set_aside_goes_when_its_time_is_over(
    connection: sqlite3.Connection, clock: SetClock
) -> None:
    """What is open stays however old it is, and so does what was handled a moment later."""
    keep(connection, clock, "handled", "aside", "open")
    keep(connection, clock, "handled later", "aside later", age=KEEP - timedelta(microseconds=1))
    more = Retention(KEEP).prune(connection, clock.now())

    assert (False, ["open", "handled later", "aside later"]) == (more, left(connection))


def test_an_old_event_that_was_handled_lately_stays(connection: sqlite3.Connection, clock: SetClock) -> None:
    """Its time begins when it was handled."""
    keep(connection, clock, "open")
    connection.execute("update inbox set handled_at = ?", (micros(clock.now()),))
    Retention(KEEP).prune(connection, clock.now())

    assert ["open"] == left(connection)


def test_so_many_are_looked_at_in_one_unit(connection: sqlite3.Connection, clock: SetClock) -> None:
    """The next unit goes on behind those that stay; after the last one, the first come again."""
    keep(connection, clock, *(f"open {number}" for number in range(BATCH)), "handled")
    retention = Retention(KEEP)
    first = retention.prune(connection, clock.now()), len(left(connection))
    second = retention.prune(connection, clock.now()), len(left(connection))
    connection.execute("update inbox set handled_at = received_at where id = 'open 0'")
    retention.prune(connection, clock.now())

    assert ((True, BATCH + 1), (False, BATCH)) == (first, second)
    assert "open 0" not in left(connection)


async def test_the_store_prunes_when_it_rests(store: SqliteStore, state: Path, clock: SetClock) -> None:
    """All that is too old goes, in as many units as it takes; a newer event stays."""
    other = sqlite3.connect(state / "sayso.db", isolation_level=None)
    keep(other, clock, *(f"handled {number}" for number in range(BATCH + 1)))
    await store.receive("telegram", "new", "chat", b"{}")
    await store.commit(Unit(None, lambda _: Change(handled=("telegram", "new"))))
    async with asyncio.timeout(PATIENCE_S):
        while len(left(other)) > 1:  # noqa: ASYNC110 - nothing tells but the database
            await asyncio.sleep(0.05)

    assert ["new"] == left(other)
    other.close()
