"""Explains SQLite's errors to people: why nothing was recorded, and what to do."""

from __future__ import annotations

import sqlite3

from adapters.database.wording import say
from hitl.errors import Unavailable

#: The key of the sentence with the reason and the remedy (`adapters.database.wording`), by SQLite's primary result code
#: (https://www.sqlite.org/rescode.html).
_SAID = {
    sqlite3.SQLITE_FULL: "database.full",
    sqlite3.SQLITE_READONLY: "database.readonly",
    sqlite3.SQLITE_IOERR: "database.disk",
    sqlite3.SQLITE_BUSY: "database.locked",
    sqlite3.SQLITE_LOCKED: "database.locked",
    sqlite3.SQLITE_CORRUPT: "database.damaged",
    sqlite3.SQLITE_NOTADB: "database.other",
    sqlite3.SQLITE_CANTOPEN: "database.unopened",
    sqlite3.SQLITE_NOMEM: "database.memory",
    sqlite3.SQLITE_AUTH: "database.planted",
}

#: Errors that affect only the unit of work with a wrong value or key. SQLite undoes the failed statement, and the
#: transaction with the other units can continue.
_OWN = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)


def primary_code(error: Exception) -> int:
    """Return the primary result code of an error, or 0 for an error that SQLite itself didn't raise."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def unavailable(error: sqlite3.Error, what: str) -> Unavailable:
    """Return an error for people with the reason and the remedy. `what` is the path of the database."""
    reason = say(_SAID.get(primary_code(error), "database.refused"))
    return Unavailable(say("database.unusable", path=what, reason=reason, error=error))


def spoils(error: Exception) -> bool:
    """Return whether the error affects the whole transaction. If not, it affects only the unit that raised it."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _OWN)


def is_locked(error: Exception) -> bool:
    """Return whether another connection locks the database, so that waiting may help."""
    return primary_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
