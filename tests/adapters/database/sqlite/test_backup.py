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


class MovingMark(Mark):
    """The mark of a service that goes on: as soon as the copy is made, the service writes a later mark."""

    copy: Path

    def read(self) -> tuple[int, str] | None:
        """Return the mark. Whoever reads it after the copy was made gets the later one."""
        part = self.copy.with_name(self.copy.name + ".part")
        if part.exists() and part.stat().st_size:
            self.write(1, "a line that the copy doesn't have")
        return super().read()


def test_a_mark_that_moves_on_while_the_copy_is_examined_is_no_flaw(state: Path, tmp_path: Path) -> None:
    """A service may let a call run between the copy and its examination. The copy is compared with the earlier mark."""
    found = keyring(state)
    mark = MovingMark(tmp_path / "mark", found)
    mark.copy = tmp_path / "copy.db"

    examined = back_up(state / "sayso.db", mark.copy, found, mark)

    assert () == examined.flaws
    assert mark.copy.exists()
