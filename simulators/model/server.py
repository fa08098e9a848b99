"""The server: three paths, one script, and a list of all that was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

from simulators.model.formats import PATHS, Asked, Reply, asked, written


class ModelServer:
    """A model on a loopback port, for as long as the context lasts. `script` may be changed at any time."""

    def __init__(self, script: Callable[[Asked], Reply], *, port: int = 0) -> None:
        self.script = script
        self.asked: list[Asked] = []
        #: While it isn't set, the model thinks.
        self.answers = asyncio.Event()
        self.answers.set()
        self._port = port
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.add_routes([web.post(path, self._answer) for path in PATHS])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def root_url(self) -> str:
        """What Anthropic's format is asked at."""
        return f"http://127.0.0.1:{self._port}"

    def base_url(self, kind: str) -> str:
        """The base URL for a kind of model: `anthropic`, `openai` or `openai-chat`."""
        return self.root_url if kind == "anthropic" else f"{self.root_url}/v1"

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            body: dict[str, Any] = await request.json()
            found = asked(PATHS[request.path], body)
        except (ValueError, KeyError, TypeError, AttributeError):
            return _error(400, "That is no request.")
        if body.get("stream"):
            return _error(400, "This server doesn't stream.")
        self.asked.append(found)
        await self.answers.wait()
        reply = self.script(found)
        await asyncio.sleep(reply.wait_s)
        if reply.raw is not None:
            return web.Response(body=reply.raw, content_type="application/json", status=reply.status)
        if reply.status != 200:
            return _error(reply.status, "scripted")
        model = {"model": found.body.get("model", "simulated")}
        return web.json_response(written(found.format, reply, len(self.asked)) | model)


def _error(status: int, why: str) -> web.Response:
    return web.json_response({"type": "error", "error": {"type": "scripted_error", "message": why}}, status=status)
