"""What `sayso doctor` and `sayso audit verify` read of a database, beside the service."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.database.keys import load
from adapters.database.mark import Mark
from adapters.database.sqlite.examine import examine
from adapters.database.sqlite.schema import REVISIONS
from adapters.database.sqlite.survey import surveyed
from hitl.call import Claim, Entry, Event, State
from hitl.errors import Unavailable
from hitl.ports import Change, Unit, adding
from hitl.proof.keyring import Keyring
from hitl.testing import SetClock, a_call

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.database.sqlite.store import SqliteStore


async def test_open_calls_are_counted_by_state_and_the_oldest_is_known(
    store: SqliteStore, state: Path, clock: SetClock
) -> None:
    """Pending and running calls count; a call that is over doesn't."""
    first, claim = clock.now(), Claim("owner", "0" * 64, clock.now(), "none:0")
    changes: list[dict[str, Any]] = [
        {},
        {},
        {"state": State.EXECUTING, "claim": claim},
        {"state": State.COMPLETED, "due_at": None},
    ]
    for fields in changes:
        call = a_call(clock.now(), **fields)
        await store.commit(Unit(None, lambda _, call=call: Change(call)))  # type: ignore[misc]
        clock.advance(60)

    with surveyed(state / "sayso.db") as survey:
        assert REVISIONS[-1] == survey.schema
        assert {"awaiting_confirmation": 2, "executing": 1} == survey.open_calls()
        assert first == survey.oldest_pending()


async def test_events_that_were_set_aside_are_counted(store: SqliteStore, state: Path) -> None:
    """An event that is still tried doesn't count."""
    for number in ("1", "2"):
        await store.receive("telegram", number, number, b"{}")
    await store.stumble("telegram", "1", "KeyError", aside_after=1)
    await store.stumble("telegram", "2", "KeyError", aside_after=2)

    with surveyed(state / "sayso.db") as survey:
        assert 1 == survey.set_aside()


async def test_the_latest_lines_come_first(store: SqliteStore, state: Path, clock: SetClock) -> None:
    """Only as many as were asked for, from all chains."""
    start = clock.now()
    for number in range(3):
        await store.commit(adding(Change(entries=(Entry("", Event.BARRED, "somebody", {"number": number}),))))
        clock.advance(1)

    with surveyed(state / "sayso.db") as survey:
        lines = survey.latest_lines(2)

    assert [(start + timedelta(seconds=2), '{"number":2}'), (start + timedelta(seconds=1), '{"number":1}')] == lines


def test_an_empty_database_has_no_pending_call(state: Path) -> None:
    """Nothing is counted and nothing is oldest."""
    with surveyed(state / "sayso.db") as survey:
        assert ({}, None, 0, []) == (
            survey.open_calls(),
            survey.oldest_pending(),
            survey.set_aside(),
            survey.latest_lines(9),
        )


def test_a_database_without_our_tables_has_no_schema(tmp_path: Path) -> None:
    """Another program's database, or an empty file."""
    (tmp_path / "empty.db").touch()

    with surveyed(tmp_path / "empty.db") as survey:
        assert survey.schema is None


def test_a_missing_table_or_file_is_said(state: Path) -> None:
    """The error is the one that people are told, whatever library found it."""
    with closing(sqlite3.connect(state / "sayso.db")) as connection:
        connection.execute("DROP TABLE inbox")

    with pytest.raises(Unavailable, match=r"sayso\.db can't be used"), surveyed(state / "sayso.db") as survey:
        survey.set_aside()
    with pytest.raises(Unavailable, match=r"none\.db can't be used"), surveyed(state / "none.db"):
        pass


def test_a_survey_writes_nothing(state: Path) -> None:
    """Its connection is read-only."""
    with pytest.raises(Unavailable, match="read-only"), surveyed(state / "sayso.db") as survey:
        survey.session.connection().exec_driver_sql("DELETE FROM inbox")


@pytest.mark.parametrize(
    "change", ["args = 'text'", "archived = 'text'", "created_at = 'text'", "version = x'00'", "approvers = 7"]
)
async def test_values_of_another_type_spoil_only_their_row(
    store: SqliteStore, state: Path, clock: SetClock, change: str
) -> None:
    """The row is named, and the other rows are still looked at."""
    calls = [a_call(clock.now()), a_call(clock.now())]
    for call in calls:
        await store.commit(Unit(None, lambda _, call=call: Change(call)))  # type: ignore[misc]
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        connection.execute(f"UPDATE calls SET {change} WHERE ref = ?", (calls[0].ref,))  # noqa: S608 - the test's own

    keys = Keyring(load(state / "keys.json"))
    examined = examine(state / "sayso.db", keys, Mark(state / "mark", keys))

    assert 2 == examined.calls
    assert calls[0].short in {flaw.particulars.get("short") for flaw in examined.flaws}
