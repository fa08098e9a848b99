"""Erased calls in the file: the bytes are gone, the record is whole, and nobody else can erase unseen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.database.sqlite.survey import surveyed
from hitl.call import Call, Ran, ReplyKind, Result, Runs, Verb
from hitl.history import RecordQuery
from hitl.proof.integrity import Flaw
from hitl.testing import SetClock
from tests.databases import examined
from tests.hitl.world import CLAIM, ROOM, SECRET, ask, gate_over, reply

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]
#: Long enough to need pages of its own.
CANARY = "the-launch-code " * 600


async def ended(store: SqliteStore, text: str = CANARY) -> Call:
    """A call that was approved, run and reported, with the text in its arguments and its output. Nothing is unsent."""
    gate = gate_over(store)
    call = (await gate.submit(ask(args={"path": text}, note=text, runs=Runs.CALLER))).call
    await gate.decide(reply(kind=ReplyKind.BUTTON, target=call.ref, verb=Verb.APPROVE))
    await gate.claim(call.ref, "agent", CLAIM)
    call = await gate.finish(call.ref, SECRET, Ran(Result.SUCCEEDED, text))
    while found := await store.sendings(lease_s=30):
        for sending in found:
            await store.sent(sending, f"-100:{sending.id}")
    return call


def holding(state: Path) -> list[str]:
    """The files of the folder that hold the arguments."""
    return [file.name for file in state.iterdir() if CANARY[:15].encode() in file.read_bytes()]


async def test_the_file_no_longer_holds_the_arguments(opened: Opened, state: Path) -> None:
    """The bytes are overwritten, and not only unlinked. What the log holds goes with it at the stop."""
    async with opened() as store:
        call = await ended(store)
    assert ["sayso.db"] == holding(state)
    async with opened() as store:
        await gate_over(store).retire(call, archive=False)

    assert [] == holding(state)


async def test_erasing_leaves_the_connection_as_it_was(opened: Opened) -> None:
    """Overwriting with zeros costs time, so it is on for these writes only."""
    async with opened() as store:
        call = await ended(store)
        connection = store._writer._connection  # noqa: SLF001 - the setting is the connection's
        before = connection.execute("pragma secure_delete").fetchone()
        await gate_over(store).retire(call, archive=False)

        assert before == connection.execute("pragma secure_delete").fetchone()


async def test_the_record_stays_whole_and_says_how_much_is_gone(opened: Opened, tmp_path: Path) -> None:
    """An erased and an archived call beside a whole one; also after a restart."""
    async with opened() as store:
        erased, archived, _whole = [await ended(store, text) for text in "abc"]
        await gate_over(store).retire(erased, archive=False)
        await gate_over(store).retire(archived, archive=True)
    async with opened() as store:
        found = examined(store, tmp_path / "mark")

    assert ((), 3, 1, 2) == (found.flaws, found.calls, found.archived, found.erased)


@pytest.mark.parametrize(
    ("change", "flaws"),
    [
        ("args = x'7b7d', salt = null", {Flaw.ROW}),
        ("args = x'7b7d', salt = null, note = '', output = null, erased_at = 1", {Flaw.ROW, Flaw.UNRECORDED}),
        ("archived = 1, state = 'idle'", {Flaw.UNRECORDED}),
    ],
)
async def test_what_somebody_else_erased_or_archived_is_named(
    opened: Opened, tmp_path: Path, change: str, flaws: set[str]
) -> None:
    """Nobody without the keys can make it look like retention's work. It isn't counted as such either."""
    async with opened() as store:
        await ended(store)
        with closing(sqlite3.connect(store.database, isolation_level=None)) as other:
            other.execute(f"update calls set {change}")  # noqa: S608
        found = examined(store, tmp_path / "mark")

    assert flaws <= {flaw.what for flaw in found.flaws}
    assert (0, 0) == (found.archived, found.erased)


async def test_the_line_of_the_erasure_can_not_be_taken_out(opened: Opened, tmp_path: Path) -> None:
    """Without it, the row is one whose arguments somebody emptied."""
    async with opened() as store:
        await gate_over(store).retire(await ended(store), archive=False)
        with closing(sqlite3.connect(store.database, isolation_level=None)) as other:
            other.execute("delete from audit where event = 'erased'")
        found = {flaw.what for flaw in examined(store, tmp_path / "mark").flaws}

    assert Flaw.UNRECORDED in found


async def test_history_and_export_say_when(opened: Opened, clock: SetClock) -> None:
    """Both tell the date, and no arguments."""
    async with opened() as store:
        call = await gate_over(store).retire(await ended(store), archive=True)
        assert call is not None
        with surveyed(store.database) as survey:
            lines = list(survey.lines(store.keys, RecordQuery()))
            (request,) = survey.requests(store.keys, RecordQuery())
    at = clock.now().isoformat()

    assert {(at, True)} == {(line["args_erased_at"], line["archived"]) for line in (*lines, request)}
    assert {None} == {line["operation"]["params"] for line in lines}
    assert [] == request["flaws"]


async def test_policies_are_not_tried_on_erased_calls(opened: Opened) -> None:
    """Without its arguments, a call would get another verdict than it had."""
    async with opened() as store:
        erased, whole = [await ended(store, text) for text in "ab"]
        await gate_over(store).retire(erased, archive=False)

        with surveyed(store.database) as survey:
            assert [whole.ref] == [call.ref for call in survey.sound_calls(store.keys, None)]


async def test_a_card_that_is_still_to_be_edited_keeps_its_call(opened: Opened) -> None:
    """The platform may be down for days; the edit is made of the call when it goes out."""
    async with opened() as store:
        call = await ended(store)
        with closing(sqlite3.connect(store.database, isolation_level=None)) as other:
            other.execute(
                "insert into outbox (ref, route, kind, attempts, not_before) values (?, ?, 'edit', 0, 0)",
                (call.ref, ROOM),
            )

        assert await gate_over(store).retire(call, archive=True) is None
