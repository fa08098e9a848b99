"""Runs the migrations on a connection that is open already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from sqlalchemy import StaticPool, create_engine
from sqlalchemy.exc import SQLAlchemyError

from hitl.errors import Unavailable

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Connection

    from hitl.proof.keyring import Keyring


def config(connection: Connection | None = None, keys: Keyring | None = None) -> Config:
    """Alembic's settings. Without a connection and keys, only the scripts can be looked at."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    made.attributes["connection"] = connection
    made.attributes["keys"] = keys
    return made


def to_head(connection: sqlite3.Connection, database: str, keys: Keyring) -> None:
    """Bring the schema to the newest revision, in one transaction: all of it, or nothing.

    Raises Unavailable where that fails; the database is left as it was.
    """
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    try:
        with engine.connect() as wrapped:
            wrapped.exec_driver_sql("BEGIN IMMEDIATE")
            command.upgrade(config(wrapped, keys), "head")
            wrapped.commit()
    except SQLAlchemyError as error:
        raise Unavailable(
            f"The database {database} can't be brought up to date ({error}). Nothing was changed; restore it from a"
            " backup, or name another folder with --state."
        ) from error
