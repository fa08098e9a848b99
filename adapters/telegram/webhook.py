"""The webhook for Telegram's updates. It checks the secret before it reads the body, and commits before it answers."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING

from adapters.telegram.receiver import SECRET_HEADER, secret_fits
from adapters.telegram.wording import say
from hitl.errors import SettingsError, Unavailable
from hitl.platforms import Endpoint
from hitl.throttle import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.telegram.receiver import UpdateRecorder
    from hitl.platforms import ReadBody

PATH = "/telegram/webhook"
_log = logging.getLogger(__name__)
_OK, _BAD, _UNPROVED, _TOO_LONG, _BUSY = 200, 400, 401, 413, 503


def endpoint(inbox: UpdateRecorder, secret: str, now: Callable[[], float] = time.monotonic) -> Endpoint:
    """Return the webhook. Raises SettingsError without a secret, because then anybody could send button presses."""
    if not secret:
        raise SettingsError(say("setting.telegram.secret"))

    patience = Patience(now)

    async def answer(headers: Mapping[str, str], read_body: ReadBody) -> tuple[int, bytes]:
        if not secret_fits(headers.get(SECRET_HEADER), secret):
            if (more := patience.held_back("unproved")) is not None:
                _log.warning("telegram.wrong_secret", {"unlogged": more})
            return _UNPROVED, b""
        body = await read_body()
        return (_TOO_LONG if body is None else await _kept(inbox, body)), b""

    return Endpoint(PATH, answer)


async def _kept(inbox: UpdateRecorder, body: bytes) -> int:
    try:
        await inbox.keep([json.loads(body)])
    except (ValueError, LookupError, TypeError, RecursionError):
        return _BAD
    except Unavailable:
        return _BUSY
    return _OK
