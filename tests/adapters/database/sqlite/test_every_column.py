"""Every column of every table: either a change of it is seen, or it is listed with why it does no harm."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Column, Table
from sqlmodel import SQLModel

import adapters.database.tables  # noqa: F401 - importing it fills the metadata
from adapters.database.mark import Mark
from adapters.database.sqlite.survey import surveyed
from hitl.call import KeptTurn, Prompt, PromptKind, Reply, ReplyKind, Verb
from hitl.credentials import Credential, Scope
from hitl.ports import Change, adding
from hitl.proof import seals
from hitl.testing import SetClock
from tests.hitl.world import ANN, ROOM, ask, gate_over

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]

#: Why nobody gains by a change of these.
HARMLESS = {
    "calls.version": "a swap under way is lost once, and looked at again",
    "calls.salt": "the first line of the chain holds a hash over it and the arguments, for whoever erases both",
    "votes.seq": "the order of votes decides nothing",
    "cards.failed_at": "a card is taken for one that can't be posted: it isn't edited",
    "cards.error": "the text of an operator's log",
    "outbox.id": "messages go out in another order",
    "outbox.ref": "a card of another call is posted, as that call is",
    "outbox.route": "a card is posted where its call does not belong: nobody can answer it there",
    "outbox.kind": "a card is posted instead of edited, or the other way",
    "outbox.attempts": "the pause before the next try",
    "outbox.not_before": "as outbox.attempts",
    "outbox.error": "the text of an operator's log",
    "inbox.seq": "events of one conversation are handled in another order, each as it came",
    "inbox.handled_at": "an event is handled again, and its call's chain names it (test_replayed_events.py), or never",
    "inbox.failures": "an event is set aside sooner",
    "inbox.error": "the text of an operator's log",
    "inbox.aside_at": "as inbox.handled_at",
    "credentials.used_at": "when a token was last used decides nothing",
    "turns.seq": "turns of one conversation are taken in another order, each as it was begun",
    "audit.sealed_by": "nothing reads it",
    "keys.kid": "the service refuses to start, or looks at open calls once more",
    "keys.seen_at": "nothing reads it",
}
#: The row of a table that a test changes is the only one; this one has none when a call has run.
EMPTY = {"outbox"}
COLUMNS = [f"{table.name}.{column.name}" for table in SQLModel.metadata.sorted_tables for column in table.columns]


@pytest.fixture
async def kept(opened: Opened, clock: SetClock) -> None:
    """A database with one call that was asked in a chat, approved and run, and with all that is kept beside it."""
    async with opened() as store:
        gate = gate_over(store)
        call = (await gate.submit(ask(note="because", key="k"))).call
        await store.receive("telegram", "1", ROOM, b"{}")
        await store.sent((await store.sendings(lease_s=30))[0], "-100:5")
        await store.move("telegram:-99", ROOM)
        await store.say(ROOM, "-100:6", call.ref)
        await store.begin_turn(KeptTurn("telegram:1", ROOM, ANN, ANN, "m1", "clean up", ((ANN, "hello"),), b"{}"))
        made = Credential("ci", "0" * 64, Scope.AGENT, ANN, (ROOM,), (), clock.now(), ANN, clock.now())
        await store.keep_credential(made)
        await store.bind(seals.bound(store.keys, "-100:6", call.ref, ANN))
        await store.commit(adding(Change(prompts=(Prompt(call.ref, ANN, PromptKind.VIEWED, clock.now()),))))
        reply = Reply(ANN, "telegram", ROOM, ReplyKind.BUTTON, Verb.APPROVE, target=call.ref, pressed_at=clock.now())
        (answer,) = await gate.decide(reply)
        assert answer.lease is not None
        await gate.finish_own(answer.lease, await gate.executor.run(answer.lease, limit_s=1))


def other(value: Any, kind: type) -> Any:
    """Another value that the column could hold."""
    if isinstance(value, bytes):
        return value + b" "
    if kind is bool:
        return not value
    if kind is int:
        return (value or 0) + 1
    return "x" if value is None else f"{value}x"


def change(connection: sqlite3.Connection, table: Table, column: Column[Any]) -> None:
    """Change one field of the last row."""
    row = connection.execute(f"select * from {table.name}").fetchall()[-1]  # noqa: S608
    names = [info[1] for info in connection.execute(f"pragma table_info({table.name})")]
    values = dict(zip(names, row, strict=True))
    keys = [key.name for key in table.primary_key.columns]
    where = " and ".join(f"{key} = ?" for key in keys)
    to = other(values[column.name], column.type.python_type)
    connection.execute(
        f'update {table.name} set "{column.name}" = ? where {where}',  # noqa: S608
        (to, *(values[key] for key in keys)),
    )


@pytest.mark.parametrize("name", [name for name in COLUMNS if name.partition(".")[0] not in EMPTY])
async def test_a_change_of_it_is_seen_or_does_no_harm(
    kept: None, opened: Opened, state: Path, tmp_path: Path, name: str
) -> None:
    """`sayso audit verify` tells it, unless it is on the list."""
    del kept
    table = SQLModel.metadata.tables[name.partition(".")[0]]
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        connection.execute("pragma foreign_keys = off")
        change(connection, table, table.columns[name.partition(".")[2]])
    async with opened() as store:
        keys = store.keys
    with surveyed(state / "sayso.db") as survey:
        seen = survey.examine(keys, Mark(tmp_path / "mark", keys).read()).flaws

    assert bool(seen) != (name in HARMLESS)


def test_what_does_no_harm_is_a_column() -> None:
    """The list names nothing that isn't there any more; what is always empty here is on it."""
    empty = {name for name in COLUMNS if name.partition(".")[0] in EMPTY}

    assert empty <= set(HARMLESS) <= set(COLUMNS)
