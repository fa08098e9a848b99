"""Creates the schema of an empty database, checks the schema revision of an existing database, and migrates a database
with an older revision.

This module imports little. Only a migration imports alembic and SQLModel.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adapters.database.sqlite.failures import unavailable
from adapters.database.wording import say
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from hitl.proof.keyring import Keyring

#: The revisions of the migrations, oldest first. The other modules expect a database with the last revision.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
#: The schema of the last revision, as SQL. `python -m adapters.database.definitions` writes it from the migrations.
NEW_SCHEMA: Final = Path(__file__).with_name("schema.sql")


def ensure(connection: sqlite3.Connection, database: str, keys: Keyring) -> None:
    """Bring the schema to the last revision.

    If an older schema has rows without a MAC, each of them gets a MAC made with the keys.

    Raises Unavailable for a database that a newer or another program made. Such a database isn't changed.
    """
    found = revision(connection, database)
    if found == REVISIONS[-1]:
        return
    if found is None and _is_empty(connection):
        _create(connection, database)
        return
    if found is not None and found not in REVISIONS:
        raise Unavailable(say("database.newer", path=database, schema=found, newest=REVISIONS[-1]))
    # alembic and SQLModel take longer to import than the rest of the service.
    from adapters.database.migrations import upgrade  # noqa: PLC0415

    upgrade.to_head(connection, database, keys)


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
