"""Time for tests of pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Hours:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        """So much of it passes."""
        self.now += seconds

    async def when(self, turn: Callable[[], Awaitable[None]], count: int) -> list[float]:
        """When each of so many turns came."""
        times = []
        for _ in range(count):
            await turn()
            times.append(self.now)
        return times
