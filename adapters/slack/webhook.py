"""The HTTP endpoint for Slack's requests.

A signed request is recorded and answered. Any other request is refused, and its body isn't parsed.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from adapters.slack.bodies import read
from adapters.slack.receiver import BAD, OK, is_signed
from adapters.slack.wording import say
from hitl.errors import SettingsError
from hitl.platforms import Endpoint
from hitl.throttle import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.slack.receiver import EventRecorder
    from hitl.platforms import ReadBody

PATH = "/slack/events"
_UNPROVED, _TOO_LONG = 401, 413
_log = logging.getLogger(__name__)


def endpoint(inbox: EventRecorder, secret: str, now: Callable[[], float] = time.time) -> Endpoint:
    """Return the one endpoint for events, button presses, windows and commands.

    Raises SettingsError without a signing secret, because then anybody could send button presses.
    """
    if not secret:
        raise SettingsError(say("setting.slack.secret"))

    patience = Patience(now)

    async def answer(headers: Mapping[str, str], read_body: ReadBody) -> tuple[int, bytes]:
        body = await read_body()
        if body is None:
            return _TOO_LONG, b""
        if not is_signed(secret, headers, body, now()):
            if patience.admits("unsigned"):
                _log.warning("slack.unsigned")
            return _UNPROVED, b""
        return await _answered(inbox, body)

    return Endpoint(PATH, answer)


async def _answered(inbox: EventRecorder, body: bytes) -> tuple[int, bytes]:
    """Record a request's event, and return the HTTP status and body of the answer.

    Slack's tests of the address ("url_verification", "ssl_check") are answered and not recorded.
    """
    try:
        asked = read(body)
    except (LookupError, TypeError, ValueError):
        return BAD, b""
    if asked.get("type") == "url_verification":
        return OK, str(asked.get("challenge", "")).encode()
    return (OK if "ssl_check" in asked else await inbox.take(body)), b""
