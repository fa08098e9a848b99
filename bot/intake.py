"""The inbox at work: events in the order of their conversation, each until it is done or has failed five times."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from hitl.errors import Unavailable
from hitl.faults import reach
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from hitl.model import Incoming
    from hitl.ports import Store

ASIDE_AFTER = 5
_log = structlog.get_logger()


class Intake:
    """Reads what surfaces recorded and hands it on. `handlers` are by source; each may raise, and is tried again."""

    def __init__(self, store: Store, handlers: Mapping[str, Callable[[Incoming], Awaitable[None]]]) -> None:
        self._store = store
        self._handlers = handlers
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Something was recorded."""
        self._woken.set()

    async def run(self) -> None:
        """For ever: what is there, then wait for more."""
        while True:
            self._woken.clear()
            try:
                busy = await self.run_once()
            except Unavailable as error:
                _log.warning("intake.postponed", why=error.message)
                busy = 0
            if not busy:
                await self._wait()

    async def run_once(self) -> int:
        """Handle the next event of each conversation; how many there were."""
        events = await self._store.incoming()
        await asyncio.gather(*(self._handle(event) for event in events))
        return len(events)

    async def _handle(self, event: Incoming) -> None:
        reach("intake.handling")
        try:
            await self._handlers[event.source](event)
        except Unavailable:
            raise
        except (PlatformError, LookupError, TypeError, ValueError, AttributeError) as error:
            _log.exception("intake.failed", source=event.source, id=event.id, failures=event.failures + 1)
            if await self._store.stumble(event.source, event.id, type(error).__name__, aside_after=ASIDE_AFTER):
                _log.error("intake.set_aside", source=event.source, id=event.id)
        reach("intake.handled")

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(1.0):
                await self._woken.wait()
        except TimeoutError:
            return
