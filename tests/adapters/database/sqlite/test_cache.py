"""What the service knows without asking its database: it follows what is on disk, and nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from hitl import faults
from hitl.call import Entry, Event, State
from hitl.errors import Tampered, Unavailable
from hitl.ports import Change, Expect, Unit, adding
from hitl.proof.chain import verify
from hitl.testing import SetClock, a_call

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from adapters.database.sqlite.store import SqliteStore
    from hitl.call import Call

    Opened = Callable[[], AbstractAsyncContextManager[SqliteStore]]


def asked(call: Call) -> Unit:
    """A new call with its first line."""
    return Unit(None, lambda _now: Change(call, entries=[Entry(call.ref, Event.ASKED, "local:1", {})]))


def rejected(call: Call) -> Unit:
    """The end of a pending call."""
    ended = call.evolve(state=State.IDLE, version=call.version + 1, due_at=None)
    entry = Entry(call.ref, Event.REJECTED, "local:1", {})
    return Unit(Expect(call.ref, call.version), lambda _now: Change(ended, entries=[entry]))


def line(call: Call) -> Unit:
    """One more line about a call."""
    return adding(Change(entries=[Entry(call.ref, Event.SHOWN, "service", {})]))


def fails() -> None:
    """The disk refuses."""
    raise sqlite3.OperationalError("disk I/O error")


async def seqs(store: SqliteStore, call: Call) -> list[int]:
    """The places of a call's lines; the chain must hold."""
    lines = await store.history(call.ref)
    assert verify(store.keys, lines) is None
    return [each.seq for each in lines]


async def test_what_was_not_committed_is_not_known(store: SqliteStore, clock: SetClock) -> None:
    """A commit that fails leaves lists, counts and the ends of chains as they were; the next one goes on from there."""
    call, other = a_call(clock.now()), a_call(clock.now())
    await store.commit(asked(call))
    faults.plan("writer.before-commit", fails)
    for unit in (asked(other), rejected(call), line(call)):
        with pytest.raises(Unavailable):
            await store.commit(unit)
    faults.clear()

    assert [call.ref] == [each.ref for each in await store.pending()]
    assert 1 == await store.count_open(call.requester, 10)
    await store.commit(line(call))
    assert [1, 2] == await seqs(store, call)
    assert await store.commit(rejected(call))
    assert [] == await store.pending()


async def test_a_unit_that_fails_leaves_the_chains_of_its_neighbours(store: SqliteStore, clock: SetClock) -> None:
    """The group is written again without that unit: each line of the others stands once, in its place."""
    call = a_call(clock.now())
    await store.commit(asked(call))

    def breaks(_now: object) -> Change:
        raise ValueError("broken")

    first, broken, last = (store.commit(unit) for unit in (line(call), Unit(None, breaks), line(call)))
    results = await gathered(first, broken, last)

    assert isinstance(results[1], ValueError)
    await store.commit(line(call))
    assert [1, 2, 3, 4] == await seqs(store, call)


async def gathered(*units: object) -> list[object]:
    """The answers of units that are written in one group."""
    return list(await asyncio.gather(*units, return_exceptions=True))  # type: ignore[call-overload]


async def test_a_line_that_somebody_wrote_in_the_next_place_shows(
    store: SqliteStore, state: Path, clock: SetClock
) -> None:
    """The next line comes behind the forged one, and the chain tells which line is forged."""
    call = a_call(clock.now())
    await store.commit(asked(call))
    forge(state, call, Event.SHOWN)

    await store.commit(line(call))

    lines = await store.history(call.ref)
    assert [1, 2, 3] == [each.seq for each in lines]
    assert 2 == verify(store.keys, lines)


async def test_a_decision_that_somebody_wrote_into_the_record_stops_the_next(
    store: SqliteStore, state: Path, clock: SetClock
) -> None:
    """The chain says that the call was decided, so nothing decides it again."""
    call = a_call(clock.now())
    await store.commit(asked(call))
    forge(state, call, Event.APPROVED)

    with pytest.raises(Tampered):
        await store.commit(rejected(call))


def forge(state: Path, call: Call, event: Event) -> None:
    """Write a second line of the call's chain into the database, past the service."""
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO audit (ref, seq, at, event, actor, data, prev, hash)"
            " SELECT ref, 2, at, ?, actor, data, hash, hash FROM audit WHERE ref = ? AND seq = 1",
            (event.value, call.ref),
        )


async def test_a_restart_knows_the_same(opened: Opened, clock: SetClock) -> None:
    """Lists, counts and twins are read once when the store opens; what is over is in none of them."""
    async with opened() as store:
        calls = [a_call(clock.now(), routes=("telegram:-1",), digest="d" * 64) for _ in range(3)]
        for call in calls:
            await store.commit(asked(call))
        await store.commit(rejected(calls[0]))

    async with opened() as store:
        kept = [call.ref for call in calls[1:]]
        assert kept == [call.ref for call in await store.pending()]
        assert kept == [call.ref for call in await store.pending(origin=calls[0].origin)]
        assert kept == [call.ref for call in await store.standing("telegram:-1")]
        assert 2 == await store.count_open(calls[0].requester, 10)
        assert calls[1] == await store.same_open("d" * 64, calls[0].agent)
        await store.commit(line(calls[1]))
        assert [1, 2] == await seqs(store, calls[1])


async def test_a_pending_row_that_no_version_wrote_keeps_nobody_from_starting(
    opened: Opened, state: Path, clock: SetClock
) -> None:
    """The row is left out of all lists; the others are in them."""
    async with opened() as store:
        spoilt, sound = a_call(clock.now()), a_call(clock.now())
        await store.commit(asked(spoilt))
        await store.commit(asked(sound))
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        connection.execute("UPDATE calls SET routes = '[[1]]' WHERE ref = ?", (spoilt.ref,))

    async with opened() as store:
        assert [sound.ref] == [call.ref for call in await store.pending()]
