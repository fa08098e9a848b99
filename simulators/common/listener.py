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
        self._site: web.SockSite | None = None
        #: While connections are refused, it keeps others from getting the port.
        self._bound: socket.socket | None = None

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
        bound = self._bound or self._bind()
        self._bound = None
        self._site = web.SockSite(self._runner, bound)
        await self._site.start()

    async def refuse(self) -> None:
        """Take no connections, and break those there are. The port stays taken."""
        if self._site:
            await self._site.stop()
            self._site = None
            self._bound = self._bind()
        for connection in list(self._runner.server.connections if self._runner.server else []):
            if connection.transport:
                connection.transport.abort()

    async def close(self) -> None:
        """End."""
        await self._runner.cleanup()
        self._site = None
        if self._bound:
            self._bound.close()
            self._bound = None

    def _bind(self) -> socket.socket:
        """Return a socket that has the port but doesn't listen, so that the system refuses connections."""
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, self.port))
        self.port = bound.getsockname()[1]
        return bound


def cut(http: web.Request) -> web.StreamResponse:
    """Break the connection under a request."""
    transport = http.transport
    if transport is not None:
        raw = transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        transport.abort()
    return web.Response(status=499)
