"""Updates pushed by Telegram: the secret is checked before anything is read, and 200 follows the commit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from adapters.telegram.receiver import SECRET_HEADER, secret_fits
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from starlette.requests import Request

    from adapters.telegram.receiver import Inbox

    #: Reads a body within the shell's bound; None where it is too long.
    ReadBody: TypeAlias = Callable[[Request], Awaitable[bytes | None]]

PATH = "/telegram/webhook"


def route(inbox: Inbox, secret: str, read_body: ReadBody) -> Route:
    """The webhook's route. Raises ValueError without a secret: such a webhook would let anybody press buttons."""
    if not secret:
        raise ValueError("a webhook needs a secret: set telegram.webhook_secret")

    async def receive(request: Request) -> Response:
        if not secret_fits(request.headers.get(SECRET_HEADER), secret):
            return Response(status_code=401)
        body = await read_body(request)
        if body is None:
            return Response(status_code=413)
        return await _kept(inbox, body)

    return Route(PATH, receive, methods=["POST"])


async def _kept(inbox: Inbox, body: bytes) -> Response:
    try:
        await inbox.keep([json.loads(body)])
    except (ValueError, LookupError, TypeError, RecursionError):
        return Response(status_code=400)
    except Unavailable:
        return Response(status_code=503)
    return Response(status_code=200)
