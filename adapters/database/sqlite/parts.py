"""The parts of the port `Store` on SQLite. They share one writer and one connection for reads."""

from __future__ import annotations

import heapq
import json
import logging
import sqlite3
import sys
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.database import rows
from adapters.database import statements as sql
from adapters.database.sqlite import units
from adapters.database.sqlite.failures import unavailable
from hitl.call import Bound, PostKind, Prompt
from hitl.errors import Tampered
from hitl.proof import seals
from hitl.times import micros, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from adapters.database.sqlite.cache import Known
    from adapters.database.sqlite.writer import Writer
    from hitl.call import Call, Incoming, PromptKind, Recorded, Sending, Vote
    from hitl.ports import Change, Clock, Unit
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
#: A text that sorts after every ref, because refs are UUIDs.
_BEHIND_ALL = "~"


class Part:
    """The objects that every part uses: the writer, the connection for reads, the clock, the keys, and the pending
    calls in memory (`cache.py`).
    """

    def __init__(self, writer: Writer, reader: sqlite3.Connection, clock: Clock, keys: Keyring, known: Known) -> None:
        self.keys = keys
        self._writer = writer
        self._reader = reader
        self._memory = known
        self.clock = clock

    def _read(self, statement: str, *values: object) -> list[Any]:
        connection = self._writer.lends or self._reader
        try:
            return connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise unavailable(error, self._writer.database) from error


class SqliteCalls(Part):
    """Stores calls, votes and the audit record (`hitl.ports.Calls`).

    A read sees every write whose method has returned.
    """

    async def commit(self, unit: Unit) -> Change | None:
        """Write the whole unit or nothing. Return its contents, or None if its condition doesn't hold.

        The unit is on disk when the method returns.
        """
        return await self._writer.submit(partial(units.write, unit, self.keys, self._memory), new=unit.new)

    async def get(self, ref: str) -> Call | None:
        """Return the call with this ref, or None."""
        return self._call(sql.CALL_BY_REF, ref)

    async def by_short(self, short: str) -> Call | None:
        """Return the call with this short ref, or None."""
        return self._call(sql.CALL_BY_SHORT, short)

    async def by_key(self, requester: str, key: str) -> Call | None:
        """Return the call that the requester made with this idempotency key, or None."""
        return self._call(sql.CALL_BY_KEY, requester, key)

    async def page(self, before: str | None, limit: int, *, pending: bool) -> Sequence[Call]:
        """Return at most `limit` calls, the newest first. If `before` is given, the calls are older than that call."""
        before = _BEHIND_ALL if before is None else before
        if not pending:
            return self._calls(sql.CALLS_BEFORE, before, limit)
        older = (ref for ref in self._memory.waiting(sys.maxsize) if ref < before)
        found = self._waiting(heapq.nlargest(limit, older), limit)
        # The refs of calls that were made in the same millisecond aren't in the order of time. A ref is the cursor of
        # the next page, so the calls of a page must be in the order of their refs.
        return sorted(found, key=lambda call: call.ref, reverse=True)

    async def votes(self, ref: str) -> Sequence[Vote]:
        """Return the votes on a call, the oldest first."""
        return [rows.vote_of(row) for row in self._read(sql.VOTES, ref)]

    async def pending(self, *, origin: str | None = None, limit: int = 1000) -> Sequence[Call]:
        """Return the pending calls of one conversation or of all conversations, the oldest first."""
        if origin is None:
            return self._waiting(self._memory.waiting(limit), limit)
        return self._waiting(self._memory.asked_in(origin, limit), limit)

    async def standing(self, place: str, thread: str | None = None, *, limit: int = 1000) -> Sequence[Call]:
        """Return the pending calls that were asked in a conversation or have a card there, the oldest first.

        `place` is the conversation. If `thread` is the message id of a pending call's card, the result includes this
        call.
        """
        refs = self._memory.standing_in(place, limit)
        under = [row[0] for row in self._read(sql.CARD_OF_MESSAGE, thread)] if thread else []
        return self._waiting([*refs, *filter(self._memory.waits, under)], limit)

    async def count_open(self, requester: str, limit: int, agent: str | None = None) -> int:
        """Return the number of the requester's pending calls, at most `limit`.

        With `agent`, count only that agent's pending calls.
        """
        return min(limit, self._memory.count(requester, agent))

    async def pending_refs(self) -> Sequence[str]:
        """Return the refs of all pending calls, the oldest first."""
        return self._memory.waiting(sys.maxsize)

    async def same_open(self, digest: str, agent: str) -> Call | None:
        """Return the oldest pending call with this digest from this agent, or None."""
        alike = [await self.get(ref) for ref in self._memory.same(digest, agent)]
        return next((call for call in alike if call is not None and call.digest == digest), None)

    async def due(self, limit: int) -> Sequence[Call]:
        """Return the calls whose `due_at` has passed, the most overdue first."""
        return self._calls(sql.CALLS_DUE, micros(self.clock.now()), limit)

    async def next_due(self) -> datetime | None:
        """Return the earliest `due_at` of all calls, or None."""
        due_at = self._read(sql.NEXT_DUE)[0][0]
        return None if due_at is None else moment(due_at)

    async def leased(self, owner: str, limit: int = 1000) -> Sequence[Call]:
        """Return the claimed calls that haven't ended, the oldest first.

        `owner` is the beginning of a claimant's name. For example, `service:` selects the calls that a service has
        claimed to run them itself.
        """
        return self._calls(sql.CALLS_LEASED, owner, limit)

    async def unfinished(self, limit: int = 1000) -> Sequence[Call]:
        """Return the calls that haven't ended, the oldest first."""
        return self._calls(sql.CALLS_OPEN, limit)

    async def prompt(self, ref: str, principal: str, kind: PromptKind) -> Prompt | None:
        """Return the open question of this kind to this person about this call, or None."""
        found = self._read(sql.PROMPT, ref, principal, kind.value)
        if not found:
            return None
        left = Prompt(ref, principal, kind, moment(found[0][0]))
        return left if intact("prompt", ref, seals.prompt_holds(self.keys, found[0][1], left)) else None

    async def history(self, ref: str) -> Sequence[Recorded]:
        """Return the audit record's lines of one call, the oldest first.

        The ref '' selects the lines that belong to no call: the events of the service itself.
        """
        return [rows.line_of(row) for row in self._read(sql.LINES, ref)]

    def _call(self, statement: str, *values: object) -> Call | None:
        found = self._read(statement, *values)
        if not found:
            return None
        call = _decoded(found[0])
        if call is None:
            raise Tampered
        return call

    def _waiting(self, refs: Sequence[str], limit: int) -> Sequence[Call]:
        """Return the pending calls among these refs, the oldest first."""
        return self._calls(sql.CALLS_WAITING, json.dumps(refs), limit) if refs else []

    def _calls(self, statement: str, *values: object) -> Sequence[Call]:
        """Return the calls that a statement finds. Unreadable rows are left out, so that they don't hide the others."""
        return [call for call in map(_decoded, self._read(statement, *values)) if call is not None]


class SqliteChanges(Part):
    """Tells listeners about each change, and reads the audit record from a position on (`hitl.ports.Changes`)."""

    def follow(self, hear: Callable[[Change], None]) -> Callable[[], None]:
        """Call `hear` with each change that is on disk from now on. Return a function that ends this."""
        return self._writer.listeners.add(hear)

    async def lines_after(self, place: int, limit: int) -> Sequence[tuple[int, Recorded]]:
        """Return the lines after a position in the whole record, the oldest first, each with its position."""
        return [(row[0], rows.line_of(row[1:])) for row in self._read(sql.LINES_AFTER, place, limit)]

    async def last_line(self) -> int:
        """Return the position of the newest line in the whole record, or 0 for an empty record."""
        found = self._read(sql.LAST)
        return int(found[0][0]) if found else 0


class SqliteOutbox(Part):
    """Stores the messages that are still to be sent, and the cards (`hitl.ports.Outbox`)."""

    async def sendings(
        self, *, lease_s: float, limit: int = 20, busy: Collection[str] = (), calm: Collection[str] = ()
    ) -> Sequence[Sending]:
        """Lease the next outbox row of each route that isn't busy, if the row may be sent now.

        The routes in `calm` get no refreshes of pending cards. If the row is an edit, the later edits of the same card
        are deleted, because the edit will show the newest state.
        """

        def lease(connection: sqlite3.Connection, now: datetime) -> Sequence[Sending]:
            but = [json.dumps(list(routes)) for routes in (busy, calm)]
            ready = connection.execute(sql.TO_SEND, (micros(now), *but, limit)).fetchall()
            leased = [rows.sending_of(row, self.keys) for row in ready]
            until = micros(now + timedelta(seconds=lease_s))
            for sending in leased:
                connection.execute(sql.LEASE_SENDING, (until, sending.id))
                if sending.post.kind is PostKind.EDIT:
                    connection.execute(sql.DROP_LATER_EDITS, (sending.post.ref, sending.post.route, sending.id))
            return leased

        if not self._read(sql.ANYTHING_TO_SEND, micros(self.clock.now())):
            return ()
        return await self._writer.submit(lease)

    async def sent(self, sending: Sending, message: str | None) -> None:
        """Delete an outbox row, because the platform took its message.

        If the message is a new card, store the message id.
        """
        post = sending.post

        def done(connection: sqlite3.Connection, _now: datetime) -> None:
            connection.execute(sql.DROP_SENDING, (sending.id,))
            if post.kind is PostKind.CARD:
                mac = message and seals.card(self.keys, post.ref, post.route, message)
                connection.execute(sql.CARD_SENT, (post.ref, post.route, message, mac))

        await self._writer.submit(done)

    async def unsent(self, sending: Sending, error: str, *, retry_s: float | None) -> None:
        """After a failure to send, retry the row in `retry_s` seconds. If `retry_s` is None, never send it."""

        def failed(connection: sqlite3.Connection, now: datetime) -> None:
            if retry_s is None:
                _give_up(connection, sending, error, now)
            else:
                again = micros(now + timedelta(seconds=retry_s))
                connection.execute(sql.PUT_OFF_SENDING, (again, error, sending.id))

        await self._writer.submit(failed)

    async def hasten(self, platform: str) -> None:
        """End the wait before a retry for all outbox rows of a platform: they may be sent now."""

        def free(connection: sqlite3.Connection, now: datetime) -> None:
            connection.execute(sql.HASTEN, (micros(now), f"{platform}:", f"{platform};"))

        await self._writer.submit(free)

    async def adopt(self, ref: str, route: str, message: str) -> None:
        """Store the message id of a card that turned out to be on its route already, and don't post it there again."""

        def stands(connection: sqlite3.Connection, _now: datetime) -> None:
            mac = seals.card(self.keys, ref, route, message)
            connection.execute(sql.CARD_STANDS, (ref, route, message, mac))
            connection.execute(sql.DROP_POSTING, (ref, route))

        await self._writer.submit(stands)

    async def by_message(self, message: str) -> tuple[str, str] | None:
        """Return ref and route of the card with this message id, or None."""
        found = self._read(sql.CARD_OF_MESSAGE, message)
        if not found:
            return None
        ref, route, mac = found[0]
        return (ref, route) if intact("card", ref, seals.card_holds(self.keys, mac, ref, route, message)) else None

    async def cards(self, ref: str) -> Mapping[str, str | None]:
        """Return route -> message id of the call's card, for each route on which the card is or will be.

        The message id is None until the card is posted. It is also None if the card's MAC is wrong.
        """
        return {route: self._known(ref, route, message, mac) for route, message, mac in self._read(sql.CARDS, ref)}

    def _known(self, ref: str, route: str, message: str | None, mac: str | None) -> str | None:
        """Return the message id of a card if its MAC is valid, else None."""
        stands = message is not None and intact("card", ref, seals.card_holds(self.keys, mac, ref, route, message))
        return message if stands else None


class SqliteInbox(Part):
    """Stores the events of chat platforms, and whether each was handled (`hitl.ports.Inbox`)."""

    async def receive(self, source: str, event: str, order: str, body: bytes) -> bool:
        """Store a raw event of a platform. Return False if an event with this source and id is stored already.

        Events with the same `order` are handled one after the other.
        """

        def keep(connection: sqlite3.Connection, now: datetime) -> bool:
            values = (source, event, order, body, micros(now), seals.event(self.keys, source, event, order, body, now))
            return connection.execute(sql.INSERT_EVENT, values).rowcount == 1

        return await self._writer.submit(keep)

    async def incoming(self, limit: int = 100) -> Sequence[Incoming]:
        """Return, for each conversation, its oldest event that was neither handled nor set aside."""
        return [rows.incoming_of(row, self.keys) for row in self._read(sql.EVENTS_OPEN, limit)]

    async def newest(self, source: str) -> Incoming | None:
        """Return the event of a source that was stored last, or None."""
        found = self._read(sql.NEWEST_EVENT, source)
        return rows.incoming_of(found[0], self.keys) if found else None

    async def stumble(self, source: str, event: str, error: str, *, aside_after: int) -> bool | None:
        """Count a failure to handle the event. After `aside_after` failures, set the event aside: the service won't try
        it again.

        Return whether this failure set the event aside. Return None, and don't count the failure, if the event was
        handled or set aside before.
        """

        def count(connection: sqlite3.Connection, now: datetime) -> bool | None:
            values = (error, aside_after, micros(now), source, event)
            row = connection.execute(sql.EVENT_FAILED, values).fetchone()
            return None if row is None else row[0] is not None

        return await self._writer.submit(count)


class SqliteConversations(Part):
    """Stores moved conversations, and the calls that messages are about (`hitl.ports.Conversations`)."""

    async def moves(self) -> Mapping[str, str]:
        """Return the old and the new place (`telegram:-100123`) of each conversation that its platform moved."""
        moves = self._read(sql.MOVES)
        return {o: n for o, n, mac in moves if intact("move", o, seals.move_holds(self.keys, mac, o, n))}

    async def move(self, old: str, new: str) -> None:
        """Store the new place of a conversation, and queue the cards of its pending calls for posting there."""

        def moved(connection: sqlite3.Connection, now: datetime) -> None:
            if connection.execute(sql.KEEP_MOVE, (old, new, seals.move(self.keys, old, new))).rowcount:
                connection.execute(sql.CARDS_LOST, (old,))
                connection.execute(sql.REQUEUE_CARDS, (old, micros(now)))

        await self._writer.submit(moved)

    async def said(self) -> Mapping[str, tuple[str, str | None]]:
        """Return, by private conversation, the id of the service's latest message there, and the ref of the message's
        call.

        The ref is None if the message is about no call. A conversation is left out if its latest message isn't known.
        """
        return {
            place: (message, ref)
            for place, message, ref, mac in self._read(sql.TALKS)
            if intact("talk", place, seals.talk_holds(self.keys, mac, place, message, ref))
        }

    async def say(self, place: str, message: str | None, ref: str | None) -> None:
        """Store the id of the service's latest message in a conversation, and the ref of the call that the message is
        about.

        If `message` is None, delete the stored id.
        """

        def keep(connection: sqlite3.Connection, _now: datetime) -> None:
            if message is None:
                connection.execute(sql.DROP_TALK, (place,))
            else:
                connection.execute(sql.KEEP_TALK, (place, message, ref, seals.talk(self.keys, place, message, ref)))

        await self._writer.submit(keep)

    async def bind(self, bound: Bound) -> None:
        """Store which call a message of the service is about. If the message is stored already, nothing changes."""

        def keep(connection: sqlite3.Connection, _now: datetime) -> None:
            connection.execute(sql.KEEP_MESSAGE, (bound.message, bound.ref, bound.asks, bound.mac))

        await self._writer.submit(keep)

    async def bound(self, message: str) -> Bound | None:
        """Return the stored link from a message of the service to a call, or None."""
        found = self._read(sql.MESSAGE, message)
        return Bound(*found[0]) if found else None


def _decoded(row: Sequence[Any]) -> Call | None:
    """Return the call in a row. For a row that can't be read, log an error and return None."""
    try:
        return rows.call_of(row)
    except rows.UNREADABLE:
        _log.error("a row that no version of sayso wrote is left out: %s", row[0])
        return None


def intact(what: str, ref: str, holds: bool) -> bool:  # noqa: FBT001 - the function returns this argument
    """Return `holds`: whether the MAC of a row is valid.

    If the MAC is wrong, log an error; the caller ignores the row.
    """
    if not holds:
        _log.error("store.tampered", {"what": what, "ref": ref})
    return holds


def _give_up(connection: sqlite3.Connection, sending: Sending, error: str, now: datetime) -> None:
    """Delete the outbox row, and store the error with the card.

    Does nothing if the row is gone: another sender sent it.
    """
    post = sending.post
    if connection.execute(sql.DROP_SENDING, (sending.id,)).rowcount == 0:
        return
    if post.kind is not PostKind.CARD:
        connection.execute(sql.EDIT_FAILED, (error, post.ref, post.route))
        return
    connection.execute(sql.CARD_FAILED, (micros(now), error, post.ref, post.route))
    connection.execute(sql.DROP_EDITS, (post.ref, post.route))
