"""What SQLite's errors mean for people: why nothing was recorded, and what to do about it."""

from __future__ import annotations

import sqlite3

from hitl.errors import Unavailable

#: Primary result code (https://www.sqlite.org/rescode.html) -> why, and what to do.
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

#: Errors of one unit's own values or keys: SQLite undoes the statement, the transaction stays good.
_OWN = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)


def primary_code(error: Exception) -> int:
    """The primary result code; 0 for an error that didn't come from SQLite itself."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def unavailable(error: sqlite3.Error, what: str) -> Unavailable:
    """The error that people are told for the database file `what`."""
    said = _SAID.get(primary_code(error), "SQLite refuses it")
    return Unavailable(f"The database {what} can't be used: {said} ({error}). Nothing was changed.")


def spoils(error: Exception) -> bool:
    """Whether the error says that the whole transaction is in doubt, not just the unit that met it."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _OWN)


def is_locked(error: Exception) -> bool:
    """Whether somebody else holds the database, so that waiting may help."""
    return primary_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
