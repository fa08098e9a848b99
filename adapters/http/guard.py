"""The guard before every route. It refuses other sites' pages and unknown host names, and authenticates the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams

from adapters.http import problems, tracing
from adapters.http.callers import CALLER, PEER
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation, NotApprover, SaysoError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from adapters.http.callers import Authenticator

#: Host names of a listener on the loopback. A request with any other name may come from a foreign web page that uses
#: DNS rebinding.
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
#: Paths that need no authentication, because their answers reveal nothing about this installation.
OPEN = frozenset({"/docs", "/openapi.json"})
#: The key of `scope["state"]` under which the guard stores a bool for a request to an exempt path. The bool says
#: whether the other paths would accept the request's Host and Origin. If not, `/readyz` doesn't name the faults.
NAMED = "sayso.named"
_SAME = frozenset({"same-origin", "none"})


class Guard:
    """Middleware that checks Host, Origin and Sec-Fetch-Site, then authenticates, before any byte of the body is read.

    Requests to `exempt` paths aren't authenticated here: their routes check a secret of their own, or need no secret.
    Headers of proxies, such as X-Forwarded-For, are never read.
    """

    def __init__(
        self, app: ASGIApp, hosts: Sequence[str] = (), exempt: Collection[str] = (), *, remote: bool = True
    ) -> None:
        self._app = app
        self._hosts = _LOOPBACK | {host.lower() for host in hosts}
        self._exempt = frozenset(exempt)
        self._remote = remote

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the application, or answer with the refusal."""
        try:
            if scope["type"] in {"http", "websocket"}:
                await self._check(scope)
        except SaysoError as error:
            await _refuse(error, scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _check(self, scope: Scope) -> None:
        """Raise SaysoError if the request must be refused before any route sees it. Otherwise put its caller into the
        scope's state.
        """
        error = self._refusal(scope)
        if scope["path"] in self._exempt:
            scope.setdefault("state", {})[NAMED] = error is None
            return
        tracing.note(Headers(scope=scope))
        if error:
            raise error
        if scope["path"] in OPEN or (scope["type"] == "websocket" and "ticket" in QueryParams(scope["query_string"])):
            return
        authenticator: Authenticator = scope["app"].state.authenticator
        scope["state"][CALLER] = await authenticator.caller(scope)

    def _refusal(self, scope: Scope) -> SaysoError | None:
        headers = Headers(scope=scope)
        host = _host(headers.get("host", ""))
        over_tcp = getattr(scope.get("state", {}).get(PEER), "uid", None) is None
        if over_tcp and not self._remote:
            return NotApprover(say("api.plain"))
        if host is None or (over_tcp and host not in self._hosts):
            return InvalidConfirmation(say("api.host"))
        if headers.get("sec-fetch-site", "none") not in _SAME:
            return NotApprover(say("api.origin"))
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != headers["host"].lower():
            return NotApprover(say("api.origin"))
        return None


def _netloc(origin: str) -> str | None:
    """Return the host and port of an Origin header in lower case. Return None if the header is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _host(named: str) -> str | None:
    """Return the name in a Host header, in lower case and without its port. Return None if the header is malformed."""
    try:
        parts = urlsplit(f"//{named}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname if parts.netloc == named and not parts.path and "@" not in named else None


async def _refuse(error: SaysoError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
    else:
        await problems.answer(error)(scope, receive, send)
