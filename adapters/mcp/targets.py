"""How an MCP server is reached, with the secrets that it needs: they stay in this process and in that server."""

from __future__ import annotations

import hashlib
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from typing import TextIO

    from mcp.client._transport import Transport, TransportStreams

#: The shortest secret that is looked for in what a server says; shorter ones would hide common words.
_SHORTEST_SECRET = 8
_MASKED = "[secret]"
_CONNECT_S = 30.0


@dataclass(frozen=True, slots=True)
class Target:
    """One server: a command that speaks MCP on its standard streams, or a URL (streamable HTTP).

    A command gets HOME, LOGNAME, PATH, SHELL, TERM and USER of this process, and `env`; nothing else is inherited.
    """

    name: str
    #: The program and its arguments; empty for a server that is reached by `url`.
    command: Sequence[str] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The values among `env` and `headers` that nobody may read.
    secrets: Sequence[str] = ()
    #: The folder that the command starts in.
    cwd: str = "/"
    #: Seconds that the server may take to start and to answer the handshake.
    start_s: float = 30.0

    @property
    def executor(self) -> str:
        """The executor's name in the digest of a call: another command or URL under the same name is another one."""
        where = json.dumps([list(self.command), self.url, self.cwd])
        return f"mcp:{self.name}:{hashlib.sha256(where.encode()).hexdigest()[:12]}"

    def clean(self, text: str) -> str:
        """Return the text without the server's own secrets."""
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, _MASKED)
        return text

    def transport(self, kept: Sequence[str], errors: TextIO) -> Transport:
        """Connect. `kept` is the command as it is to be started; `errors` takes what it writes to stderr."""
        if self.url:
            return _http(self.url, self.headers)
        program, *arguments = kept
        parameters = StdioServerParameters(command=program, args=arguments, env=dict(self.env), cwd=self.cwd)
        return stdio_client(parameters, errlog=errors)


@asynccontextmanager
async def _http(url: str, headers: Mapping[str, str]) -> AsyncGenerator[TransportStreams, None]:
    # A read may take as long as its call may run: the gate has its own limit for that.
    timeout = httpx2.Timeout(_CONNECT_S, read=None)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams
