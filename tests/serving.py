"""The HTTP shell with a platform's route on it, as `sayso run` mounts it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from adapters.http.shell import Server, app
from bot.platforms import mounted

if TYPE_CHECKING:
    import contextlib

    from bot.connector import Connector


async def serving(parts: contextlib.AsyncExitStack, platform: Connector) -> Server:
    """The shell on a free port, until `parts` ends."""

    async def ready() -> list[str]:
        return list(platform.troubles())

    server = Server(app(ready, [mounted(endpoint) for endpoint in platform.endpoints()]), host="127.0.0.1", port=0)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.005)

    async def stop() -> None:
        server.should_exit = True
        await task

    parts.push_async_callback(stop)
    return server
