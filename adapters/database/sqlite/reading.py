"""Reads rows that somebody may have changed by hand, so that one row with a wrong value hides no other row."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.sqlite.failures import primary_code
from hitl.proof.chain import is_intact
from hitl.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
    with _any_text(connection):
        return connection.execute(statement, values).fetchall()


@contextmanager
def _any_text(connection: sqlite3.Connection) -> Iterator[None]:
    """In the `with` block, read texts of the connection that aren't UTF-8, too (`readable`)."""
    connection.text_factory = readable
    try:
        yield
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
    # Nearly always the first line counts, so the others aren't fetched.
    with _any_text(connection):
        lines = map(rows.line_of, connection.execute(sql.NEWEST))
        return next((line.at for line in lines if ":" in line.hash and is_intact(keys, line)), moment(0))
