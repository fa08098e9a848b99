"""Databases of tests: an empty one to copy, changes by hand, and what `sayso audit verify` finds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.database.mark import Mark
from adapters.database.sqlite.schema import ensure
from adapters.database.sqlite.writer import connect
from hitl.proof.keyring import Keyring

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore
    from hitl.proof.integrity import Examined


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as the migrations leave it, made once; nobody writes to it."""
    database = tmp_path_factory.mktemp("migrated") / "sayso.db"
    connection = connect(database)
    ensure(connection, str(database), Keyring([("k1", b"1" * 32)]))
    connection.close()
    return database


def tamper(state: Path, statement: str, *values: object) -> None:
    """Change the database in this state folder as somebody with access to it would. The statement must change a row."""
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        assert connection.execute(statement, values).rowcount


def examined(store: SqliteStore, mark: Path) -> Examined:
    """Return what `sayso audit verify` finds in the database of this store, with the mark in this file."""
    from adapters.database.sqlite.survey import surveyed  # noqa: PLC0415 - SQLModel's import takes 0.2 s

    with surveyed(store.database) as survey:
        return survey.examine(store.keys, Mark(mark, store.keys).read())
