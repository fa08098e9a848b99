"""Keeps to Slack's rate limits: one message a second in a channel, and fifty edits a minute in all.

The limits are from Slack's page "Rate limits": `chat.postMessage` is limited by channel, `chat.update` is in tier 3.
Waiting here costs less than a refusal with status 429, which stops the method for the whole workspace. Refreshes of
open cards use at most half of the edits, because people wait for the other edits, which show outcomes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.ports import NotYetError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PER_CHANNEL_S = 1.0
EDITS = 50
#: This many edits a minute are kept free for outcomes: refreshes of open cards don't use them.
KEPT_EDITS = 25
EDITS_S = 60.0
_KEPT_CHANNELS = 10_000


class Pace:
    """Time slots for the messages of each channel and for edits.

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
        self._next: FIFOCache[str, float] = FIFOCache(_KEPT_CHANNELS)
        self._edits: deque[float] = deque(maxlen=EDITS)
        self._edits_from = 0.0

    async def turn(self, channel: str) -> None:
        """Wait for this channel's next slot for a message."""
        at = max(self._now(), self._next.get(channel, 0.0))
        self._reserve(channel, at + PER_CHANNEL_S * self._scale)
        await self._until(at)

    async def edit(self) -> None:
        """Wait for the next slot for an edit."""
        at = self._edit_at(EDITS)
        self._edits.append(at)
        await self._until(at)

    def edit_now(self, *, refresh: bool) -> None:
        """Take a slot for an edit if a slot is free now.

        Otherwise raise NotYetError with the seconds to wait, so that new cards needn't wait for the edit. With
        `refresh`, the edit only refreshes an open card and leaves slots to outcomes.
        """
        at = self._edit_at(EDITS - KEPT_EDITS if refresh else EDITS)
        now = self._now()
        if at > now:
            raise NotYetError(at - now)
        self._edits.append(at)

    def hold(self, channel: str, seconds: float) -> None:
        """Give out no slot for a message in this channel for so many seconds, because Slack asked for a pause."""
        self._reserve(channel, max(self._next.get(channel, 0.0), self._now() + seconds))

    def hold_edits(self, seconds: float) -> None:
        """Give out no slot for an edit for so many seconds, because Slack asked for a pause."""
        self._edits_from = max(self._edits_from, self._now() + seconds)

    def _edit_at(self, most: int) -> float:
        """Return the earliest time of the next edit, with at most `most` edits a minute."""
        full = len(self._edits) >= most
        return max(self._now(), self._edits_from, self._edits[-most] + EDITS_S * self._scale if full else 0.0)

    def _reserve(self, channel: str, until: float) -> None:
        self._next[channel] = until

    async def _until(self, at: float) -> None:
        await self._sleep(max(0.0, at - self._now()))
