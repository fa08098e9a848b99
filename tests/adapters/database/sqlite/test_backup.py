"""Copies of databases that another version of the program wrote."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from adapters.database import keys
from adapters.database.mark import Mark
from adapters.database.sqlite import schema
from adapters.database.sqlite.backup import back_up, restore
from hitl.errors import Unavailable
from hitl.proof.keyring import Keyring
from tests.sentences import raises

if TYPE_CHECKING:
    from pathlib import Path

    from hitl.testing import SetClock

#: The schema of a database -> the sentence about it.
OTHERS = {schema.REVISIONS[-2]: "database.older", "9999": "database.newer"}


def keyring(state: Path) -> Keyring:
    """The keys of a state folder."""
    return Keyring(keys.load(state / "keys.json"))


def as_of(database: Path, revision: str) -> None:
    """Give the database another schema's revision."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("update alembic_version set version_num = ?", (revision,))


@pytest.mark.parametrize("revision", OTHERS)
def test_a_database_of_another_version_is_named_and_not_copied(state: Path, tmp_path: Path, revision: str) -> None:
    """The error names the database, not a file that only the copy makes, and says what to do next."""
    database, found = state / "sayso.db", keyring(state)
    as_of(database, revision)
    with raises(Unavailable, OTHERS[revision], path=database):
        back_up(database, tmp_path / "copy.db", found, Mark(tmp_path / "mark", found))

    assert [] == list(tmp_path.glob("copy.db*"))


def test_a_backup_of_an_older_version_is_named_and_not_restored(state: Path, tmp_path: Path, clock: SetClock) -> None:
    """No start can bring a backup up to date, so the error says which version restores it."""
    database, copy, found = state / "sayso.db", tmp_path / "copy.db", keyring(state)
    back_up(database, copy, found, Mark(tmp_path / "mark", found))
    as_of(copy, schema.REVISIONS[-2])
    before = database.read_bytes()
    with raises(Unavailable, "database.copy.older", path=copy, schema=schema.REVISIONS[-2]):
        restore(copy, state, found, Mark(tmp_path / "mark", found), clock.now())

    assert before == database.read_bytes()
