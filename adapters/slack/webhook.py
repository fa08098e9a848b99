"""Requests pushed by Slack: signed ones are recorded and answered, of others nothing is read and nothing kept."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from starlette.responses import Response
from starlette.routing import Route

from adapters.slack.receiver import is_signed
from hitl.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from slack_bolt.app.async_app import AsyncApp
    from starlette.requests import Request

    #: Reads a body within the shell's bound; None where it is too long.
    ReadBody: TypeAlias = Callable[[Request], Awaitable[bytes | None]]

PATH = "/slack/events"
_log = logging.getLogger(__name__)


def route(app: AsyncApp, secret: str, read_body: ReadBody, now: Callable[[], float] = time.time) -> Route:
    """The one route for events, presses, windows and commands.

    Raises ValueError without a secret: then anybody could press buttons.
    """
    if not secret:
        raise ValueError("Slack's requests need a signing secret: set slack.signing_secret_file")

    patience = Patience(now)

    async def receive(request: Request) -> Response:
        body = await read_body(request)
        if body is None:
            return Response(status_code=413)
        if not is_signed(secret, request.headers, body, now()):
            if patience.admits("unsigned"):
                _log.warning("slack.unsigned")
            return Response(status_code=401)
        try:
            asked = to_async_bolt_request(request, body)
        except ValueError:
            return Response(status_code=400)
        return to_starlette_response(await app.async_dispatch(asked))

    return Route(PATH, receive, methods=["POST"])
