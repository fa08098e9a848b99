"""What is refused before any route sees it: pages of other sites, and other names of this host."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from adapters.http import problems
from adapters.http.callers import PEER
from hitl.errors import InvalidConfirmation, NotApprover
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from hitl.errors import SaysoError

#: By these names a listener on the loopback is reached. Any other name could be a rebound one of a foreign page.
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SAME = frozenset({"same-origin", "none"})


class Guard:
    """Middleware that checks Host, Origin and Sec-Fetch-Site, except on `exempt` paths, which have other secrets.

    Forwarding headers are never read, so they can't be believed.
    """

    def __init__(
        self, app: ASGIApp, hosts: Sequence[str] = (), exempt: Collection[str] = (), *, remote: bool = True
    ) -> None:
        self._app = app
        self._hosts = _LOOPBACK | {host.lower() for host in hosts}
        self._exempt = frozenset(exempt)
        self._remote = remote

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why not."""
        error = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        if error is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        else:
            await problems.answer(error)(scope, receive, send)

    def _refusal(self, scope: Scope) -> SaysoError | None:
        if scope["path"] in self._exempt:
            return None
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
        if origin is not None and urlsplit(origin).netloc.lower() != headers["host"].lower():
            return NotApprover(say("api.origin"))
        return None


def _host(named: str) -> str | None:
    """The name in a Host header, without its port and in lower case; None for what is no host."""
    try:
        parts = urlsplit(f"//{named}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname if parts.netloc == named and not parts.path and "@" not in named else None
