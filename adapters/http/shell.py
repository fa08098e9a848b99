"""One ASGI app for everything that comes over HTTP: `/healthz`, `/readyz`, and what is mounted on it.

`/healthz` says that the event loop lives, `/readyz` that calls can be gated: neither asks a chat platform anything.
No URL here changes anything on GET.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from starlette.requests import Request

#: Longer bodies are refused unread. Telegram's updates are far below.
LONGEST_BODY = 1024 * 1024
#: How long a stop waits for requests under way; Telegram repeats what it got no answer to.
_STOP_WITHIN_S = 3


def app(ready: Callable[[], Awaitable[Sequence[str]]], mounted: Sequence[Route] = ()) -> Starlette:
    """The app. `ready` names what is in the way of gating a call, nothing when all is well."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(_: Request) -> Response:
        troubles = list(await ready())
        return JSONResponse({"ready": not troubles, "troubles": troubles}, status_code=503 if troubles else 200)

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), *mounted])


async def body_of(request: Request) -> bytes | None:
    """The body, or None where it is too long."""
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > LONGEST_BODY:
            return None
    return bytes(read)


class Server(uvicorn.Server):
    """uvicorn in our loop: signals stay ours, so that a stop can finish what runs."""

    def __init__(self, served: Starlette, *, host: str, port: int) -> None:
        super().__init__(
            uvicorn.Config(
                served,
                host=host,
                port=port,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=_STOP_WITHIN_S,
            )
        )

    def bind(self) -> socket.socket:
        """The socket to serve on: uvicorn would end the process where it can't have it. Raises Unavailable."""
        host, port = self.config.host, self.config.port
        try:
            return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            why = str(error.strerror).partition(" (while")[0]
            raise Unavailable(
                f"Nothing can listen on {host} port {port} ({why}). Set http.port, or http.host, to another."
            ) from error

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    @property
    def port(self) -> int:
        """The port that it listens on, once it does."""
        sockets: Any = self.servers[0].sockets
        return int(sockets[0].getsockname()[1])
