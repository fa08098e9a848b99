"""A go-between on loopback: passes requests and Socket Mode's messages on, and loses or repeats what it is told to."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self, TypeVar

import aiohttp
from aiohttp import web

T = TypeVar("T")

#: Where sockets are opened.
LINK = "/link/"
_FAILED = 500
_OF_ONE_HOP = {"host", "content-length", "transfer-encoding", "connection"}
_REPEATED = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}


class Fault(Enum):
    """What happens to one request, or to one message on a socket; it reaches whom it is for in any case."""

    LOST = "its answer is lost: the connection breaks, or the acknowledgement never arrives"
    FAILED = "its answer is lost, and the caller gets a 500 instead"
    LATE = "its answer comes after the caller has given up"
    TWICE = "it is sent twice, the second time as Slack repeats a request"


@dataclass(frozen=True)
class Passed:
    """A request that was passed on, when (monotonic seconds), and how it was answered; or a message on a socket."""

    path: str
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0
    at: float = 0.0


class Between:
    """Stands before `target` (an address, set once it is known) in a thread of its own, as a context manager."""

    def __init__(self) -> None:
        self.target = ""
        self.passed: list[Passed] = []
        self._faults: list[tuple[str, Fault]] = []
        self._unheard: set[str] = set()
        self._links: set[web.WebSocketResponse] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        self.port = self._do(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and break what is open."""
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def next(self, mark: str, *faults: Fault) -> None:
        """The next one with this in its path or body meets the first fault, the one after it the second."""
        self._faults += [(mark, fault) for fault in faults]

    def spent(self) -> bool:
        """Whether every fault was met."""
        return not self._faults

    def seen(self, mark: str) -> list[Passed]:
        """What was passed on with this in its path or body, in order."""
        return [one for one in self.passed if mark in f"{one.path} {one.body}"]

    def cut(self) -> None:
        """Break every socket."""
        self._do(self._break())

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _open(self) -> int:
        self._session = aiohttp.ClientSession()
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return int(self._runner.addresses[0][1])

    async def _close(self) -> None:
        await self._break()
        await self._runner.cleanup()
        await self._session.close()

    async def _break(self) -> None:
        for link in list(self._links):
            await link.close()

    def _fault(self, text: str) -> Fault | None:
        found = next((one for one in self._faults if one[0] in text), None)
        if found:
            self._faults.remove(found)
        return found[1] if found else None

    # -- requests -------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._link(request)
        body = await request.read()
        fault = self._fault(f"{request.path} {body.decode()}")
        answer = await self._forward(request, body)
        if fault is Fault.TWICE:
            answer = await self._forward(request, body, _REPEATED)
        if fault is Fault.LATE:
            await _given_up(request)
        if fault is Fault.LOST and request.transport is not None:
            request.transport.abort()
        return web.Response(status=_FAILED) if fault is Fault.FAILED else answer

    async def _forward(self, request: web.Request, body: bytes, more: Mapping[str, str] | None = None) -> web.Response:
        began = time.monotonic()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OF_ONE_HOP}
        headers |= more or {}
        url = self.target + request.path_qs
        async with self._session.request(request.method, url, data=body, headers=headers) as answer:
            read = await answer.read()
            self.passed.append(Passed(request.path, body.decode(), headers, answer.status, began))
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_ONE_HOP}
            return web.Response(status=answer.status, body=read, headers=kept)

    # -- Socket Mode ----------------------------------------------------------------------------------------

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        near = web.WebSocketResponse()
        await near.prepare(request)
        async with self._session.ws_connect(self.target + request.path_qs) as far:
            self._links.add(near)
            ways = [asyncio.create_task(way) for way in (self._down(far, near), self._up(near, far))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self._links.discard(near)
        await near.close()
        return near

    async def _down(self, far: aiohttp.ClientWebSocketResponse, near: web.WebSocketResponse) -> None:
        """From Slack to the app."""
        async for message in far:
            if message.type is aiohttp.WSMsgType.TEXT:
                await self._deliver(str(message.data), near.send_str)

    async def _deliver(self, text: str, send: Callable[[str], Coroutine[Any, Any, None]]) -> None:
        fault = self._fault(text)
        if fault is Fault.LOST:
            self._unheard.add(str(json.loads(text)["envelope_id"]))
        for _ in range(2 if fault is Fault.TWICE else 1):
            self.passed.append(Passed(LINK, text, at=time.monotonic()))
            await send(text)

    async def _up(self, near: web.WebSocketResponse, far: aiohttp.ClientWebSocketResponse) -> None:
        """From the app to Slack: acknowledgements."""
        async for message in near:
            if message.type is aiohttp.WSMsgType.TEXT and not self._lost(str(message.data)):
                with suppress(ConnectionError):
                    await far.send_str(str(message.data))

    def _lost(self, text: str) -> bool:
        told = json.loads(text).get("envelope_id")
        lost = told in self._unheard
        self._unheard.discard(told)
        return lost


async def _given_up(request: web.Request) -> None:
    while request.transport is not None and not request.transport.is_closing():  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.02)
