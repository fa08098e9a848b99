"""Reads rows that somebody may have changed by hand, so that one row with a wrong value hides no other row."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.sqlite.failures import primary_code
from hitl.proof.chain import is_intact
from hitl.times import moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hitl.proof.keyring import Keyring


def fetched(connection: sqlite3.Connection, statement: str, values: Sequence[object] = ()) -> list[Any]:
    """Return all rows of a statement. Raises sqlite3.Error.

    A text that isn't valid UTF-8 gets the replacement character (U+FFFD), so the MAC of its row is wrong. SQLite stores
    such a text, but Python refuses all rows of the statement because of it.
    """
    try:
        return connection.execute(statement, values).fetchall()
    except sqlite3.OperationalError as error:
        if primary_code(error):
            raise
    connection.text_factory = readable
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.text_factory = str


def readable(text: bytes) -> str:
    """Return a stored text, with the replacement character (U+FFFD) in place of bytes that aren't UTF-8."""
    return text.decode("utf-8", "replace")


def newest_time(connection: sqlite3.Connection, keys: Keyring) -> datetime:
    """Return the newest time in the latest lines of the audit record, or the year 1970 for an empty record.

    Only lines with a valid MAC count: with a forged later time, the service's clock would stand until then, and no
    deadline would come. Raises sqlite3.Error.
    """
    lines = map(rows.line_of, fetched(connection, sql.NEWEST))
    return next((line.at for line in lines if ":" in line.hash and is_intact(keys, line)), moment(0))
