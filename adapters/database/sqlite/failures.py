"""Explains SQLite's errors to people: why nothing was recorded, and what to do."""

from __future__ import annotations

import sqlite3

from hitl.errors import Unavailable

#: The reason and the remedy for people, by SQLite's primary result code (https://www.sqlite.org/rescode.html).
_SAID = {
    sqlite3.SQLITE_FULL: "the disk is full. Free some space, then try again",
    sqlite3.SQLITE_READONLY: "it is read-only. Make it and its folder writable, then try again",
    sqlite3.SQLITE_IOERR: "the disk reports an error. Check the disk and its space, then try again",
    sqlite3.SQLITE_BUSY: "another program holds it locked. End that program's transaction, then try again",
    sqlite3.SQLITE_LOCKED: "another program holds it locked. End that program's transaction, then try again",
    sqlite3.SQLITE_CORRUPT: "it is damaged. Stop the service and restore the file from a backup",
    sqlite3.SQLITE_NOTADB: "it isn't a database. Stop the service and restore the file from a backup",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened. Check that the folder exists and who owns it",
    sqlite3.SQLITE_NOMEM: "there is no memory left. Free some, then try again",
}

#: Errors that only the unit with the wrong value or key causes. SQLite undoes the failed statement, and the transaction
#: can go on.
_OWN = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)


def primary_code(error: Exception) -> int:
    """Return the primary result code of an error, or 0 for an error that SQLite itself didn't raise."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def unavailable(error: sqlite3.Error, what: str) -> Unavailable:
    """Return an error for people with the reason and the remedy. `what` is the path of the database."""
    said = _SAID.get(primary_code(error), "SQLite refuses it")
    return Unavailable(f"The database {what} can't be used: {said} ({error}). Nothing was changed.")


def spoils(error: Exception) -> bool:
    """Return whether the error affects the whole transaction, and not only the unit that raised it."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _OWN)


def is_locked(error: Exception) -> bool:
    """Return whether another connection locks the database, so that waiting may help."""
    return primary_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
