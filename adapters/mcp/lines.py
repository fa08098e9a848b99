"""The gateway over a stream of lines, one JSON-RPC message each: what the relay speaks over the service's socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from adapters.mcp.callers import Caller
    from adapters.mcp.gateway import Gateway


class _Lines:
    """A connection as the library's two files of lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._line():
            yield line.decode("utf-8", "replace")

    async def _line(self) -> bytes:
        """The next line; nothing at the end, and for a line that is longer than the socket's limit."""
        try:
            return await self._reader.readline()
        except (ValueError, ConnectionError):
            return b""

    async def write(self, text: str) -> None:
        """Write a message with its line feed."""
        self._writer.write(text.encode("utf-8", "backslashreplace"))

    async def flush(self) -> None:
        """Wait until the other side has room; one that is gone needs none."""
        try:
            await self._writer.drain()
        except ConnectionError:
            self._reader.feed_eof()


async def serve_lines(
    gateway: Gateway, caller: Caller, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one client until it leaves."""
    server = gateway.server(lambda _: caller)
    lines: Any = _Lines(reader, writer)
    async with stdio_server(lines, lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
