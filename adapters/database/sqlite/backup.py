"""Makes a verified copy of the database while the service runs, and restores a copy while no service runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.database import statements as sql
from adapters.database.folder import StateFolder, private_file
from adapters.database.mark import Mark
from adapters.database.sqlite import schema
from adapters.database.sqlite.cache import Known
from adapters.database.sqlite.credentials import credential_of_row, revoke_in
from adapters.database.sqlite.failures import unavailable
from adapters.database.sqlite.reading import newest_time
from adapters.database.sqlite.survey import surveyed
from adapters.database.wording import say
from hitl.credentials import OldTokens
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from hitl.proof.integrity import Examined
    from hitl.proof.keyring import Keyring

#: The endings of the two other files of a database: SQLite's write-ahead log and its index. Such a file can't be used
#: with another database.
_BESIDE = ("-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore."""

    examined: Examined
    #: The number of calls in the copy that aren't over.
    open_calls: int
    #: Whether calls may have run since the copy was made. If so, the next start ends every call that is open in the
    #: copy.
    behind: bool
    #: Whether a mark (`mark.py`) decided `behind`. Without a mark, `behind` is True if a call is open.
    marked: bool
    #: The new path of the database that the copy replaced, or None if there was no database.
    kept: Path | None
    #: The names of the tokens that the restore revoked, because they worked in the copy and should no longer work.
    revoked: frozenset[str]
    #: Whether the database that the copy replaced could tell which tokens were revoked since the copy was made.
    revocations_known: bool


def back_up(database: Path, copy: Path, keys: Keyring, mark: Mark) -> Examined:
    """Copy one consistent state of the database into a new file, and examine the copy.

    Only the service's user, who owns the database's folder, can read the copy, even if root makes it. The copy doesn't
    hold the keys. Raises Unavailable if the file exists already (the file then stays unchanged). Also raises
    Unavailable, and leaves no copy, if the copy can't be written or if the examination finds a flaw.
    """
    part = copy.with_name(copy.name + ".part")
    # The mark is read before the copy is made: a running service may write a later mark meanwhile.
    marked = mark.read()
    with surveyed(database) as survey:
        survey.must_be_current()
    try:
        if copy.exists():
            raise Unavailable(say("database.copy.there", path=copy))
        part.unlink(missing_ok=True)
        private_file(part)
        address = f"{database.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", (str(part),))
        with surveyed(part) as survey:
            examined = survey.examine(keys, marked)
        if examined.flaws:
            raise Unavailable(say("database.copy.flawed", path=database))
        if os.geteuid() == 0:
            owner = database.parent.stat()
            # Don't follow links: other users may be able to put a link to another file in the place of the copy.
            os.chown(part, owner.st_uid, owner.st_gid, follow_symlinks=False)
        sync(part)
        part.replace(copy)
        sync(copy.parent)
    except sqlite3.Error as error:
        raise unavailable(error, str(database)) from error
    except OSError as error:
        raise Unavailable(f"{copy} can't be written: {error.strerror}. Nothing was copied.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return examined


def restore(
    copy: Path, state: Path, keys: Keyring, mark: Mark, now: datetime, *, tokens: OldTokens | None = None
) -> Restored:
    """Replace the database with a copy.

    The old database stays in the same folder, under a name with the current time.

    A token that works in the copy may have been revoked after the copy was made. The restore revokes this token again,
    and adds a line about the revocation to the audit record. If the old database can't say which tokens were revoked,
    `tokens` decides whether all working tokens of the copy are kept or revoked.

    If there is no mark, the calls that are open in the copy may have run since. This function then writes a mark that
    is ahead of the copy, and so the next start ends the open calls.

    Raises Unavailable, and changes nothing, if a service uses the folder, if the copy can't be read or has another
    schema, if its examination finds a flaw, if its MACs are of other keys, or if `tokens` must be given and isn't.
    """
    if not copy.exists() and os.access(copy.parent, os.X_OK):
        raise Unavailable(say("database.copy.none", path=copy))
    if not os.access(copy, os.R_OK):
        raise Unavailable(say("database.copy.unreadable", path=copy, uid=os.geteuid()))
    with surveyed(copy) as survey:
        if survey.schema in schema.REVISIONS[:-1]:
            raise Unavailable(say("database.copy.older", path=copy, schema=survey.schema, known=schema.REVISIONS[-1]))
    folder = StateFolder.open(state)
    try:
        with surveyed(copy) as survey:
            examined = survey.examine(keys, None)
            if examined.flaws:
                raise Unavailable(say("database.copy.changed", path=copy))
            open_calls = sum(survey.open_calls().values())
            newest = survey.newest_position()
            working = survey.tokens() - survey.revoked_tokens()
        revived = _revoked_since(state / "sayso.db", working) if working else frozenset[str]()
        ended = _to_revoke(copy, working, revived, tokens)
        marked = mark.path.exists()
        beyond = not marked and open_calls > 0
        told = mark.read()
        with _ahead(mark, newest) if beyond else contextlib.nullcontext():
            kept = _put(copy, state / "sayso.db", now, lambda part: _revoke(part, ended, keys, now))
    finally:
        folder.close()
    return Restored(
        examined, open_calls, beyond or told is None or told[0] > newest, marked, kept, ended, revived is not None
    )


def _revoked_since(database: Path, working: set[str]) -> frozenset[str] | None:
    """Return the names of the tokens that work in the copy (`working`), but are revoked in the database.

    Return None if the database is missing or damaged.
    """
    try:
        with surveyed(database) as survey:
            return frozenset(working & survey.revoked_tokens())
    except Unavailable:
        return None


def _to_revoke(
    copy: Path, working: set[str], revived: frozenset[str] | None, tokens: OldTokens | None
) -> frozenset[str]:
    """Return the names of the tokens to revoke.

    The names are `revived`, if it isn't None. If `revived` is None, `tokens` decides: all working tokens, or no token.
    Raises Unavailable if both are None.
    """
    if revived is not None:
        return revived
    if tokens is None:
        raise Unavailable(say("database.copy.tokens", path=copy, names=", ".join(sorted(working))))
    return frozenset(working) if tokens is OldTokens.END else frozenset()


def _revoke(database: Path, names: frozenset[str], keys: Keyring, now: datetime) -> None:
    """Revoke these tokens in a database that no service uses, and add a line about each to the audit record."""
    if not names:
        return
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("BEGIN IMMEDIATE")
        at = max(now, newest_time(connection, keys))
        for row in connection.execute(sql.CREDENTIALS).fetchall():
            found = credential_of_row(row)
            if found.name in names:
                revoke_in(connection, keys, Known(()), found, f"local:{os.geteuid()}", at)
        connection.execute("COMMIT")


@contextlib.contextmanager
def _ahead(mark: Mark, newest: int) -> Iterator[None]:
    """A context manager that writes a mark one position after `newest`, the copy's last line.

    The database then counts as older than the mark. If the body of the `with` statement fails, the mark is removed
    again, because there was no mark before.
    """
    try:
        mark.write(newest + 1, "no line of this copy")
    except OSError as error:
        raise Unavailable(f"{mark.path} can't be written: {error.strerror}. Nothing was changed.") from error
    try:
        yield
    except BaseException:
        mark.path.unlink(missing_ok=True)
        raise


def _put(copy: Path, database: Path, now: datetime, prepare: Callable[[Path], None]) -> Path | None:
    """Replace the database with `copy`. Return the new path of the old database, or None if there was no database.

    At every moment, the path `database` has either the old database or the whole copy. `prepare` may change the copy
    before it replaces the database.
    """
    part = database.with_name(database.name + ".part")
    kept = database.with_name(f"{database.name}.{now:%Y%m%dT%H%M%SZ}") if database.exists() else None
    try:
        part.unlink(missing_ok=True)
        shutil.copyfile(copy, private_file(part))
        prepare(part)
        sync(part)
        if kept:
            os.link(database, kept)
            _part_with_log(database, kept)
        part.replace(database)
        sync(database.parent)
    except sqlite3.Error as error:
        raise unavailable(error, str(copy)) from error
    except OSError as error:
        raise Unavailable(say("database.copy.unplaced", path=database, why=error.strerror)) from error
    finally:
        part.unlink(missing_ok=True)
    return kept


def _part_with_log(database: Path, kept: Path) -> None:
    """Write SQLite's write-ahead log into the old database.

    If the old database is too damaged, rename the log so that it stays with the old database at the path `kept`. If the
    log kept its name, SQLite would apply it to the new database.
    """
    with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    for end in _BESIDE:
        with contextlib.suppress(FileNotFoundError):
            database.with_name(database.name + end).replace(kept.with_name(kept.name + end))


def sync(path: Path) -> None:
    """Make the contents of a file, or the names in a folder, durable. Raises OSError."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
