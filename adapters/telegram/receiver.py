"""How updates come in: our own getUpdates loop, or a webhook. Both record first, acknowledge second, and decide later.

Telegram forgets an update once the offset has passed it (getUpdates) or it was answered with 200 (webhook), so the
raw update is committed to the inbox before either. It is read only afterwards: one that can't be understood, because
Telegram is newer than this program, holds up nothing but itself.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from telegram import Update
from telegram.error import Conflict, RetryAfter, TelegramError

from adapters.telegram.handlers import ALLOWED_UPDATES, order_of
from adapters.telegram.surface import PLATFORM
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
#: How much later than promised the answer to a long poll may come.
_PATIENCE_S = 10
_log = logging.getLogger(__name__)


class UpdateRecorder:
    """Records updates; `woken` is called after each commit."""

    def __init__(self, store: ports.Inbox, woken: Callable[[], None]) -> None:
        self._store = store
        self._woken = woken

    async def keep(self, updates: Sequence[Mapping[str, Any]]) -> None:
        """Commit the raw updates. Raises Unavailable when that can't be done; then none is acknowledged.

        Raises KeyError for what is no update: every one has an id.
        """
        rows = [(str(update["update_id"]), order_of(update), json.dumps(update).encode()) for update in updates]
        await asyncio.gather(*(self._store.receive(SOURCE, *row) for row in rows))
        self._woken()


def read(body: bytes, bot: Bot) -> Update:
    """Return the update that was recorded. Raises LookupError, TypeError, ValueError or AttributeError for others."""
    return Update.de_json(json.loads(body), bot)


class Poller:
    """The getUpdates loop. `trouble` says what is in its way, such as another poller that takes our updates."""

    def __init__(self, bot: Bot, inbox: UpdateRecorder, *, poll_s: int = POLL_S) -> None:
        self._bot = bot
        self._inbox = inbox
        self._poll_s = poll_s
        self._offset: int | None = None
        self._pauses = Backoff()
        self._rivalled = False
        self.trouble: str | None = "no answer from Telegram yet"

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                await self.run_once()
                self._pauses.reset()
                self._rivalled, self.trouble = False, None
            except Conflict as error:
                self._rivalled = True
                await self._pause(f"another poller or a webhook takes the updates: {error.message}")
            except RetryAfter as error:
                await self._pause("Telegram asks for a pause", seconds_of(error))
            except TelegramError as error:
                await self._pause(f"no answer from Telegram ({type(error).__name__})")
            except Unavailable as error:
                await self._pause(error.message)
            except Exception as error:  # noqa: BLE001 - whatever an update holds, the next ones must come
                await self._pause(f"something else answers in Telegram's place: {type(error).__name__}")

    async def run_once(self) -> int:
        """One poll: what came is committed, and only then acknowledged by the next poll's offset."""
        updates = await self._poll(self._patience())
        if updates:
            reach("events.received")
            await self._keep(updates)
            reach("events.recorded")
            self._offset = max(int(update["update_id"]) for update in updates if _is_numbered(update)) + 1
        return len(updates)

    async def _keep(self, updates: Sequence[Mapping[str, Any]]) -> None:
        """Keep all that can be kept: an update that can't be must not hold up those behind it. Raises Unavailable."""
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
        """How long to poll: not at all while it isn't known that Telegram answers, so that this is known soon.

        Against a rival only a whole long poll tells that it is gone.
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
        self.trouble = why
        _log.warning("telegram.polling", {"trouble": why})
        await asyncio.sleep(max(seconds, self._pauses.next()))


#: Errors that a malformed update raises.
_UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


def _is_numbered(update: Any) -> bool:
    """Whether it has the number that every update has."""
    return isinstance(update, dict) and type(update.get("update_id")) is int


def seconds_of(error: RetryAfter) -> float:
    """How long Telegram wants to be left alone."""
    wait = error.retry_after
    return float(wait if isinstance(wait, int | float) else wait.total_seconds())


def secret_fits(given: str | None, secret: str) -> bool:
    """Whether a webhook call carries our secret; compared in constant time, before anything is parsed."""
    return hmac.compare_digest((given or "").encode(), secret.encode())
