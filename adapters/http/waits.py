"""Lets a request wait for an event.

The wait ends when the event comes, at a time limit, when the caller hangs up, and when the service stops.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, TypeVar

from hitl.errors import TooManyPending
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Iterator
    from typing import Any

T = TypeVar("T")
#: At most this many requests of one caller may wait at the same time. The service promises room for 1,000 waiting
#: agents.
MOST_WAITING = 2_000


class Waits:
    """Counts the requests that wait, and ends all waits when the service stops."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._clocks: dict[str, set[asyncio.Timeout]] = {}
        self.stopping = asyncio.Event()

    def stop(self) -> None:
        """End all waits now. From then on, every new wait ends immediately."""
        self.stopping.set()
        for who in self._clocks:
            self.end(who)

    def end(self, who: str) -> None:
        """End all waits of one caller now."""
        for clock in self._clocks.get(who, ()):
            _end(clock)

    async def until(
        self, event: Awaitable[T], otherwise: T, limit_s: float | None, who: str, gone: asyncio.Future[None] | None
    ) -> T:
        """Return the result of `event`, or `otherwise` if `event` has no result within `limit_s` seconds.

        `gone` resolves when the caller hangs up. Then the wait ends with `otherwise` too. Raises TooManyPending if too
        many requests of `who` wait already.
        """
        task = asyncio.ensure_future(event)
        try:
            self._check_room(who)
            async with asyncio.timeout(0 if self.stopping.is_set() else limit_s) as clock:
                with self._ended_with(clock, who, gone):
                    return await task
        except TimeoutError:
            return otherwise
        finally:
            task.cancel()

    async def during(self, work: Coroutine[Any, Any, None], limit_s: float | None, who: str) -> bool:
        """Carry out `work`, and return whether the work ended by itself.

        The work is cancelled after `limit_s` seconds, when all waits of the caller are ended, and when the service
        stops. Raises the error of `work`, and TooManyPending as `until` does.
        """
        task = asyncio.ensure_future(work)
        try:
            await self.until(asyncio.wait([task]), None, limit_s, who, None)
            ended = task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])
        if ended:
            task.result()
        return ended

    def _check_room(self, who: str) -> None:
        if len(self._clocks.get(who, ())) >= self._most:
            raise TooManyPending(fact(Refusal.WAITING, who=who, count=self._most))

    @contextlib.contextmanager
    def _ended_with(self, clock: asyncio.Timeout, who: str, gone: asyncio.Future[None] | None) -> Iterator[None]:
        """End the wait early when the service stops, `gone` resolves, or all waits of the caller are ended."""

        def end(_: object) -> None:
            _end(clock)

        self._clocks.setdefault(who, set()).add(clock)
        if gone is not None:
            gone.add_done_callback(end)
        try:
            yield
        finally:
            self._clocks[who].discard(clock)
            if not self._clocks[who]:
                del self._clocks[who]
            if gone is not None:
                gone.remove_done_callback(end)


def _end(clock: asyncio.Timeout) -> None:
    if not clock.expired():
        clock.reschedule(asyncio.get_running_loop().time())
