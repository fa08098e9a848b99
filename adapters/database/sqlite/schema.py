"""Creates the schema of an empty database, checks the schema revision of an existing database, and migrates a database
with an older revision.

This module imports little. Only a migration imports alembic and SQLModel.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adapters.database.sqlite.failures import unavailable
from adapters.database.wording import say
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from hitl.proof.keyring import Keyring

#: The revisions of the migrations, oldest first. The other modules expect a database with the last revision.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
#: The schema of the last revision, as SQL. `python -m adapters.database.definitions` writes it from the migrations.
NEW_SCHEMA: Final = Path(__file__).with_name("schema.sql")
#: The tables that SQLite itself makes: the numbers of AUTOINCREMENT, and the statistics of the command ANALYZE. No
#: decision depends on their contents.
_OF_SQLITE = frozenset(
    {
        ("sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
        ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    }
)


def ensure(connection: sqlite3.Connection, database: str, keys: Keyring) -> None:
    """Bring the schema to the last revision.

    If an older schema has rows without a MAC, each of them gets a MAC made with the keys.

    Raises Unavailable for a database that a newer or another program made. Such a database isn't changed. Also raises
    the error of `must_be_own`.
    """
    found = revision(connection, database)
    if found is None and _is_empty(connection):
        _create(connection, database)
        return
    if found is not None and found not in REVISIONS:
        raise Unavailable(say("database.newer", path=database, schema=found, newest=REVISIONS[-1]))
    if found != REVISIONS[-1]:
        # alembic and SQLModel take longer to import than the rest of the service.
        from adapters.database.migrations import upgrade  # noqa: PLC0415

        upgrade.to_head(connection, database, keys)
    must_be_own(connection, database)


def must_be_own(connection: sqlite3.Connection, database: str) -> None:
    """Raise Unavailable unless the database has exactly the tables and indexes of the last revision.

    The error names each table, index, trigger and view that is missing, is new, or was made by another statement. MACs
    protect rows, but not the schema. A trigger or a view could undo or hide what the service writes: a claim, for
    example, so that the call runs again. Also raises Unavailable if the schema can't be read.
    """
    try:
        stored = connection.execute("select name, sql from sqlite_master where sql is not null").fetchall()
    except sqlite3.Error as error:
        raise unavailable(error, database) from error
    # A trigger may have the name of a table, so the statements are compared, and not only the names.
    found = {(str(name), " ".join(str(made).split())) for name, made in stored}
    wrong = (found ^ _own()) - _OF_SQLITE
    if wrong:
        raise Unavailable(say("database.foreign", path=database, names=", ".join(sorted({name for name, _ in wrong}))))


@cache
def _own() -> AbstractSet[tuple[str, str]]:
    """Return the name and the statement, with single spaces, of each table and index of the last revision."""
    made = (" ".join(each.split()) for each in NEW_SCHEMA.read_text("utf-8").split(";"))
    return frozenset((_name(each), each) for each in made if each.startswith("CREATE "))


def _name(statement: str) -> str:
    """Return the name of the table or index that a statement of `NEW_SCHEMA` makes."""
    words = statement.replace("CREATE UNIQUE", "CREATE", 1).split()
    return words[2]


def revision(connection: sqlite3.Connection, database: str) -> str | None:
    """Return the revision of the database's schema, or None if no migration has run. Raises Unavailable."""
    try:
        there = connection.execute("select 1 from sqlite_master where name = 'alembic_version'").fetchone()
        row = connection.execute("select version_num from alembic_version").fetchone() if there else None
    except sqlite3.Error as error:
        raise unavailable(error, database) from error
    return row[0] if row else None


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("select 1 from sqlite_master limit 1").fetchone() is None


def _create(connection: sqlite3.Connection, database: str) -> None:
    """Create all tables of the last revision in one transaction.

    Raises Unavailable, and leaves the database empty, if the tables can't be created.
    """
    try:
        connection.executescript(NEW_SCHEMA.read_text("utf-8"))
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.rollback()
        raise unavailable(error, database) from error
