"""The addresses and commands of MCP servers. The secrets of a server stay in this process and in that server."""

from __future__ import annotations

import hashlib
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from adapters.mcp import whole_lines
from hitl.cards.wording import say

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
    from typing import TextIO

    from mcp.client._transport import Transport, TransportStreams

#: Secrets of at least this length are masked in a server's texts. Masking shorter secrets would hide common words.
_SHORTEST_SECRET = 8
_MASKED = "[secret]"
_CONNECT_S = 30.0


@dataclass(frozen=True, slots=True)
class Target:
    """One server: a command that speaks MCP on its standard streams, or a URL (streamable HTTP).

    A command gets HOME, LOGNAME, PATH, SHELL, TERM and USER of this process, and `env`; nothing else is inherited.
    """

    name: str
    #: The program and its arguments. They are empty for a server that is reached by `url`.
    command: Sequence[str] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Values in `env` and `headers` that are secret, and are masked in texts.
    secrets: Sequence[str] = ()
    #: The folder in which the command starts.
    cwd: str = "/"
    #: Seconds within which the server must start and answer the handshake.
    start_s: float = 30.0

    @property
    def executor(self) -> str:
        """Return the name of this server that the digests of its calls cover.

        This name depends on the command, the URL and the folder, not only on the server's own name.
        """
        where = json.dumps([list(self.command), self.url, self.cwd])
        return f"mcp:{self.name}:{hashlib.sha256(where.encode()).hexdigest()[:12]}"

    def clean(self, text: str) -> str:
        """Return the text without the server's own secrets."""
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, _MASKED)
        return text

    def transport(self, kept: Sequence[str], errors: TextIO) -> Transport:
        """Connect to the server. `kept` is the command line to start. The command's standard error goes to `errors`."""
        if self.url:
            return _http(self.url, self.headers)
        program, *arguments = kept
        parameters = StdioServerParameters(
            command=program, args=arguments, env=dict(self.env), cwd=self.cwd, encoding=whole_lines.NAME
        )
        return stdio_client(parameters, errlog=errors)


@asynccontextmanager
async def _http(url: str, headers: Mapping[str, str]) -> AsyncGenerator[TransportStreams, None]:
    # This sets no read timeout, because the gate limits how long a call may run.
    timeout = httpx2.Timeout(_CONNECT_S, read=None)
    # Compressed answers aren't asked for, because a few bytes of them may become gigabytes.
    sent = {"Accept-Encoding": "identity", **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=timeout, event_hooks={"response": [bound]}) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


async def bound(response: httpx2.Response) -> None:
    """Make the reading of an answer fail after `LONGEST_LINE` bytes, because the library reads it as a whole.

    A stream of events may be longer: the library limits each event.
    """
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        plain = response.headers.get("content-encoding", "identity") == "identity"
        response.stream = _Bounded(response.stream, whole_lines.LONGEST_LINE if plain else 0)


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer. Reading more than `most` bytes raises httpx2.StreamError."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise httpx2.StreamError(say("mcp.long", most=self._most))
            yield chunk

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()
