"""The gateway over streamable HTTP: an ASGI application, mounted behind an application that authenticates callers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import Receive, Scope, Send

    from adapters.mcp.callers import Caller
    from adapters.mcp.gateway import Gateway
    from hitl.call import Call


class HttpMount:
    """An ASGI application for `/mcp`.

    `who` returns the caller of a request, and is called only for authenticated requests. `security` checks Host and
    Origin; it is None if the surrounding application checks them. The application takes requests after `start` and
    until `stop`. It can't be started a second time.
    """

    def __init__(
        self, gateway: Gateway, who: Callable[[Scope], Caller], security: TransportSecuritySettings | None = None
    ) -> None:
        self._who = who
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
        # The library compares this key with the key of the request that opened the session. So only the credential that
        # opened a session can use it.
        token = AccessToken(token="", client_id=f"{caller.principal} {caller.token}", scopes=[])
        await self._manager.asgi_app({**scope, "user": AuthenticatedUser(token)}, receive, send)


def _scope(request: Any) -> Scope:
    """Return the scope of the HTTP request in which an MCP message came.

    Over HTTP, every message comes in such a request.
    """
    scope: Scope = request.scope
    return scope
