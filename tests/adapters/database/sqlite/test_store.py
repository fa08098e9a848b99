"""What the SQLite store adds to the contract: it lasts, it lasts through a kill, and it says what is broken."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from adapters.database.folder import StateFolder
from adapters.database.sqlite.store import SqliteStore
from hitl import faults
from hitl.call import Decision, Entry, Event, Post, PostKind, Prompt, PromptKind, State, Vote
from hitl.errors import Unavailable
from hitl.ports import Change, Expect, Unit
from hitl.proof.chain import verify
from hitl.testing import SetClock, a_call
from tests.sentences import raises

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from hitl.call import Call

    Opened = Callable[[], AbstractAsyncContextManager[SqliteStore]]


def new(call: Call) -> Unit:
    """The unit that keeps a new call with its first line."""
    line = Entry(call.ref, Event.ASKED, call.requester, {"tool": call.tool})
    return Unit(None, lambda _now: Change(call=call, entries=[line]))


def approve(call: Call, by: str) -> Unit:
    """The unit that approves a call in time."""

    def seal(now: object) -> Change:
        moved = call.evolve(state=State.EXECUTING, version=call.version + 1, decision=Decision.APPROVED, decided_by=by)
        return Change(call=moved, entries=[Entry(call.ref, Event.APPROVED, by, {"at": str(now)})])

    return Unit(Expect(call.ref, call.version, overdue=False), seal)


async def test_all_is_there_after_a_restart(opened: Opened, clock: SetClock) -> None:
    """Calls, votes, record, cards, what is queued and what is open with people."""
    call = a_call(clock.now())
    vote = Vote(call.ref, "local:1", True, "fine", "terminal", clock.now(), clock.now(), "mac")  # noqa: FBT003
    prompt = Prompt(call.ref, "local:1", PromptKind.CONFIRM, clock.now())
    async with opened() as store:
        await store.commit(new(call))
        posts = [Post(call.ref, "telegram:1", PostKind.CARD)]
        await store.commit(Unit(None, lambda _now: Change(votes=[vote], posts=posts, prompts=[prompt])))
        await store.receive("telegram", "7", "chat", b"{}")

    async with opened() as store:
        assert [call] == await store.pending()
        assert [vote] == await store.votes(call.ref)
        assert None is verify(store.keys, await store.history(call.ref))
        assert {"telegram:1": None} == await store.cards(call.ref)
        assert 1 == len(await store.sendings(lease_s=30))
        assert prompt == await store.prompt(call.ref, "local:1", PromptKind.CONFIRM)
        assert 1 == len(await store.incoming())


async def test_an_edit_that_a_dead_process_had_taken_goes_out_at_the_next_start(
    opened: Opened, clock: SetClock
) -> None:
    """The lease of an edit ends with its process, for an edit may be repeated; that of a card goes on."""
    first, second = a_call(clock.now()), a_call(clock.now())
    async with opened() as store:
        for call, place in ((first, "telegram:1"), (second, "telegram:2")):
            await store.commit(new(call))
            await store.commit(Unit(None, lambda _, call=call, place=place: posting(call, place, PostKind.CARD)))  # type: ignore[misc]
            if call is first:
                (card,) = await store.sendings(lease_s=30)
                await store.sent(card, "m1")
        await store.commit(Unit(None, lambda _: posting(first, "telegram:1", PostKind.EDIT)))
        taken = await store.sendings(lease_s=30)

    async with opened() as store:
        again = await store.sendings(lease_s=30)

    assert ["card", "edit"] == sorted(sending.post.kind for sending in taken)
    assert [("edit", first.ref)] == [(sending.post.kind, sending.post.ref) for sending in again]


def posting(call: Call, place: str, kind: PostKind) -> Change:
    """The change that queues a card or an edit."""
    return Change(posts=[Post(call.ref, place, kind)])


async def test_nobody_sees_what_is_not_on_disk_yet(store: SqliteStore, clock: SetClock) -> None:
    """While a slow disk works on a new call, it isn't there; it is once its asker is answered."""
    call = a_call(clock.now())
    reached, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        go_on.wait(5)

    faults.plan("writer.before-commit", lambda: time.sleep(0.005))
    for number in range(20):
        await store.receive("telegram", str(number), "chat", b"{}")
    faults.plan("writer.before-commit", hold)
    keeping = asyncio.ensure_future(store.commit(new(call)))
    await asyncio.to_thread(reached.wait, 5)

    assert None is await store.get(call.ref)
    go_on.set()
    await keeping
    assert call == await store.get(call.ref)


async def test_only_what_is_overdue_is_due_after_a_restart(opened: Opened, clock: SetClock) -> None:
    """The first look after a start ends no call that still has time."""
    overdue, live = a_call(clock.now()), a_call(clock.now())
    live = live.evolve(due_at=clock.now().replace(year=2027))
    async with opened() as store:
        await store.commit(new(overdue))
        await store.commit(new(live))
    clock.advance(3600)

    async with opened() as store:
        assert [overdue] == await store.due(10)


async def test_time_does_not_go_back_over_a_restart(
    opened: Opened, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine that starts with an old clock goes on from the newest recorded time, and the log says so."""
    call, other = a_call(clock.now()), a_call(clock.now())
    async with opened() as store:
        await store.commit(new(call))
        clock.advance(300)
        await store.commit(new(other))
    clock.advance(-299)

    async with opened() as store:
        assert {call.ref, other.ref} == {each.ref for each in await store.due(10)}
        assert None is await store.commit(approve(call, "local:1"))
    assert [{"seconds": 299, "newest": "2026-11-27T12:05:00+00:00"}] == [
        line.args for line in caplog.records if line.msg == "clock.behind"
    ]


async def test_fifty_asks_and_fifty_decisions_at_once_are_all_kept(store: SqliteStore, clock: SetClock) -> None:
    """None is refused because the database is busy."""
    asked = [a_call(clock.now()) for _ in range(50)]
    await asyncio.gather(*(store.commit(new(call)) for call in asked))
    more = [a_call(clock.now()) for _ in range(50)]

    done = await asyncio.gather(
        *(store.commit(approve(call, "local:1")) for call in asked),
        *(store.commit(new(call)) for call in more),
    )

    assert 100 == len([change for change in done if change])
    assert 50 == len(await store.pending())


@pytest.mark.parametrize(
    "changes",
    [{"deadline": "tomorrow"}, {"due_at": 5}, {"state": "awaiting_confirmation"}, {"args": "{}"}],
    ids=str,
)
async def test_a_record_of_wrong_types_is_never_written(
    store: SqliteStore, clock: SetClock, changes: dict[str, object]
) -> None:
    """It fails its own unit; one beside it is kept."""
    wrong, right = a_call(clock.now(), **changes), a_call(clock.now())

    answers = await asyncio.gather(store.commit(new(wrong)), store.commit(new(right)), return_exceptions=True)

    assert isinstance(answers[0], TypeError | AttributeError)
    assert right == await store.get(right.ref)
    assert [right] == await store.pending()


async def test_a_naive_time_is_never_written(store: SqliteStore, clock: SetClock) -> None:
    """It names no moment."""
    with pytest.raises(TypeError, match="offset-naive"):
        await store.commit(new(a_call(clock.now(), deadline=clock.now().replace(tzinfo=None))))

    assert [] == await store.pending()


async def test_records_of_a_call_that_isnt_there_are_refused(store: SqliteStore, clock: SetClock) -> None:
    """The database itself holds votes to their call."""
    vote = Vote("nothing", "local:1", True, None, "terminal", None, clock.now(), "mac")  # noqa: FBT003

    with pytest.raises(sqlite3.IntegrityError):
        await store.commit(Unit(None, lambda _now: Change(votes=[vote])))


async def test_a_swap_writes_the_row_that_it_tested(store: SqliteStore, clock: SetClock) -> None:
    """A unit that tests one call and writes another is a bug, and fails."""
    first, second = a_call(clock.now()), a_call(clock.now())
    await store.commit(new(first))

    with pytest.raises(ValueError, match="can't write"):
        await store.commit(Unit(Expect(first.ref, 1), lambda _now: Change(call=second)))


def modes(folder: Path) -> dict[str, int]:
    """The permission bits of the files of a folder."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


async def test_every_file_is_ours_alone(store: SqliteStore, state: Path, clock: SetClock) -> None:
    """The log and its index too."""
    await store.commit(new(a_call(clock.now())))

    assert dict.fromkeys(("keys.json", "sayso.db", "sayso.db-shm", "sayso.db-wal", "sayso.lock"), 0o600) == modes(state)


async def test_closing_leaves_one_database_file(opened: Opened, state: Path, clock: SetClock) -> None:
    """The log is moved into it, so that a copy of the file is a copy of all."""
    async with opened() as store:
        await store.commit(new(a_call(clock.now())))

    assert ["keys.json", "sayso.db", "sayso.lock"] == sorted(modes(state))


async def test_the_log_is_copied_when_nothing_is_written(store: SqliteStore, state: Path, clock: SetClock) -> None:
    """What was written reaches the database file while the store is open."""
    large = b'"' + b"x" * 5_000_000 + b'"'
    await store.commit(new(a_call(clock.now(), args=large)))

    async with asyncio.timeout(10):
        while (state / "sayso.db").stat().st_size < len(large):  # noqa: ASYNC110 - nothing tells but the file
            await asyncio.sleep(0.02)

    assert await store.pending()


async def test_reads_go_on_while_another_program_reads(store: SqliteStore, state: Path, clock: SetClock) -> None:
    """Somebody with the file open in a transaction stops neither reads nor writes."""
    other = sqlite3.connect(state / "sayso.db", isolation_level=None)
    other.execute("begin")
    other.execute("select count(*) from calls").fetchone()

    call = a_call(clock.now())
    await store.commit(new(call))

    assert call == await store.get(call.ref)
    other.close()


async def test_a_file_that_is_no_database_is_refused(state: Path, clock: SetClock) -> None:
    """Said with the file's name and what to do; the file stays as it is."""
    (state / "sayso.db").write_bytes(b"shopping list\n" * 500)
    folder = StateFolder.open(state)

    with pytest.raises(Unavailable, match=r"sayso\.db can't be used: it isn't a database.*backup"):
        await SqliteStore.open(folder, clock)

    folder.close()
    assert (state / "sayso.db").read_bytes().startswith(b"shopping list")


def overwrite_calls(database: Path) -> None:
    """Destroy the first page of the table of calls."""
    connection = sqlite3.connect(database)
    page, size = (
        connection.execute(asked).fetchone()[0]
        for asked in ("select rootpage from sqlite_master where name = 'calls'", "pragma page_size")
    )
    connection.close()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


async def test_a_damaged_database_is_said_to_be_damaged(opened: Opened, state: Path, clock: SetClock) -> None:
    """A page that was overwritten: reading it is an error that people are told, not a wrong answer."""
    over = a_call(clock.now(), state=State.IDLE, decision=Decision.REJECTED, due_at=None)
    async with opened() as store:
        await store.commit(new(over))
    overwrite_calls(state / "sayso.db")

    async with opened() as store:
        with raises(Unavailable, "database.damaged"):
            await store.get(over.ref)
        with raises(Unavailable, "database.damaged"):
            await store.commit(new(a_call(clock.now())))


async def test_a_database_whose_pending_calls_are_damaged_is_not_opened(
    opened: Opened, state: Path, clock: SetClock
) -> None:
    """The store reads the pending calls when it opens. Without them it would forget that people were asked."""
    async with opened() as store:
        await store.commit(new(a_call(clock.now())))
    overwrite_calls(state / "sayso.db")

    with raises(Unavailable, "database.damaged"):
        await opened().__aenter__()


KILLED = """
import asyncio, os, signal, sys
from datetime import datetime, UTC
from pathlib import Path
from adapters.database.folder import StateFolder
from adapters.database.sqlite.store import SqliteStore
from hitl import faults
from hitl.call import Entry, Event
from hitl.ports import Change, Unit
from hitl.testing import SetClock, a_call

def new(call):
    return Unit(None, lambda now: Change(call=call, entries=[Entry(call.ref, Event.ASKED, "local:1", {})]))

async def main(state, point):
    clock = SetClock(datetime.now(UTC))
    store = await SqliteStore.open(StateFolder.open(Path(state)), clock)
    told = a_call(clock.now(), sentence="told")
    await store.commit(new(told))
    faults.plan(point, lambda: os.kill(os.getpid(), signal.SIGKILL))
    await asyncio.gather(*(store.commit(new(a_call(clock.now()))) for _ in range(3)))
    await asyncio.sleep(30)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("point", "kept"),
    [
        ("writer.before-begin", 1),
        ("writer.before-commit", 1),
        ("writer.after-commit", 4),
        ("writer.before-copy", 4),
    ],
)
async def test_a_kill_loses_nothing_that_was_answered(opened: Opened, state: Path, point: str, kept: int) -> None:
    """A group is there as a whole or not at all, each call with its record; what was answered is there."""
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(state), point)

    assert -9 == await killed.wait()
    async with opened() as store:
        calls = await store.pending()
        assert kept == len(calls)
        assert "told" in [call.sentence for call in calls]
        assert [1] * kept == [len(await store.history(call.ref)) for call in calls]


async def test_a_store_whose_folder_is_in_use_isnt_opened(store: SqliteStore, state: Path) -> None:
    """One writer, by construction: a store needs the folder's lock."""
    assert [] == await store.pending()

    with pytest.raises(Unavailable, match=f"pid {os.getpid()}"):
        StateFolder.open(state)
