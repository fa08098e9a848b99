"""Wakes a worker that waits for work."""

from __future__ import annotations

import asyncio

#: By default, a worker looks for work again after this many seconds, even if nobody wakes it: a retry may be due, and
#: another process may have stored work.
_AT_LEAST_EVERY_S = 1.0


class Bell:
    """Wakes one worker. The worker calls `reset`, looks for work, and calls `wait` if it has found none.

    In this order, no ring is lost that comes while the worker looks.
    """

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake the worker, because there may be work."""
        self._rung.set()

    def reset(self) -> None:
        """Forget the rings until now."""
        self._rung.clear()

    async def wait(self, within_s: float | None = _AT_LEAST_EVERY_S) -> None:
        """Wait until somebody rings, but at most `within_s` seconds. With None, wait without a limit."""
        try:
            async with asyncio.timeout(within_s):
                await self._rung.wait()
        except TimeoutError:
            return
