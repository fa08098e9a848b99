"""The server's clock: real seconds, times a speed, plus whatever a test added to it."""

from __future__ import annotations

import asyncio
import math
import time


class ServerClock:
    """A clock in Unix seconds that a test may move forward.

    `speed` is how many of its seconds pass in one real second.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._base = time.time()
        self._started = time.monotonic()
        self._added = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Return the time, in Unix seconds."""
        return self._base + self._added + (time.monotonic() - self._started) * self.speed

    def date(self) -> int:
        """Return the time in whole Unix seconds."""
        return int(self.now())

    def advance(self, seconds: float) -> None:
        """Move the clock forward and wake everything that waits for it."""
        self._added += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep_until(self, when: float) -> None:
        """Return when the clock has reached `when`, in Unix seconds."""
        while (left := when - self.now()) > 0:
            await _either(self._moved, left / self.speed)

    def real_seconds(self, seconds: float) -> int:
        """Return how many whole real seconds it takes until `seconds` of this clock have passed."""
        return max(1, math.ceil(seconds / self.speed))


async def _either(event: asyncio.Event, seconds: float) -> None:
    """Return when the event is set, or after so many real seconds."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
