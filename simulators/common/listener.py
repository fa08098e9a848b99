"""One port of a server, and how connections on it break."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Final

from aiohttp import web

HOST: Final = "127.0.0.1"
# SO_LINGER with no time left: closing sends RST and not FIN.
NO_LINGER: Final = struct.pack("ii", 1, 0)


class Listener:
    """One port with one application, which can refuse connections for a while."""

    def __init__(self, port: int, application: web.Application) -> None:
        self.port = port
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        self._site: web.TCPSite | None = None

    @property
    def root(self) -> str:
        """Return its address."""
        return f"http://{HOST}:{self.port}"

    async def open(self) -> None:
        """Begin."""
        await self._runner.setup()
        await self.listen()

    async def listen(self) -> None:
        """Take connections, on the same port as before."""
        if self._site:
            return
        self._site = web.TCPSite(self._runner, HOST, self.port)
        await self._site.start()
        self.port = self._runner.addresses[0][1]

    async def refuse(self) -> None:
        """Take no connections, and break those there are."""
        if self._site:
            await self._site.stop()
            self._site = None
        for connection in list(self._runner.server.connections if self._runner.server else []):
            if connection.transport:
                connection.transport.abort()

    async def close(self) -> None:
        """End."""
        await self._runner.cleanup()
        self._site = None


def cut(http: web.Request) -> web.StreamResponse:
    """Break the connection under a request."""
    transport = http.transport
    if transport is not None:
        raw = transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        transport.abort()
    return web.Response(status=499)
