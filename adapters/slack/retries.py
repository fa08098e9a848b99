"""Decides when slack-sdk itself retries a request: only if the retry comes soon enough.

After a press, a window can be opened only within three seconds, and later events of the conversation wait during a
retry. If an error needs a longer pause, the caller handles the error: the outbox and the inbox retry later, and a press
is answered in another way.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler

from adapters.slack.errors import SERVER_ERROR, TOO_MANY, pause_of

if TYPE_CHECKING:
    from slack_sdk.http_retry.request import HttpRequest
    from slack_sdk.http_retry.response import HttpResponse
    from slack_sdk.http_retry.state import RetryState

#: "Rate limits": a 429 names a pause in `Retry-After`. If the pause is longer than this many seconds, the request isn't
#: retried here.
LONGEST_S = 1.5
_PAUSES_S = (0.3, 0.9)
#: The errors after which a request is retried: its connection broke, or (`SlackApiError`) its answer isn't JSON. A
#: connection that can't be opened isn't retried, because a retry this soon wouldn't help.
_BROKEN = (aiohttp.ServerConnectionError, aiohttp.ClientOSError, SlackApiError)


class Soon(AsyncRetryHandler):
    """Retries twice, within about one and a half seconds.

    With `methods`, a request is also retried if its answer isn't a JSON object, because each of Slack's methods answers
    with a JSON object. A `response_url` may answer with any text.
    """

    def __init__(self, *, methods: bool = True) -> None:
        super().__init__(max_retry_count=len(_PAUSES_S))
        self._methods = methods

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        del state, request
        if error is not None:
            return isinstance(error, _BROKEN)
        if response is None or response.status_code >= SERVER_ERROR:
            return response is not None
        if response.status_code == TOO_MANY:
            return (pause_of(response.headers) or 0.0) <= LONGEST_S
        return self._methods and not isinstance(response.body, dict)

    async def prepare_for_next_attempt_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        """Wait, then mark the request for another attempt."""
        del request, error
        state.next_attempt_requested = True
        pause = _PAUSES_S[state.current_attempt] * random.uniform(0.8, 1.2)  # noqa: S311 - a random wait needs no secure generator
        asked = pause_of(response.headers) if response is not None else None
        await asyncio.sleep(max(pause, asked or 0.0))
        state.increment_current_attempt()
