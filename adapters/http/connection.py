"""One connection: identifies the peer, and limits the peer's bytes, seconds and connections.

This module extends uvicorn's protocol. uvicorn itself has no deadline for a request's headers or body, no limit for
header bytes, and no limit for the connections of one peer. It also waits forever for a peer that doesn't read its
answer. `Connections` limits the connections of each peer, and of each kind of peers.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from adapters.http.callers import GONE, PEER, Peer
from hitl.cards.wording import say
from hitl.connections import Connections, Party
from hitl.errors import InvalidConfirmation, TooManyPending

if TYPE_CHECKING:
    from collections.abc import Callable

    from uvicorn.config import Config
    from uvicorn.server import ServerState

#: Returns the `Party` of a peer on a Unix socket (such as LISTED), by its user id and its process id.
PartyOf: TypeAlias = "Callable[[int, int], Party]"
#: SO_PEERCRED's `struct ucred`: process, user and group (unix(7)).
_CREDENTIALS = struct.Struct("3i")


def _refusal(status: int, code: str, detail: str, *fields: str) -> bytes:
    """Return the bytes of an error response that this module sends itself, without the application. The response closes
    the connection.

    `fields` are further header lines.
    """
    phrase = HTTPStatus(status).phrase
    told = {"type": f"urn:sayso:error:{code}", "title": phrase, "status": status, "detail": detail, "code": code}
    body = json.dumps({**told, "ref": None, "errors": []}).encode()
    head = [f"HTTP/1.1 {status} {phrase}", "content-type: application/problem+json", f"content-length: {len(body)}"]
    return "\r\n".join([*head, *fields, "connection: close", "", ""]).encode() + body


_BAD = _refusal(400, InvalidConfirmation.code, say("api.malformed"))
_LATE = _refusal(408, "REQUEST_TIMEOUT", say("api.late"))
_LARGE = _refusal(413, InvalidConfirmation.code, say("api.large"))
_LONG = _refusal(431, InvalidConfirmation.code, say("api.long"))
_MANY = _refusal(429, TooManyPending.code, say("api.many"), "retry-after: 1")


@dataclass(slots=True)
class Limits:
    """Limits of each connection, in seconds and bytes. `connections` also limits the number of connections."""

    #: The longest time from the start of the connection, or from a request's first byte, to the end of the headers.
    head_s: float = 5.0
    #: The longest time from the end of the headers to the end of the body.
    body_s: float = 15.0
    #: The longest time between an answer and the next request.
    idle_s: float = 30.0
    #: The longest time in which the peer reads nothing of an answer.
    write_s: float = 20.0
    #: The time for which a connection still reads after a refusal. If it were closed with unread bytes, the kernel
    #: would send a reset, and the peer would lose the answer.
    linger_s: float = 1.0
    head_bytes: int = 32 * 1024
    #: The longest body, in bytes. There is room for 1 MiB of arguments as canonical JSON, if the client escapes no
    #: characters.
    body_bytes: int = 2 * 1024 * 1024
    connections: Connections = field(default_factory=Connections)


class Door(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits. It puts the `Peer` into the scope's state, where no header can set it."""

    def __init__(
        self,
        limits: Limits,
        party_of: PartyOf,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._party_of = party_of
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None
        self._head = self._body = 0
        self._in_head, self._refused = True, False
        self._gone: asyncio.Future[None] = self.loop.create_future()
        self._peer = Peer("")
        self._counted = self._lingering = False
        self._answering: RequestResponseCycle | None = None

    # -- start and end of the connection ------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and refuse it if there are too many."""
        self._peer = peer_of(transport, self._party_of)
        connections = self._limits.connections
        self._counted = connections.enter(self._peer.key, self._peer.party)
        self._lingering = not self._counted and connections.linger()
        if not self._counted and not self._lingering:
            # Too many refused connections linger already, and each holds a file descriptor. So this one is closed
            # immediately.
            self._refused = True
            transport.abort()
            return
        self.app_state = {**self.app_state, PEER: self._peer, GONE: self._gone}
        super().connection_made(transport)
        if self._counted:
            self._arm(self._limits.head_s)
        else:
            self._refuse(_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the waits of requests whose peer has ended the connection."""
        if not self._counted and not self._lingering:
            return
        self._leave()
        self._drop_answers()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection to the WebSocket protocol, and keep watching for the connection's end."""
        if self._refused:
            return
        self._arm(None)
        super().handle_websocket_upgrade()
        taker: Any = self.transport.get_protocol()
        if taker is self:
            return
        ended = taker.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._leave()
            ended(exc)

        taker.connection_lost = connection_lost

    def _leave(self) -> None:
        self._arm(None)
        if self._stuck:
            self._stuck.cancel()
        if self._gone.done():
            return
        self._gone.set_result(None)
        if self._counted:
            self._limits.connections.leave(self._peer.key, self._peer.party)
        else:
            self._limits.connections.depart()

    # -- limits for the bytes and the time of a request ----------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Count the bytes of the headers, and refuse the request if there are too many. The HTTP parser has no such
        limit.
        """
        if self._refused:
            return
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > self._limits.head_bytes:
                self._refuse(_LONG)

    def on_message_begin(self) -> None:
        """Start the time and size limits of a new request."""
        self._in_head = True
        if not self._refused:
            self._arm(self._limits.head_s)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Refuse headers that could mislead a proxy or this service, and a body whose stated length is too long."""
        self._in_head, self._head, self._body = False, 0, 0
        if self._refused:  # an earlier request in the same data was refused, so this request is dropped
            return
        self._arm(self._limits.body_s)
        if refusal := self._misled():
            self._refuse(refusal)
        else:
            super().on_headers_complete()

    def _misled(self) -> bytes | None:
        """Return the refusal of ambiguous headers (RFC 9112, 3.2) or of a body that is too long.

        Return None if there is nothing to refuse.

        Headers are ambiguous if two programs could understand them in two ways.
        """
        names = [name for name, _ in self.headers]
        if names.count(b"host") != 1 or not self.url.startswith(b"/") or b"\\" in self.url:
            return _BAD
        lengths = [value for name, value in self.headers if name == b"content-length"]
        if len(lengths) > 1 or (lengths and b"transfer-encoding" in names):
            return _BAD
        return _LARGE if lengths and int(lengths[0]) > self._limits.body_bytes else None

    def on_body(self, body: bytes) -> None:
        """Count the bytes of the body, and refuse the request if they exceed the limit."""
        self._body += len(body)
        if self._body > self._limits.body_bytes:
            self._refuse(_LARGE)
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the time limit, because the request is complete and the application must answer."""
        if not self._refused:
            self._arm(None)
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the time limit for the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self.pipeline:
            self._in_head = True
            self._arm(self._limits.idle_s)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    # -- peers that don't read -------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """Start the time limit for a peer that doesn't read its answer. At its end, the connection is aborted."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self._limits.write_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the time limit for a peer that doesn't read, because the peer reads again."""
        super().resume_writing()
        if self._stuck:
            self._stuck.cancel()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request whose bytes aren't valid HTTP."""
        del msg
        self._refuse(_BAD)

    # -- sending refusals, and the timer
    # ---------------------------------------------------------------------------------

    def _refuse(self, answer: bytes) -> None:
        if self._refused:
            return
        self._refused = True
        self._drop_answers()
        self.transport.write(answer)
        self.transport.write_eof()
        self.flow.resume_reading()
        self._arm(self._limits.linger_s)

    def _drop_answers(self) -> None:
        """Drop the answers to requests that the application has already received, because the connection is gone.

        uvicorn notifies only `cycle`, the last of several requests in flight.
        """
        cycle: RequestResponseCycle | None = self.cycle
        for one in {cycle, self._answering}:
            if one is not None and not one.response_complete:
                one.disconnected = True
                one.message_event.set()

    def _arm(self, seconds: float | None) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self._late) if seconds else None

    def _late(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if self._refused or (cycle is not None and cycle.response_complete and not self._head):
            self.transport.abort()
        else:
            self._refuse(_LATE)


def listed(_uid: int, _pid: int) -> Party:
    """Return LISTED forevery peer. This is the default for a server that has no list of users."""
    return Party.LISTED


def peer_of(transport: asyncio.BaseTransport, party_of: PartyOf = listed) -> Peer:
    """Return the peer of a connection: the user's id on a Unix socket, the IP address on TCP."""
    peer: socket.socket = transport.get_extra_info("socket")
    if peer.family != socket.AF_UNIX:
        return Peer(str(transport.get_extra_info("peername")[0]))
    pid, uid, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    # The peer's `Party` is looked up now. Later the process may have ended, and its process id may belong to another
    # process.
    return Peer(f"uid:{uid}", uid, party_of(uid, pid))
