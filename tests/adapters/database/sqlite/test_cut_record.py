"""The running service knows the last line of the record, so nobody can remove lines under it and hide this."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

from hitl.call import Entry, Event, Reply, ReplyKind, Verb
from hitl.ports import Change, Unit, adding
from hitl.proof.integrity import Flaw
from tests.databases import examined, tamper
from tests.hitl.world import ANN, ROOM, ask, gate_over

if TYPE_CHECKING:
    from datetime import datetime

    from adapters.database.sqlite.store import SqliteStore
    from hitl.call import Call
    from hitl.gate import Gate

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]
TABLES = ("calls", "votes", "audit", "cards", "outbox", "prompts")


def remove(state: Path, ref: str) -> None:
    """Delete all rows about a call, and close the gap that its lines leave in the record."""
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        for table in TABLES:
            connection.execute(f"delete from {table} where ref = ?", (ref,))  # noqa: S608
        left = [number for (number,) in connection.execute("select id from audit order by id")]
        connection.executemany("update audit set id = ? where id = ?", enumerate(left, start=1))


async def decided(gate: Gate, n: int, verb: Verb) -> Call:
    """A call that was asked, decided by Ann, and run if she approved it."""
    call = (await gate.submit(ask(args={"n": n}))).call
    now = gate.clock.now()
    (answer,) = await gate.decide(Reply(ANN, "telegram", ROOM, ReplyKind.BUTTON, verb, target=call.ref, pressed_at=now))
    if answer.lease:
        await gate.finish_own(answer.lease, await gate.executor.run(answer.lease, limit_s=1))
    return call


async def test_a_call_that_was_removed_under_the_service_leaves_a_gap(
    opened: Opened, state: Path, tmp_path: Path
) -> None:
    """All rows about a call that ran are gone, and the positions of the later lines are changed to close the gap.

    The next line still gets the position after the last one that the service wrote.
    """
    async with opened() as store:
        await store.keep_mark(tmp_path / "mark")
        gate = gate_over(store)
        hidden = await decided(gate, 1, Verb.APPROVE)
        await decided(gate, 2, Verb.APPROVE)
        remove(state, hidden.ref)
        await decided(gate, 3, Verb.APPROVE)

        assert Flaw.GAP in {flaw.what for flaw in examined(store, tmp_path / "mark").flaws}


async def test_the_mark_names_a_line_that_was_removed_under_the_service(
    opened: Opened, state: Path, tmp_path: Path
) -> None:
    """The end of the record was cut off, and the service wrote nothing after that. It stops as always."""
    async with opened() as store:
        await store.keep_mark(tmp_path / "mark")
        call = await decided(gate_over(store), 1, Verb.APPROVE)
        remove(state, call.ref)

    async with opened() as store:
        assert {Flaw.CUT} == {flaw.what for flaw in examined(store, tmp_path / "mark").flaws}
        assert not await store.keep_mark(tmp_path / "mark")


async def test_a_rejection_that_was_cut_off_while_the_service_was_stopped_shows(
    opened: Opened, state: Path, tmp_path: Path
) -> None:
    """The call would be pending again, and another person could approve it."""
    async with opened() as store:
        await store.keep_mark(tmp_path / "mark")
        await decided(gate_over(store), 1, Verb.REJECT)
    tamper(state, "delete from audit where event = 'rejected'")
    tamper(state, "delete from votes")

    async with opened() as store:
        assert not await store.keep_mark(tmp_path / "mark")


async def test_a_line_at_the_largest_position_does_not_stop_the_service(opened: Opened, state: Path) -> None:
    """SQLite then chooses the positions of later lines; there is no next position."""
    async with opened() as store:
        await decided(gate_over(store), 1, Verb.REJECT)
    tamper(state, "update audit set id = 9223372036854775807 where event = 'rejected'")

    async with opened() as store:
        call = await decided(gate_over(store), 2, Verb.REJECT)
        assert Event.REJECTED == (await store.history(call.ref))[-1].event


async def test_a_unit_that_fails_leaves_no_gap(opened: Opened) -> None:
    """Its group is rolled back and written again without it."""
    line = Change(entries=(Entry("", Event.HELD, "service", {}),))

    def fail(_: datetime) -> Change:
        raise ValueError

    async with opened() as store:
        units = [adding(line), Unit(None, fail), adding(line)]
        done = await asyncio.gather(*map(store.commit, units), return_exceptions=True)
        await store.commit(adding(line))

        assert [False, True, False] == [isinstance(each, ValueError) for each in done]
        assert [1, 2, 3] == [position for position, _ in await store.lines_after(0, 9)]
