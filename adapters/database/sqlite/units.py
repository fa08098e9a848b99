"""Writes one unit (`hitl.ports.Unit`) inside the writer's transaction, which may have several units."""

from __future__ import annotations

import logging
import secrets
import sqlite3
from typing import TYPE_CHECKING, NoReturn

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.sqlite.cache import BEGINNING, End
from adapters.database.sqlite.reading import fetched
from hitl.call import Event, PostKind
from hitl.errors import Tampered
from hitl.ports import KeyTakenError, ShortTakenError
from hitl.proof import seals
from hitl.proof.chain import FIRST, chain, contradicted, steps_held, steps_of, with_args
from hitl.times import micros

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from adapters.database.sqlite.cache import Known
    from hitl.call import Call, Entry, Post
    from hitl.ports import Change, Expect, Unit
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
#: The columns in SQLite's message about a violated constraint -> the error of the port.
_TAKEN = {"calls.short": ShortTakenError, "calls.requester, calls.key": KeyTakenError}
_SALT_BYTES = 16
#: The largest position that SQLite can store. If a line has it, SQLite gives later lines free positions at random.
_LARGEST = 2**63 - 1
#: The words that set SQLite's setting `secure_delete`. The position of a word is the number that SQLite returns for it.
_SECURE_DELETE = ("OFF", "ON", "FAST")
#: The end of a call's audit chain, by the call's ref.
_Ends = dict[str, End]
#: The events that let a call run.
LETS_RUN = frozenset({Event.ALLOWED, Event.APPROVED, Event.CLAIMED, Event.RELEASED})
_LATER = {PostKind.EDIT: sql.QUEUE_EDIT, PostKind.NOTICE: sql.QUEUE_NOTICE}


def write(unit: Unit, keys: Keyring, known: Known, connection: sqlite3.Connection, now: datetime) -> Change | None:
    """Write the unit with the time `now`. Return its contents, or None if the unit's condition doesn't hold.

    Raises Tampered if the unit would repeat a step that the call's chain already has (decision, claim or result), if
    the chain lacks a step that this process wrote, or if the unit lets a call run that a restore should have ended.
    """
    change = unit.seal(now)
    entries, ends = change.entries, _Ends()
    if known.rolled_back is not None and _escaped(change, known.rolled_back):
        raise Tampered
    if unit.expect is not None:
        if not _swap(connection, unit.expect, change.call, now):
            return None
        if change.call is not None:
            ends[change.call.ref] = _end(connection, known, change.call.ref, entries)
    elif change.call is not None:
        entries = _begin(connection, change.call, entries)
        ends[change.call.ref] = BEGINNING
    last = _record(connection, keys, known, entries, ends, now)
    _add(connection, keys, change, now)
    known.noted(change.call, ends, last)
    return change


def _escaped(change: Change, rolled_back: datetime) -> bool:
    """Return whether the change lets a call run that was made before all open calls were ended (`rolled_back`).

    Such a call was made unreadable, or had no `due_at`, when the service started on the older database.
    """
    old = change.call is not None and change.call.created_at < rolled_back
    return old and any(entry.event in LETS_RUN for entry in change.entries)


def _swap(connection: sqlite3.Connection, expect: Expect, call: Call | None, now: datetime) -> bool:
    condition: tuple[object, ...] = (expect.ref, expect.version)
    if expect.overdue is not None:
        condition += (micros(now),)
    if call is None:
        return connection.execute(sql.HOLDS[expect.overdue], condition).fetchone() is not None
    if call.ref != expect.ref:
        raise ValueError(f"a swap of {expect.ref} can't write {call.ref}")
    if call.erased_at is not None:
        return _erase(connection, expect, call)
    return _update(connection, expect, call, condition)


def _update(connection: sqlite3.Connection, expect: Expect, call: Call, condition: tuple[object, ...]) -> bool:
    return connection.execute(sql.SWAP_CALL[expect.overdue], rows.mutable_values(call) + condition).rowcount == 1


def _erase(connection: sqlite3.Connection, expect: Expect, call: Call) -> bool:
    """Write an erased call. SQLite overwrites the old bytes with zeros, so that the file no longer holds them."""
    this = (expect.ref, expect.version)
    before = connection.execute("PRAGMA secure_delete").fetchone()[0]
    connection.execute("PRAGMA secure_delete=ON")
    try:
        erased = connection.execute(sql.ERASE_CALL, (*rows.erased_values(call), *this)).rowcount == 1
        return erased and _update(connection, expect, call, this)
    finally:
        connection.execute(f"PRAGMA secure_delete={_SECURE_DELETE[before]}")


def _end(connection: sqlite3.Connection, known: Known, ref: str, entries: Sequence[Entry]) -> End:
    """Return the end of a call's chain.

    Raises Tampered if the chain already has a step (decision, claim or result) that `entries` would record, or if it
    lacks a step that this process wrote.
    """
    end = known.end(ref)
    if end is None:
        end = _read_end(connection, ref)
        if steps_of(entries) and not known.done(ref) <= end.steps.done:
            raise Tampered
    if contradicted(end.steps, entries):
        raise Tampered
    return end


def _read_end(connection: sqlite3.Connection, ref: str) -> End:
    """Return the end of a chain in the database. Raises Tampered if somebody made a line unreadable."""
    lines = fetched(connection, sql.CHAIN, (ref,))
    if not lines:
        return BEGINNING
    seq, line, *_ = lines[-1]
    try:
        return End(_countable(seq), line, steps_held((event, data) for _, _, event, data in lines))
    except rows.UNREADABLE:
        raise Tampered from None


def _countable(seq: object) -> int:
    """Return the number of a line. Raises Tampered if no next line can follow it."""
    if type(seq) is not int or seq >= rows.COUNTABLE:
        raise Tampered
    return seq


def _begin(connection: sqlite3.Connection, call: Call, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Insert a new call, and return its entries for the audit record.

    The first entry has a salted hash of the arguments.
    """
    salt, args = secrets.token_bytes(_SALT_BYTES), rows.args_of(call)
    try:
        connection.execute(sql.INSERT_CALL, (*rows.fixed_values(call), *rows.mutable_values(call), salt, args))
    except sqlite3.IntegrityError as error:
        _explain(error)
    return [with_args(entry, salt, args) if place == 0 else entry for place, entry in enumerate(entries)]


def _explain(error: sqlite3.IntegrityError) -> NoReturn:
    taken = _TAKEN.get(str(error).removeprefix("UNIQUE constraint failed: "))
    if taken is None:
        raise error
    raise taken(str(error)) from error


def _add(connection: sqlite3.Connection, keys: Keyring, change: Change, now: datetime) -> None:
    for vote in change.votes:
        connection.execute(sql.INSERT_VOTE, rows.vote_values(vote))
    for post in change.posts:
        _queue(connection, post, now)
    for prompt in change.prompts:
        kept = (prompt.ref, prompt.principal, prompt.kind.value, micros(prompt.at), seals.prompt(keys, prompt))
        connection.execute(sql.KEEP_PROMPT, kept)
    if change.handled is not None:
        connection.execute(sql.EVENT_HANDLED, (micros(now), *change.handled))


def _record(
    connection: sqlite3.Connection,
    keys: Keyring,
    known: Known,
    entries: Sequence[Entry],
    ends: _Ends,
    now: datetime,
) -> tuple[int, str] | None:
    """Add a line for each entry to the chain of its call. If the end of a chain is known, store its new end in `ends`.

    Return the position and the hash of the last line, or None without entries.

    Raises Tampered if another program has added a line to the chain, or if the line wasn't stored.
    """
    last = None
    for entry in entries:
        end = ends.get(entry.ref) or known.end(entry.ref)
        if end is not None:
            seq, prev = end.seq, end.hash
        else:
            seq, prev = next(iter(fetched(connection, sql.LAST_LINE, (entry.ref,))), (0, FIRST))
            seq = _countable(seq)
        line = chain(keys, prev, seq + 1, now, entry)
        try:
            stored = connection.execute(sql.INSERT_LINE, rows.line_values(line))
        except sqlite3.IntegrityError:
            # Another program has written a line in this place. From now on, read this chain from the database again.
            known.doubted(entry.ref)
            raise Tampered from None
        if end is not None:
            ends[entry.ref] = End(line.seq, line.hash, end.steps.with_entry(entry))
        last = (_position(connection, stored, last[0] if last else known.position), line.hash)
    return last


def _position(connection: sqlite3.Connection, stored: sqlite3.Cursor, before: int) -> int:
    """Return the position of the line that was just stored in the whole record. `before` is that of the line before.

    SQLite gives the new line the position after the last line. If somebody deleted the end of the record, this position
    was used before. The line then gets the position after `before`, so that `sayso audit verify` finds the gap.
    """
    if stored.rowcount != 1 or stored.lastrowid is None:
        raise Tampered
    if stored.lastrowid > before or before == _LARGEST:
        return stored.lastrowid
    _log.error("store.lines_removed", {"first": stored.lastrowid, "last": before})
    connection.execute(sql.MOVE_LINE, (before + 1, stored.lastrowid))
    return before + 1


def _queue(connection: sqlite3.Connection, post: Post, now: datetime) -> None:
    place = (post.ref, post.route)
    if post.kind is PostKind.CARD:
        connection.execute(sql.KEEP_CARD, place)
        connection.execute(sql.QUEUE_CARD, (*place, micros(now)))
    else:
        connection.execute(_LATER[post.kind], (*place, micros(now)))
