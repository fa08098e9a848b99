"""SQLite stores values of any type in any column. A row with an odd value stops nothing, and hides no other row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.database.mark import Mark
from adapters.database.sqlite.survey import surveyed
from bot.rolling_back import roll_back
from hitl.call import Post, PostKind, Reply, ReplyKind, Runs, Verb
from hitl.errors import Tampered
from hitl.history import RecordQuery
from hitl.ports import Change, adding
from hitl.proof.integrity import Flaw
from hitl.testing import SetClock
from tests.databases import tamper
from tests.hitl.world import ANN, CLAIM, ROOM, UMA, ask, gate_over

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore
    from hitl.call import Call

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]

#: Texts that aren't valid UTF-8, blobs, numbers that aren't whole, and numbers that SQLite can't count up.
CALLS = [
    *(f"{column} = cast(x'ff41' as text)" for column in ("tool", "requester", "short", "args", "routes", "error")),
    *(f"{column} = x'00ff'" for column in ("tool", "cwd", "note", "sentence", "preview", "origin", "reason", "output")),
    *("args = x'00ff'", "digest = 'soon'", "version = 'soon'", "version = 9223372036854775807", "version = 1.5"),
    *("timeout_s = 'soon'", "archived = 'soon'", "due_at = 'soon'", "due_at = 9223372036854775807", "row_mac = x'00'"),
]
LINES = ["at = 'soon'", "at = 9223372036854775807", "at = x'00'", "at = cast(x'ff' as text)"]
LINES += ["data = x'00ff'", "data = cast(x'ff' as text)", "seq = 'soon'", "seq = 9223372036854775807"]
EVENTS = ["received_at = 9223372036854775807", "mac = x'00'", "id = cast(x'ff' as text)", "body = cast(x'ff' as text)"]
MESSAGES = ["kind = 'soon'", "route = cast(x'ff' as text)", "kind = x'00'"]


def press(ref: str, store: SqliteStore) -> Reply:
    """Ann's press on "Approve"."""
    return Reply(ANN, "telegram", ROOM, ReplyKind.BUTTON, Verb.APPROVE, target=ref, pressed_at=store.clock.now())


async def two_calls(opened: Opened) -> tuple[Call, Call]:
    """Two pending calls."""
    async with opened() as store:
        gate = gate_over(store)
        return (await gate.submit(ask(args={"n": 1}))).call, (await gate.submit(ask(args={"n": 2}))).call


@pytest.mark.parametrize("change", CALLS)
async def test_a_call_with_an_odd_value_hides_no_other_call(opened: Opened, state: Path, change: str) -> None:
    """The service starts, lists and ends the other call. The record's readers name the changed call."""
    odd, other = await two_calls(opened)
    tamper(state, f"update calls set {change} where ref = ?", odd.ref)  # noqa: S608

    async with opened() as store:
        for calls in (await store.pending(), await store.page(None, 9, pending=False), await store.unfinished()):
            assert other.ref in {call.ref for call in calls}
        with surveyed(state / "sayso.db") as survey:
            assert survey.examine(store.keys, None).flaws
            assert other.ref in {shown["ref"] for shown in survey.requests(store.keys, RecordQuery())}
            assert 2 <= len(list(survey.lines(store.keys, RecordQuery())))
            survey.statistics(None, None)
        await roll_back(gate_over(store))
        ended = await store.get(other.ref)
        assert ended is not None
        assert ended.ended


@pytest.mark.parametrize("change", LINES)
async def test_a_line_with_an_odd_value_stops_no_other_call(opened: Opened, state: Path, change: str) -> None:
    """The service starts. The call with that line is decided, or its change is noticed; the other call is approved."""
    odd, other = await two_calls(opened)
    tamper(state, f"update audit set {change} where ref = ?", odd.ref)  # noqa: S608

    async with opened() as store:
        gate = gate_over(store)
        with suppress(Tampered):
            await gate.decide(press(odd.ref, store))
        (answer,) = await gate.decide(press(other.ref, store))
        assert answer.lease is not None
        assert 2 <= len(await store.lines_after(0, 9))
        with surveyed(state / "sayso.db") as survey:
            assert Flaw.LINE in {flaw.what for flaw in survey.examine(store.keys, None).flaws}


@pytest.mark.parametrize("change", EVENTS)
async def test_an_event_with_an_odd_value_hides_no_other_event(opened: Opened, state: Path, change: str) -> None:
    """The changed event counts as forged."""
    async with opened() as store:
        await store.receive("telegram", "1", "a", b"yes")
        await store.receive("telegram", "2", "b", b"yes")
    tamper(state, f"update inbox set {change} where id = '1'")  # noqa: S608

    async with opened() as store:
        assert [False, True] == [event.intact for event in await store.incoming()]


@pytest.mark.parametrize("change", MESSAGES)
async def test_a_message_with_an_odd_value_keeps_no_other_message(opened: Opened, state: Path, change: str) -> None:
    """The messages of the other call are sent."""
    odd, other = await two_calls(opened)
    tamper(state, f"update outbox set {change} where ref = ?", odd.ref)  # noqa: S608

    async with opened() as store:
        sent = [*await store.sendings(lease_s=1), *await store.sendings(lease_s=1)]
        assert other.ref in {sending.post.ref for sending in sent}


async def test_a_forged_later_time_does_not_stop_the_clock(opened: Opened, state: Path, clock: SetClock) -> None:
    """The service's clock goes on from the newest recorded time. In a line with a wrong MAC, the time doesn't count.

    Otherwise the clock would stand until that time, and no deadline would come.
    """
    await two_calls(opened)
    tamper(state, "update audit set at = at + 3600000000 where seq = 1")

    async with opened() as store:
        assert clock.now() == store.clock.now()


@pytest.mark.parametrize("hide", ["due_at = null", "version = 'soon'", "args = cast(args as text)"])
async def test_a_call_that_was_hidden_from_a_rollback_never_runs(
    opened: Opened, state: Path, tmp_path: Path, clock: SetClock, hide: str
) -> None:
    """A folder was restored from a copy of before a run, and its open call was hidden from the start that ends all.

    Afterwards the row is put back as it was: nobody can approve or claim the call.
    """
    async with opened() as store:
        gate = gate_over(store)
        pending = (await gate.submit(ask())).call
        approved = (await gate.submit(ask(args={"n": 2}, runs=Runs.CALLER))).call
        await gate.decide(press(approved.ref, store))
        Mark(tmp_path / "mark", store.keys).write(99, "a line that the copy doesn't have")
    kept = _rows(state)
    tamper(state, f"update calls set {hide}")  # noqa: S608
    clock.advance(1)

    async with opened() as store:
        assert not await store.keep_mark(tmp_path / "mark")
        await roll_back(gate_over(store))
        for due_at, version, args, ref in kept:
            tamper(
                state, "update calls set due_at = ?, version = ?, args = ? where ref = ?", due_at, version, args, ref
            )
        for _ in range(2):
            (answer,) = await gate_over(store).decide(press(pending.ref, store))
            assert isinstance(answer.error, Tampered)
            with pytest.raises(Tampered):
                await gate_over(store).claim(approved.ref, UMA, CLAIM)
    async with opened() as store:
        with pytest.raises(Tampered):
            await gate_over(store).claim(approved.ref, UMA, CLAIM)
        new = (await gate_over(store).submit(ask(args={"n": 3}))).call
        (answer,) = await gate_over(store).decide(press(new.ref, store))
        assert answer.lease is not None


def _rows(state: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(state / "sayso.db")) as connection:
        return connection.execute("select due_at, version, args, ref from calls").fetchall()


async def test_a_line_that_was_taken_out_of_its_index_shows(opened: Opened, state: Path) -> None:
    """The table still has the line, but the service, which uses the index, wouldn't find it."""
    await two_calls(opened)
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        connection.executescript(
            "create table other (ref, seq, constraint place unique (ref, seq)); pragma writable_schema = on;"
            "update sqlite_master set rootpage = (select rootpage from sqlite_master where name ="
            " 'sqlite_autoindex_other_1') where name = 'sqlite_autoindex_audit_1';"
            "delete from sqlite_master where tbl_name = 'other'"
        )

    async with opened() as store:
        keys = store.keys
    with surveyed(state / "sayso.db") as survey:
        assert Flaw.FILE in {flaw.what for flaw in survey.examine(keys, None).flaws}


async def test_an_open_call_without_its_time_shows(opened: Opened, state: Path) -> None:
    """Without `due_at`, a pending call never ends, and no list has it after a restart."""
    odd, _ = await two_calls(opened)
    tamper(state, "update calls set due_at = null where ref = ?", odd.ref)

    async with opened() as store:
        await store.commit(adding(Change(posts=(Post(odd.ref, ROOM, PostKind.EDIT),))))
        with surveyed(state / "sayso.db") as survey:
            assert [Flaw.UNRECORDED] == [flaw.what for flaw in survey.examine(store.keys, None).flaws]
