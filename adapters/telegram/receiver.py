"""Receives updates by our own getUpdates loop or a webhook: first records an update, then acknowledges it, later
handles it.

Telegram deletes an update when a getUpdates request has a larger offset, or when the webhook has answered with 200. So
the raw update is committed to the inbox first. The service reads the update only after that, so an update that this
version can't understand blocks no other update.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from telegram.error import Conflict, RetryAfter, TelegramError

from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.refusals import seconds_of, trouble_of
from adapters.telegram.surface import PLATFORM
from adapters.telegram.wording import say
from hitl.backoff import Backoff
from hitl.errors import Unavailable
from hitl.faults import reach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from telegram import Bot

    from hitl import ports

SOURCE = PLATFORM
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the header's name
#: The server caps a long poll at 50 seconds.
POLL_S = 50
#: After this many further seconds, an unanswered long poll counts as failed.
_PATIENCE_S = 10
_log = logging.getLogger(__name__)


def order_of(update: Mapping[str, Any]) -> str:
    """Return an update's lane: a chat, or one person's presses in it. The updates of one lane are handled one after the
    other.

    A press names its call, so the press needn't wait for other people's messages. Telegram's own webhook queue orders
    updates in the same way.
    """
    pressed = _fields(update.get("callback_query"))
    if pressed:
        chat = _fields(_fields(pressed.get("message")).get("chat"))
        return f"{PLATFORM}:{chat.get('id')}/press/{_fields(pressed.get('from')).get('id')}"
    chats = (_fields(_fields(part).get("chat")).get("id") for part in update.values())
    return f"{PLATFORM}:{next(filter(None, chats), '')}"


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


class UpdateRecorder:
    """Records updates. It calls `woken` after each commit."""

    def __init__(self, store: ports.Inbox, woken: Callable[[], None]) -> None:
        self._store = store
        self._woken = woken

    async def keep(self, updates: Sequence[Mapping[str, Any]]) -> None:
        """Commit the raw updates. Raises Unavailable if the store can't commit them. In that case no update is
        acknowledged.

        Raises KeyError if an update has no id.
        """
        rows = [(str(update["update_id"]), order_of(update), json.dumps(update).encode()) for update in updates]
        await asyncio.gather(*(self._store.receive(SOURCE, *row) for row in rows))
        self._woken()


class Poller:
    """The getUpdates loop. `trouble` is the reason why no updates arrive, such as another poller that takes them, or
    None.
    """

    def __init__(self, bot: Bot, inbox: UpdateRecorder, *, poll_s: int = POLL_S) -> None:
        self._bot = bot
        self._inbox = inbox
        self._poll_s = poll_s
        self._offset: int | None = None
        self._pauses = Backoff()
        self._rivalled = False
        self.trouble: str | None = say("trouble.telegram.silent")

    async def run(self) -> None:
        """Poll Telegram for updates until cancelled."""
        while True:
            try:
                await self.run_once()
                self._pauses.reset()
                self._rivalled, self.trouble = False, None
            except Conflict as error:
                self._rivalled = True
                await self._pause(say("trouble.telegram.rival", why=error.message))
            except RetryAfter as error:
                await self._pause(say("trouble.telegram.pause"), seconds_of(error))
            except TelegramError as error:
                await self._pause(trouble_of(error))
            except Unavailable as error:
                await self._pause(error.message)
            except Exception as error:  # noqa: BLE001 - any update may fail, and later updates must still arrive
                await self._pause(say("trouble.telegram.other", error=type(error).__name__))

    async def run_once(self) -> int:
        """Poll once and commit the updates. Return their number. The next poll's offset acknowledges them."""
        updates = await self._poll(self._patience())
        if updates:
            reach("events.received")
            await self._keep(updates)
            reach("events.recorded")
            self._offset = max(int(update["update_id"]) for update in updates if _is_numbered(update)) + 1
        return len(updates)

    async def _keep(self, updates: Sequence[Mapping[str, Any]]) -> None:
        """Commit the updates. If an update can't be read, log it and commit the others. Raises Unavailable."""
        try:
            return await self._inbox.keep(updates)
        except _UNREADABLE:
            for update in updates:
                try:
                    await self._inbox.keep([update])
                except _UNREADABLE as error:
                    number = update["update_id"] if _is_numbered(update) else None
                    _log.error("telegram.unreadable", {"update": number, "why": type(error).__name__})

    def _patience(self) -> int:
        """Return how many seconds the next poll waits for updates.

        At the start and after trouble, the result is 0, to find out quickly whether Telegram answers. If another poller
        took our updates, the result is the whole time, because only a full long poll shows that the other poller is
        gone.
        """
        return 0 if self.trouble and not self._rivalled else self._poll_s

    async def _poll(self, timeout_s: int) -> list[dict[str, Any]]:
        asked = {"timeout": timeout_s, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        if self._offset is not None:
            asked["offset"] = self._offset
        url = f"{self._bot.base_url}/getUpdates?{urlencode(asked)}"
        found: Any = await self._bot.request.post(url, read_timeout=timeout_s + _PATIENCE_S)
        return list(found)

    async def _pause(self, why: str, seconds: float = 0.0) -> None:
        if why != self.trouble:
            _log.warning("telegram.polling", {"trouble": why})
        self.trouble = why
        await asyncio.sleep(max(seconds, self._pauses.next()))


#: Errors that a malformed update raises.
_UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


def _is_numbered(update: Any) -> bool:
    """Return whether this is an update with an id. Every real update has an id."""
    return isinstance(update, dict) and type(update.get("update_id")) is int


def secret_fits(given: str | None, secret: str) -> bool:
    """Return whether a webhook request has the configured secret.

    The comparison takes the same time for every wrong secret. It comes before anything of the request is parsed.
    """
    return hmac.compare_digest((given or "").encode(), secret.encode())
