"""A bot's queue of updates: what it asked for, ids, expiry, acknowledgement, one poller at a time.

Lifetimes and the default of `allowed_updates` are those of the official server: a callback query
is kept for 150 seconds, everything else for 24 hours; an update that the bot did not ask for when
it happened is never delivered.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from simulators.common.clock import ServerClock
from simulators.telegram import errors
from simulators.telegram.errors import ApiError, Json, Refusal

DAY: Final = 86_400.0
CALLBACK_LIFETIME: Final = 150.0
MAX_LIMIT: Final = 100
MAX_TIMEOUT: Final = 50.0

KINDS: Final = frozenset(
    "message edited_message channel_post edited_channel_post callback_query my_chat_member chat_member"
    " message_reaction message_reaction_count inline_query chosen_inline_result shipping_query"
    " pre_checkout_query poll poll_answer chat_join_request chat_boost removed_chat_boost"
    " business_connection business_message edited_business_message deleted_business_messages"
    " purchased_paid_media".split()
)
ON_REQUEST: Final = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
DEFAULT: Final = KINDS - ON_REQUEST


@dataclass(frozen=True, slots=True)
class Update:
    """One thing that happened. Updates of one `lane` reach a webhook one after the other."""

    id: int
    kind: str
    payload: Json
    expires: float
    lane: str

    def as_json(self) -> Json:
        """Return the Update object."""
        return {"update_id": self.id, self.kind: self.payload}


class UpdateQueue:
    """The updates that wait for one bot. `touched` is called when a poller begins to wait."""

    def __init__(self, clock: ServerClock, touched: Callable[[], None], first_id: int = 700_000_001) -> None:
        self._touched = touched
        self.allowed: frozenset[str] = DEFAULT
        self.allowed_as_asked: list[str] = []
        self._clock = clock
        self._ids = itertools.count(first_id)
        self._waiting: dict[int, Update] = {}
        self._poller: asyncio.Future[Refusal | None] | None = None

    @property
    def polled(self) -> bool:
        """Whether somebody waits for updates right now."""
        return self._poller is not None

    def pending(self) -> list[Update]:
        """Return what waits and is still good, oldest first."""
        now = self._clock.now()
        for update in [one for one in self._waiting.values() if one.expires <= now]:
            del self._waiting[update.id]
        return list(self._waiting.values())

    def allow(self, kinds: Iterable[str] | None) -> None:
        """Remember which updates the bot wants: None keeps the last choice, empty is the default."""
        if kinds is None:
            return
        wanted = [kind for kind in kinds if kind in KINDS]
        self.allowed = frozenset(wanted) or DEFAULT
        self.allowed_as_asked = wanted

    def push(self, kind: str, payload: Json, lane: str) -> Update | None:
        """Queue something that happened, if the bot wants that kind."""
        if kind not in self.allowed:
            return None
        lifetime = CALLBACK_LIFETIME if kind == "callback_query" else DAY
        update = Update(next(self._ids), kind, payload, self._clock.now() + lifetime, lane)
        self._waiting[update.id] = update
        self._wake()
        return update

    def forget(self, update_id: int) -> None:
        """Drop one update: it was delivered."""
        self._waiting.pop(update_id, None)

    def clear(self) -> None:
        """Drop everything that waits."""
        self._waiting.clear()

    def take(self, offset: int, limit: int) -> list[Update]:
        """Acknowledge all before `offset` and return the next ones; they stay until acknowledged.

        A negative offset keeps that many of the newest and acknowledges the rest.
        """
        waiting = self.pending()
        gone = waiting[:offset] if offset < 0 else [one for one in waiting if one.id < offset]
        for update in gone:
            self.forget(update.id)
        return list(self._waiting.values())[:limit]

    async def poll(self, offset: int, limit: int, timeout: float) -> list[Update]:
        """Return updates, waiting up to `timeout` real seconds for the first.

        Raises `ApiError` 409 in the poll that a newer one, or a webhook, ends.
        """
        found = self.take(offset, limit)
        if found or not timeout:
            return found
        self.interrupt(errors.OTHER_POLLER)
        await self._wait(timeout)
        return self.take(offset, limit)

    def interrupt(self, refusal: Refusal) -> None:
        """End the poll that waits, if any, with this refusal."""
        if self._poller and not self._poller.done():
            self._poller.set_result(refusal)

    async def _wait(self, timeout: float) -> None:
        mine: asyncio.Future[Refusal | None] = asyncio.get_running_loop().create_future()
        self._poller = mine
        self._touched()
        try:
            refusal = await asyncio.wait_for(mine, timeout)
        except TimeoutError:
            return
        finally:
            if self._poller is mine:
                self._poller = None
        if refusal:
            raise ApiError(refusal)

    def _wake(self) -> None:
        if self._poller and not self._poller.done():
            self._poller.set_result(None)
