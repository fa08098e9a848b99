"""Socket Mode: the connections of apps, and envelopes that go over them.

A connection is opened with a ticket of `apps.connections.open`, at most ten for an app. Each envelope
goes to one connection; it must be acknowledged by its envelope_id.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import WSMsgType, web

from simulators.slack.errors import Json
from simulators.slack.platform import Platform

MOST: Final = 10
# How long a connection stays after it was told to go, in seconds of the server's clock.
GRACE: Final = 10.0
LIFETIME: Final = 18_060
# How many real seconds a client has to say goodbye.
CLOSING: Final = 0.5


@dataclass(slots=True, eq=False)
class Link:
    """One connection. A `deaf` one stays open, but nothing comes over it, no answer to a ping either."""

    app_id: str
    number: int
    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    sent: int = 0
    leaving: bool = False
    deaf: bool = False
    waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    async def send(self, message: Json) -> None:
        """Send a message; a connection that just broke takes it in vain."""
        if not self.deaf and not self.socket.closed:
            await self.socket.send_str(json.dumps(message))

    def acknowledge(self, message: Json) -> None:
        """Take an acknowledgement, with what the app answers."""
        answered = self.waiting.pop(str(message.get("envelope_id")), None)
        if answered and not answered.done():
            answered.set_result(message.get("payload"))

    def lost(self) -> None:
        """Tell who waits that nothing will come."""
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the socket closed"))
        self.waiting.clear()


class Sockets:
    """All connections of all apps."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._numbers = itertools.count(1)
        self._links: list[Link] = []
        self._partings: set[asyncio.Task[None]] = set()
        self.used_tickets: set[str] = set()

    def of(self, app_id: str) -> list[Link]:
        """Return an app's connections, oldest first."""
        return [one for one in self._links if one.app_id == app_id]

    def pick(self, app_id: str, not_on: int = 0) -> Link | None:
        """Return the connection for the next envelope: the one with the least, another one if it can be."""
        links = self.of(app_id)
        best = min(links, key=lambda one: (one.leaving, one.number == not_on, one.sent), default=None)
        if best:
            best.sent += 1
        return best

    async def serve(self, http: web.Request) -> web.StreamResponse:
        """Hold one connection until it ends."""
        app = self._platform.world.apps.get(http.query.get("app_id", ""))
        ticket = http.query.get("ticket", "")
        if app is None or not app.socket_mode or not ticket or ticket in self.used_tickets:
            return web.Response(status=404)
        self.used_tickets.add(ticket)
        socket = web.WebSocketResponse(autoping=False, timeout=CLOSING)
        await socket.prepare(http)
        link = Link(app.id, next(self._numbers), socket, http.transport)
        await self._hold(link)
        return socket

    async def _hold(self, link: Link) -> None:
        if len(self.of(link.app_id)) >= MOST:
            await link.send(_disconnect("too_many_websockets"))
            await link.socket.close()
            return
        self._links.append(link)
        await link.send(self._hello(link))
        self._platform.touch()
        try:
            await self._listen(link)
        finally:
            self._links.remove(link)
            link.lost()
            self._platform.touch()

    def _hello(self, link: Link) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.of(link.app_id)),
            "debug_info": {"host": "loopback", "build_number": 1, "approximate_connection_time": LIFETIME},
            "connection_info": {"app_id": link.app_id},
        }

    async def _listen(self, link: Link) -> None:
        async for message in link.socket:
            if message.type is WSMsgType.TEXT:
                link.acknowledge(_object(message.data))
            elif message.type is WSMsgType.PING and not link.deaf:
                await link.socket.pong(message.data)

    async def disconnect(self, app_id: str, reason: str) -> None:
        """Tell an app's connections to go: "warning" comes ahead, "refresh_requested" and "link_disabled" end them."""
        for link in self.of(app_id):
            await link.send(_disconnect(reason))
            if reason != "warning":
                link.leaving = True
                parting = asyncio.create_task(self._part(link))
                self._partings.add(parting)
                parting.add_done_callback(self._partings.discard)

    async def _part(self, link: Link) -> None:
        await self._platform.clock.sleep_until(self._platform.clock.now() + GRACE)
        await link.socket.close()

    def cut(self, app_id: str = "") -> None:
        """Break an app's connections, or all, without a word."""
        for link in list(self._links):
            if link.transport and app_id in {"", link.app_id}:
                link.transport.abort()

    async def close(self) -> None:
        """End everything."""
        for parting in self._partings:
            parting.cancel()
        await asyncio.gather(*(link.socket.close() for link in self._links))


def _disconnect(reason: str) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "loopback"}}


def _object(text: str) -> Json:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
