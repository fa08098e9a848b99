"""`/v1/events`: the events of the calls that a caller may see, as server-sent events or over a WebSocket.

Server-sent events and the WebSocket use the same cursor: the position of a line in the audit record, which is still
valid after a restart. A client that connects again with its last cursor gets every later event once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cachetools import LRUCache, TTLCache
from fastapi import APIRouter, Header, Query, Request, WebSocket
from starlette.responses import Response, StreamingResponse
from starlette.websockets import WebSocketDisconnect

from adapters.http import models
from adapters.http.callers import CALLER, Anyone, Caller
from adapters.http.responses import answer, documented
from adapters.http.wording import say
from hitl.call import Event
from hitl.errors import InvalidConfirmation, NotApprover, SaysoError, TooManyPending, Unauthenticated
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from hitl.call import Call, Recorded
    from hitl.gate import Gate
    from hitl.ports import Change, Changes

router = APIRouter(prefix="/v1", tags=["events"])
#: A stream sends an empty message after this many seconds without an event. Proxies commonly close a silent stream
#: after 60 seconds.
_SILENCE_S = 15.0
#: The number of lines that are read from the audit record at a time.
_LINES = 200
#: The number of positions after which lines are kept for the streams. Nearly all streams are at the newest line.
_POSITIONS = 16
#: One caller may have at most this many streams open at the same time.
_MOST_STREAMS = 256
#: The pattern of a cursor, which is a position in the audit record: a decimal number that fits into 64 bits.
_CURSOR = "^[0-9]{1,18}$"
_TICKET_S = 30
_MOST_TICKETS = 10_000
#: The codes with which a WebSocket is closed: if its caller is refused, and when the service stops (RFC 6455, 7.4.1).
_POLICY_VIOLATION, _GOING_AWAY = 1008, 1001
#: The events of the audit record that a stream sends. It leaves out the other events, such as single replies and
#: deliveries of messages.
_TOLD = frozenset(
    {
        *(Event.ASKED, Event.ALLOWED, Event.DENIED, Event.VOTED, Event.APPROVED, Event.REJECTED, Event.REASON),
        *(Event.NO_REASON, Event.EXPIRED, Event.WITHDRAWN, Event.UNDELIVERABLE, Event.CLAIMED, Event.RELEASED),
        *(Event.SUCCEEDED, Event.FAILED, Event.TIMED_OUT, Event.REFUSED, Event.LAPSED, Event.UNKNOWN),
        Event.TAMPERED,
    }
)


class _Told(NamedTuple):
    """A line of the audit record. `call` is None if streams don't send this line."""

    place: int
    call: Call | None
    event: dict[str, Any]


class Feed:
    """Wakes the streams when the audit record has a new line for them.

    `check` raises Unauthenticated for a caller whose token or right has ended.
    """

    def __init__(self, gate: Gate, stopping: asyncio.Event, check: Callable[[Caller], None]) -> None:
        self._gate = gate
        self._check = check
        self._changes: Changes = gate.store
        self.stopping = stopping
        self._woken: asyncio.Future[None] | None = None
        self._counts: dict[str, int] = {}
        self._tickets: TTLCache[str, Caller] = TTLCache(_MOST_TICKETS, _TICKET_S)
        self._read: LRUCache[int, asyncio.Task[Sequence[_Told]]] = LRUCache(_POSITIONS)
        self._changes.follow(self._heard)

    def _heard(self, change: Change) -> None:
        if change.call is not None or any(entry.event in _TOLD for entry in change.entries):
            self.wake()

    def wake(self) -> None:
        """Let every stream look for new lines in the audit record."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)
        self._woken = None
        self._read.clear()

    def ticket(self, caller: Caller) -> str:
        """Return a ticket for one WebSocket of the caller."""
        ticket = secrets.token_urlsafe(32)
        self._tickets[ticket] = caller
        return ticket

    def spend(self, ticket: str) -> Caller | None:
        """Return the caller to whom this ticket was given, and make the ticket invalid.

        Return None if the ticket is unknown, used or too old. Raises Unauthenticated if the caller's token has ended
        since.
        """
        caller: Caller | None = self._tickets.pop(ticket, None)
        if caller is not None:
            self._check(caller)
        return caller

    @contextlib.contextmanager
    def counted(self, caller: Caller) -> Any:
        """Count a stream of the caller while it is open. Raises TooManyPending if the caller has too many."""
        count = self._counts.get(caller.principal, 0)
        if count >= _MOST_STREAMS:
            raise TooManyPending(fact(Refusal.WAITING, who=caller.principal, count=_MOST_STREAMS))
        self._counts[caller.principal] = count + 1
        try:
            yield
        finally:
            self._counts[caller.principal] -= 1
            if not self._counts[caller.principal]:
                del self._counts[caller.principal]

    async def start_of(self, cursor: str | None) -> int:
        """Return the position in the audit record after which a stream begins.

        Raises InvalidConfirmation for an invalid cursor.
        """
        if cursor is None:
            return await self._changes.last_line()
        if not re.fullmatch(_CURSOR, cursor):
            raise InvalidConfirmation(say("api.http.events.cursor"))
        return int(cursor)

    async def events(self, caller: Caller, place: int) -> AsyncIterator[dict[str, Any] | None]:
        """Yield the events after a position in the audit record, until the service stops.

        It yields None after 15 seconds without an event. Raises Unauthenticated when the caller's token has ended.
        """
        while not self.stopping.is_set():
            woken = self._wake_up()
            lines = await self._after(place)
            self._check(caller)
            for at, call, event in lines:
                place = at
                if call is not None and self._gate.access.may_see(caller.principal, call):
                    self._check(caller)
                    yield event
            if not lines and not await self._woke(woken):
                yield None

    def _wake_up(self) -> asyncio.Future[None]:
        if self._woken is None:
            self._woken = asyncio.get_running_loop().create_future()
        return self._woken

    async def _woke(self, woken: asyncio.Future[None]) -> bool:
        done, _ = await asyncio.wait([woken], timeout=_SILENCE_S)
        return bool(done)

    async def _after(self, place: int) -> Sequence[_Told]:
        """Return the lines after a position in the audit record.

        All streams at this position share one reading until the next change, because each change wakes all of them.
        """
        reading: asyncio.Task[Sequence[_Told]] | None = self._read.get(place)
        if reading is None or (reading.done() and reading.exception()):
            reading = self._read[place] = asyncio.create_task(self._look_after(place))
        # A stream that ends while it waits doesn't end the reading for the other streams.
        return await asyncio.shield(reading)

    async def _look_after(self, place: int) -> Sequence[_Told]:
        return [await self._told(at, line) for at, line in await self._changes.lines_after(place, _LINES)]

    async def _told(self, place: int, line: Recorded) -> _Told:
        call = await self._gate.store.get(line.ref) if line.event in _TOLD and line.ref else None
        if call is None:
            return _Told(place, None, {})
        event = {
            "id": str(place),
            "ref": call.ref,
            "short": call.short,
            "event": line.event,
            "status": call.status.value,
            "actor": line.actor,
            "at": line.at.isoformat(),
        }
        return _Told(place, call, event)


def _feed(request: Request | WebSocket) -> Feed:
    found: Feed = request.app.state.feed
    return found


@router.get(
    "/events",
    summary="Follow the calls",
    responses={
        **documented(models.EventView),
        200: {
            "description": (
                "Server-sent events. The data of each is an EventView; a comment every 15 seconds. An event `error`"
                ' with `{"code": ...}` ends the stream: TOO_MANY_PENDING if the caller has 256 streams open already,'
                " UNAUTHENTICATED when the token is revoked or over. An event `stopping` announces a stop."
            ),
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
    },
)
async def follow(
    request: Request,
    caller: Anyone,
    last: Annotated[str | None, Header(alias="Last-Event-ID", pattern=_CURSOR)] = None,
    cursor: Annotated[
        str | None, Query(pattern=_CURSOR, description="As Last-Event-ID, for clients without it.")
    ] = None,
) -> Response:
    """Stream the events of the calls that the caller may see: new events, or all events after a cursor."""
    feed = _feed(request)
    place = await feed.start_of(last or cursor)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_streamed(feed, caller, place), media_type="text/event-stream", headers=headers)


async def _streamed(feed: Feed, caller: Caller, place: int) -> AsyncIterator[str]:
    try:
        with feed.counted(caller):
            yield ": here\n\n"
            async for event in feed.events(caller, place):
                yield _sse(event) if event else ": still here\n\n"
    except SaysoError as error:
        yield f"event: error\ndata: {json.dumps({'code': error.code})}\n\n"
        return
    yield "event: stopping\ndata: {}\n\n"


def _sse(event: dict[str, Any]) -> str:
    return f"id: {event['id']}\nevent: {event['event']}\ndata: {json.dumps(event)}\n\n"


@router.post("/events/tickets", summary="Make a ticket", responses=documented(models.TicketAnswer))
async def make_ticket(request: Request, caller: Anyone) -> Response:
    """Make a ticket for one WebSocket, for clients that can't send an Authorization header: `?ticket=...`."""
    return answer({"ticket": _feed(request).ticket(caller), "expires_in": _TICKET_S})


@router.websocket("/events")
async def follow_by_websocket(socket: WebSocket) -> None:
    """Follow the same events as `GET /v1/events`. Each text message is one EventView. `?cursor=` names the cursor after
    which the events begin.
    """
    feed = _feed(socket)
    try:
        caller = _socket_caller(socket, feed)
        place = await feed.start_of(socket.query_params.get("cursor"))
        with feed.counted(caller):
            await socket.accept()
            await _converse(socket, feed, caller, place)
    except SaysoError as error:
        await socket.close(_POLICY_VIOLATION, error.code)


def _socket_caller(socket: WebSocket, feed: Feed) -> Caller:
    ticket = socket.query_params.get("ticket")
    if ticket is None:
        authenticated: Caller | None = getattr(socket.state, CALLER, None)
        if authenticated is None:
            raise Unauthenticated
        return authenticated
    caller = feed.spend(ticket)
    if caller is None:
        raise NotApprover(say("api.http.events.ticket"))
    return caller


async def _converse(socket: WebSocket, feed: Feed, caller: Caller, place: int) -> None:
    """Send the events after the position `place`, until the caller disconnects or the service stops.

    Messages of the caller are ignored.
    """
    sending = asyncio.ensure_future(_send(socket, feed, caller, place))
    hearing = asyncio.ensure_future(_hear(socket))
    try:
        done, _ = await asyncio.wait([sending, hearing], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, hearing):
            task.cancel()
        await asyncio.gather(sending, hearing, return_exceptions=True)
    if sending in done:
        sending.result()


async def _send(socket: WebSocket, feed: Feed, caller: Caller, place: int) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        async for event in feed.events(caller, place):
            if event is not None:
                await socket.send_text(json.dumps(event))
        await socket.close(_GOING_AWAY)


async def _hear(socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.receive_text()
