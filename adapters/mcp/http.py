"""The gateway over streamable HTTP: an ASGI application, mounted behind an application that authenticates callers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers

from hitl.cards.wording import say
from hitl.errors import TooManyPending

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import Receive, Scope, Send

    from adapters.mcp.callers import Caller
    from adapters.mcp.gateway import Gateway
    from hitl.call import Call

#: One caller may have at most this many sessions at the same time. A session takes about 40 KB.
MOST_SESSIONS = 2_000


class HttpMount:
    """An ASGI application for `/mcp`.

    `who` returns the caller of a request, and is called only for authenticated requests. `security` checks Host and
    Origin; it is None if the surrounding application checks them. The application takes requests after `start` and
    until `stop`. It can't be started a second time. One caller may have `most_sessions` sessions open at the same time.
    """

    def __init__(
        self,
        gateway: Gateway,
        who: Callable[[Scope], Caller],
        security: TransportSecuritySettings | None = None,
        most_sessions: int = MOST_SESSIONS,
    ) -> None:
        self._who = who
        self._most_sessions = most_sessions
        self._gateway = gateway
        server = gateway.server(lambda context: who(_scope(context.request)))
        self._manager = StreamableHTTPSessionManager(server, security_settings=security)
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take requests from now on, until `stop`.

        The library's task group runs in a separate task. If it ran in the caller's task, it would put the caller's
        errors into exception groups.
        """
        ready = asyncio.get_running_loop().create_future()
        self._running = asyncio.create_task(self._run(ready))
        await ready

    async def stop(self) -> None:
        """Take no more requests, and end the open ones."""
        self._stopping.set()
        if self._running is not None:
            await self._running

    async def ask(self, scope: Scope, tool: str, args: Mapping[str, Any], key: str | None) -> Call | None:
        """Ask for a call of a tool as the caller of a request, and don't wait for it.

        Return None if no server offers the tool. Raises the errors of `Gateway.ask`.
        """
        return await self._gateway.ask(self._who(scope), tool, args, key)

    async def _run(self, ready: asyncio.Future[None]) -> None:
        async with self._manager.run():
            ready.set_result(None)
            await self._stopping.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one HTTP request to the library, with the identity of its caller."""
        caller = self._who(scope)
        whose = f"{caller.principal} {caller.token}"
        self._check_room(Headers(scope=scope), whose)
        # The library compares this key with the key of the request that opened the session. So only the credential that
        # opened a session can use it.
        token = AccessToken(token="", client_id=whose, scopes=[])
        await self._manager.asgi_app({**scope, "user": AuthenticatedUser(token)}, receive, send)

    def _check_room(self, headers: Headers, whose: str) -> None:
        """Raise TooManyPending if the request would open a session and its caller has too many sessions.

        The library limits only the sessions of all callers together, so one caller could take all of them. A session
        ends 30 minutes after its last request, if the client doesn't end it.
        """
        modern = headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_PROTOCOL_VERSIONS  # these have no sessions
        if modern or MCP_SESSION_ID_HEADER in headers:
            return
        owners = self._manager._session_owners.values()  # noqa: SLF001 - the library has no public count
        if sum(owner["client_id"] == whose for owner in owners) >= self._most_sessions:
            raise TooManyPending(say("mcp.sessions", count=self._most_sessions))


def _scope(request: Any) -> Scope:
    """Return the scope of the HTTP request in which an MCP message came.

    Over HTTP, every message comes in such a request.
    """
    scope: Scope = request.scope
    return scope
