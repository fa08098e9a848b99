"""The gateway on its own Unix socket. Each line is a JSON-RPC message; the relay speaks this protocol.

The service sends the first line: `{"ok": true}`, or the reason why it refuses this peer.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from hitl.cards.wording import say
from hitl.errors import SaysoError, TooManyPending

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from adapters.mcp.callers import Caller
    from adapters.mcp.gateway import Gateway
    from hitl.connections import Connections, Party

    #: Returns who is at the other end of a connection (`hitl.connections.Party`), by the peer's user id and process id.
    PartyOf = Callable[[int, int], Party]
    #: Returns the caller for a peer's user id and kind. Raises SaysoError if the peer may not connect.
    Admit = Callable[[int, Party], Awaitable[Caller]]
    #: Raises SaysoError for a caller who was admitted and wouldn't be admitted now.
    Check = Callable[[Caller], None]

_CREDENTIALS = struct.Struct("3i")
#: A line has at most this many bytes. A client that sends a longer line is disconnected.
_LONGEST_LINE = 8 * 1024 * 1024
#: Seconds from the greeting to the end of the client's first message. A client asks to initialize as soon as it has
#: started the relay.
FIRST_S = 30.0


class _Lines:
    """Makes a connection look like two text files: the library reads lines from one, and writes lines to the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first_s: float) -> None:
        self._reader = reader
        self._writer = writer
        self._first_s = first_s

    async def __aiter__(self) -> AsyncIterator[str]:
        try:
            line = await asyncio.wait_for(self._line(), self._first_s)
        except TimeoutError:
            return
        while line:
            yield line.decode("utf-8", "replace")
            line = await self._line()

    async def _line(self) -> bytes:
        """Return the next line, or b"" at the end of the stream or after a line that is too long."""
        try:
            return await self._reader.readline()
        except (ValueError, ConnectionError):
            return b""

    async def write(self, text: str) -> None:
        """Write a message with its line feed."""
        self._writer.write(text.encode("utf-8", "backslashreplace"))

    async def flush(self) -> None:
        """Wait until the peer can take more.

        If the peer has left, `_line` returns the end of the stream from then on.
        """
        try:
            await self._writer.drain()
        except ConnectionError:
            self._reader.feed_eof()


async def serve_lines(
    gateway: Gateway,
    caller: Callable[[], Caller],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    first_s: float = FIRST_S,
) -> None:
    """Serve one client until it leaves, or until it has sent no message within `first_s` seconds.

    `caller` returns the client's caller for each request, or raises SaysoError if the caller's right has ended.
    """
    server = gateway.server(lambda _: caller())
    lines: Any = _Lines(reader, writer, first_s)
    async with stdio_server(lines, lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class LineServer:
    """Listens on a Unix socket in a runtime folder of this service. It replaces the socket file of a dead process.

    `connections` holds the limits that this process's listeners share. `first_s` is the time for a client's first
    message.
    """

    def __init__(
        self,
        path: Path,
        gateway: Gateway,
        connections: Connections,
        party_of: PartyOf,
        admit: Admit,
        check: Check,
        first_s: float = FIRST_S,
    ) -> None:
        self.path = path
        self._gateway = gateway
        self._connections = connections
        self._party_of = party_of
        self._admit = admit
        self._check = check
        self._first_s = first_s
        self._server: asyncio.Server | None = None
        self._peers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to listen on the socket. Raises OSError if the socket can't be made."""
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._greet, path=self.path, limit=_LONGEST_LINE)
        self.path.chmod(0o666)

    async def stop(self) -> None:
        """Stop listening, and end open connections. Their calls stay."""
        if self._server is None:
            return
        self._server.close()
        for peer in self._peers:
            peer.cancel()
        await asyncio.gather(*self._peers, return_exceptions=True)
        self.path.unlink(missing_ok=True)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._peers.add(task)
            task.add_done_callback(self._peers.discard)
        try:
            await self._talk(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The kernel names the peer's process and user (SO_PEERCRED, unix(7)).
        peer: socket.socket = writer.get_extra_info("socket")
        held = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, uid, _ = _CREDENTIALS.unpack(held)
        key, party = f"uid:{uid}", self._party_of(uid, pid)
        if not self._connections.enter(key, party):
            await _refuse(TooManyPending(say("api.many")), writer)
            return
        try:
            await self._serve(uid, party, reader, writer)
        finally:
            self._connections.leave(key, party)

    async def _serve(self, uid: int, party: Party, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            caller = await self._admit(uid, party)
        except SaysoError as error:
            await _refuse(error, writer)
            return
        writer.write(b'{"ok": true}\n')

        def checked() -> Caller:
            self._check(caller)
            return caller

        await serve_lines(self._gateway, checked, reader, writer, self._first_s)


async def _refuse(error: SaysoError, writer: asyncio.StreamWriter) -> None:
    told = {"ok": False, "error": {"code": error.code, "message": error.message}}
    writer.write(json.dumps(told).encode() + b"\n")
    await writer.drain()
