"""What `sayso doctor` and `sayso audit verify` read of a database, beside the service."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from adapters.database.keys import load
from adapters.database.sqlite.survey import surveyed
from hitl.errors import Unavailable
from hitl.ports import Change, Unit
from hitl.proof.keyring import Keyring
from hitl.testing import SetClock, a_call
from tests.sentences import raises

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.database.sqlite.store import SqliteStore


def test_a_database_without_our_tables_has_no_schema(tmp_path: Path) -> None:
    """Another program's database, or an empty file."""
    (tmp_path / "empty.db").touch()

    with surveyed(tmp_path / "empty.db") as survey:
        assert survey.schema is None


def test_a_missing_table_or_file_is_said(state: Path) -> None:
    """The error is the one that people are told, whatever library found it."""
    with closing(sqlite3.connect(state / "sayso.db")) as connection:
        connection.execute("DROP TABLE inbox")

    with raises(Unavailable, "database.foreign", names="inbox, inbox_open"), surveyed(state / "sayso.db"):
        pass
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
    with surveyed(state / "sayso.db") as survey:
        examined = survey.examine(keys, None)

    assert 2 == examined.calls
    assert calls[0].short in {flaw.particulars.get("short") for flaw in examined.flaws}
