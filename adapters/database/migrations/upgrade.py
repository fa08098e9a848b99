"""Runs the migrations on an open connection."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from sqlalchemy import StaticPool, create_engine
from sqlalchemy.exc import SQLAlchemyError

from adapters.database.wording import say
from hitl.errors import Unavailable
from hitl.proof.keyring import Keyring

if TYPE_CHECKING:
    from sqlalchemy import Connection


def config(connection: Connection | None = None, keys: Keyring | None = None, database: str = "") -> Config:
    """Return alembic's settings. Without a connection and keys, alembic can only list the migrations.

    `database` is the path of the database, for messages.
    """
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    made.attributes["connection"] = connection
    made.attributes["keys"] = keys
    made.attributes["database"] = database
    return made


def to_head(connection: sqlite3.Connection, database: str, keys: Keyring) -> None:
    """Bring the schema to the newest revision, in one transaction.

    Raises Unavailable if a migration fails or refuses the database. In that case the database is unchanged.
    """
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    try:
        with engine.connect() as wrapped:
            wrapped.exec_driver_sql("BEGIN IMMEDIATE")
            command.upgrade(config(wrapped, keys, database), "head")
            wrapped.commit()
    except SQLAlchemyError as error:
        raise Unavailable(say("database.migration", path=database, why=error)) from error


def new_schema() -> str:
    """Return an SQL script of one transaction that gives an empty database the schema of the last revision."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    to_head(connection, ":memory:", Keyring([("none", bytes(32))]))
    script = "".join(f"{statement}\n" for statement in connection.iterdump())
    connection.close()
    return script
