"""MACs protect rows. The schema has none, so a database with another schema than Sayso's is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.database import keys as keyfile
from adapters.database.sqlite.survey import surveyed
from hitl.call import Reply, ReplyKind, Verb
from hitl.errors import Unavailable
from hitl.proof.keyring import Keyring
from tests.hitl.world import ANN, ROOM, ask, gate_over
from tests.sentences import raises

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]

#: Undo the approval of a call, and leave no line about it.
UNDONE = """
    create trigger undone after update on calls when new.decision = 'approved' begin
        update calls set state = old.state, version = old.version, decision = null, decided_at = null,
            decided_by = null, decision_mac = null, claim_owner = null, claim_hash = null, claim_until = null,
            claim_mac = null, due_at = old.due_at where ref = old.ref;
    end;
    create trigger unsaid before insert on audit when new.event = 'approved' begin select raise(ignore); end;
    create trigger unvoted before insert on votes begin select raise(ignore); end;
"""
VIEW = "alter table audit rename to hidden; create view audit as select * from hidden where event <> 'approved'"
#: What somebody plants in the schema -> the names in the refusal.
PLANTED = {
    "create trigger audit after insert on audit begin select 1; end": "audit",
    VIEW: "audit, hidden",
    "create table extra (a)": "extra",
    "create unique index one_event on audit (event)": "one_event",
    "drop index calls_key": "calls_key",
    "drop table talks": "talks",
    "alter table votes add column other": "votes",
    "create view seen as select * from calls": "seen",
}
#: What a migration after schema 0003 added.
NEWER = (
    *("calls.claim_mac", "calls.result_mac", "calls.erased_at", "cards.mac", "inbox.mac", "prompts.mac"),
    *("moves.mac", "talks.mac", "votes.identity", "votes.risk"),
)


def change(state: Path, script: str) -> None:
    """Change the file as somebody with access to it would."""
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        connection.executescript(script)


def to_0003(state: Path) -> None:
    """Take out of the database what later schemas than 0003 added."""
    columns = "".join(f"alter table {name.partition('.')[0]} drop column {name.partition('.')[2]};" for name in NEWER)
    indexes = ("digest", "origin", "requester")
    made = "".join(f"create index calls_waiting_{name} on calls ({name});" for name in indexes)
    change(state, f"{columns} {made} drop table credentials; drop table turns")
    change(state, "update alembic_version set version_num = '0003'")


def forge(state: Path) -> None:
    """Write an approver's message into the inbox."""
    change(
        state,
        "insert into inbox (source, id, ordering, body, received_at, failures)"
        " values ('telegram', '9', 'c', x'7b7d', 1, 0)",
    )


def inbox(state: Path) -> list[tuple[object, ...]]:
    """The columns of the inbox's rows, except the MAC if there is none."""
    with closing(sqlite3.connect(state / "sayso.db")) as connection:
        return connection.execute("select * from inbox").fetchall()


async def approve(store: SqliteStore, ref: str) -> bool:
    """Let Ann press "Approve". Return whether the call may run now."""
    reply = Reply(ANN, "telegram", ROOM, ReplyKind.BUTTON, Verb.APPROVE, target=ref, pressed_at=store.clock.now())
    (answer,) = await gate_over(store).decide(reply)
    return answer.lease is not None


@pytest.mark.parametrize("script", PLANTED)
async def test_a_database_with_another_schema_is_refused(opened: Opened, state: Path, script: str) -> None:
    """The service doesn't start, and no command reads the database; both name the tables, triggers and views."""
    async with opened() as store:
        await gate_over(store).submit(ask())
    change(state, script)
    names = PLANTED[script]

    with raises(Unavailable, "database.foreign", names=names):
        async with opened():
            pass
    with raises(Unavailable, "database.foreign", names=names), surveyed(state / "sayso.db"):
        pass


async def test_the_statistics_of_sqlite_are_no_other_schema(opened: Opened, state: Path) -> None:
    """ANALYZE makes a table that only tells SQLite which index to use."""
    async with opened() as store:
        await gate_over(store).submit(ask())
    change(state, "analyze")

    async with opened() as store:
        assert 1 == len(await store.pending())


async def test_a_trigger_that_is_planted_while_the_service_runs_lets_nothing_run(opened: Opened, state: Path) -> None:
    """A trigger could undo the record of an approval, so that the call runs again: the approval fails instead."""
    async with opened() as store:
        call = (await gate_over(store).submit(ask())).call
        change(state, UNDONE)

        with raises(Unavailable, "database.planted"):
            await approve(store, call.ref)


async def test_no_migration_makes_macs_for_a_newer_database_that_says_it_is_older(opened: Opened, state: Path) -> None:
    """The migration to schema 0004 makes MACs over rows that have none. A forged event would then count as genuine."""
    async with opened() as store:
        await gate_over(store).submit(ask())
    to_0003(state)
    forge(state)
    before = inbox(state)

    with raises(Unavailable, "database.downgraded", schema="0003", path=state / "sayso.db"):
        async with opened():
            pass
    assert before == inbox(state)


@pytest.mark.parametrize("emptied", ["delete from audit", "delete from audit; delete from calls"])
async def test_no_migration_makes_macs_without_a_call_of_the_older_schema(
    opened: Opened, state: Path, emptied: str
) -> None:
    """Only a call with a MAC of the first format proves that the keys were used with the older schema."""
    async with opened() as store:
        await gate_over(store).submit(ask())
    to_0003(state)
    forge(state)
    change(state, "delete from cards; delete from outbox")
    change(state, emptied)
    before = inbox(state)

    with raises(Unavailable, "database.downgraded"):
        async with opened():
            pass
    assert before == inbox(state)


async def test_a_migrated_database_has_the_schema_of_a_new_one(opened: Opened, state: Path) -> None:
    """An empty database of schema 0003 is brought up to date, and then has nothing foreign."""
    to_0003(state)

    async with opened() as store:
        assert [] == list(await store.pending())
    with surveyed(state / "sayso.db") as survey:
        assert () == survey.examine(Keyring(keyfile.read(state / "keys.json")), None).flaws
