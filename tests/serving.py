"""The HTTP shell with a platform's route on it, as `sayso run` mounts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.http.app import app
from adapters.http.listeners import Server, tcp_listener
from bot.platforms import mounted

if TYPE_CHECKING:
    import contextlib

    from bot.platform_runner import Connector


async def serving(parts: contextlib.AsyncExitStack, platform: Connector) -> Server:
    """The shell on a free port, until `parts` ends."""

    async def ready() -> list[str]:
        return list(platform.troubles())

    routes = [mounted(endpoint) for endpoint in platform.endpoints()]
    server = Server(app(ready, routes), [tcp_listener("127.0.0.1", 0)])
    await server.start()
    parts.push_async_callback(server.stop)
    return server
