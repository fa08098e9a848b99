"""Keeps to Telegram's rate limits: one message a second in a chat, 20 a minute in a group, 30 a second in all.

The limits are from the Bot FAQ ("My bot is hitting limits"). Edits count like messages. Waiting here costs less than a
refusal with status 429, which stops all messages. Refreshes of open cards leave room for messages that people wait for:
new cards and outcomes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.ports import NotYetError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PER_CHAT_S = 1.0
PER_GROUP = 20
PER_GROUP_S = 60.0
#: Refreshes of open cards leave this many messages a minute in a group free for new cards and outcomes.
KEPT_PER_GROUP = 10
OVERALL = 30
OVERALL_S = 1.0
_KEPT_CHATS = 10_000


class Pace:
    """Time slots for the messages of each chat and of all chats.

    `scale` shortens every wait, for a test server with other limits.
    """

    def __init__(
        self,
        now: Callable[[], float],
        *,
        scale: float = 1.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._scale = scale
        self._sent: FIFOCache[int, deque[float]] = FIFOCache(_KEPT_CHATS)
        #: The time of each chat's latest message that wasn't a refresh. A message needn't wait a second after a
        #: refresh, because Telegram allows short bursts.
        self._last: FIFOCache[int, float] = FIFOCache(_KEPT_CHATS)
        self._all: deque[float] = deque(maxlen=OVERALL)

    async def turn(self, chat_id: int) -> None:
        """Wait for this chat's next slot, then for the next slot of all chats, so that a slow chat blocks no other
        chat.
        """
        self._last[chat_id] = at = _take(self._of(chat_id), self._free(chat_id))
        await self._until(at)
        await self._until(_take(self._all, self._free_for_all()))

    async def refresh(self, chat_id: int) -> None:
        """Take a slot for a refresh if a slot is free now.

        Otherwise raises NotYetError with the seconds to wait, also if too few slots would be left for other messages.
        """
        sent = self._of(chat_id)
        at = max(self._free(chat_id), self._free_for_all(), sent[-1] + PER_CHAT_S * self._scale if sent else 0.0)
        if chat_id < 0 and len(sent) >= PER_GROUP - KEPT_PER_GROUP:
            at = max(at, sent[KEPT_PER_GROUP - PER_GROUP] + PER_GROUP_S * self._scale)
        now = self._now()
        if at > now:
            raise NotYetError(at - now)
        _take(sent, now)
        _take(self._all, now)

    def hold(self, chat_id: int, seconds: float) -> None:
        """Give out no slot in this chat for so many seconds, because Telegram asked for a pause."""
        self._last[chat_id] = _take(self._of(chat_id), self._now() + seconds)

    async def _until(self, at: float) -> None:
        await self._sleep(max(0.0, at - self._now()))

    def _of(self, chat_id: int) -> deque[float]:
        """Return the times of the chat's latest messages, including the planned times of messages that aren't sent yet.

        If there are too many chats, the chats without a message for the longest time are dropped.
        """
        sent = self._sent.get(chat_id) or deque(maxlen=PER_GROUP)
        self._sent[chat_id] = sent
        return sent

    def _free(self, chat_id: int) -> float:
        sent = self._sent[chat_id]
        last = self._last.get(chat_id)
        at = self._now() if last is None else max(self._now(), last + PER_CHAT_S * self._scale)
        full = chat_id < 0 and len(sent) == PER_GROUP
        return max(at, sent[0] + PER_GROUP_S * self._scale) if full else at

    def _free_for_all(self) -> float:
        full = len(self._all) == OVERALL
        return max(self._now(), self._all[0] + OVERALL_S * self._scale) if full else self._now()


def _take(slots: deque[float], at: float) -> float:
    slots.append(at)
    return at
