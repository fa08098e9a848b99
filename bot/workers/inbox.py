"""Handles the events of the inbox: in each conversation one after the other, each until it is done or has failed five
times.

Conversations don't wait for one another: a slow platform or a failing event delays only one conversation.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from bot.workers.bell import Bell
from hitl.call import Entry, Event
from hitl.errors import Unavailable
from hitl.faults import reach
from hitl.platforms import Untaken
from hitl.ports import Change, PlatformError, adding
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.call import Incoming
    from hitl.events import Heard
    from hitl.platforms import Hear
    from hitl.ports import CallsAndEvents

ASIDE_AFTER = 5
#: The events of at most this many conversations are handled at the same time.
_AT_ONCE = 100
#: A stop waits this many seconds for events that are being handled. Unfinished events are handled at the next start.
_STOP_WITHIN_S = 2.0
_LONGEST_WAIT_S = 60.0
#: At most this many handled events are remembered. A remembered event isn't handled by our handlers again.
_HEARD = 10_000
_log = logging.getLogger(__name__)


class Intake:
    """Reads the recorded events of one platform (`source`), hands them to its dispatcher, and marks them as done.

    The dispatcher translates an event and passes it to `hear`. If `dispatch` raises, the event is tried again. But if
    the event is about a call, the commit that decides the call or records the reply also marks the event as done. If
    `dispatch` raises after that commit, the error is logged, and the event isn't tried again.
    """

    def __init__(
        self,
        store: CallsAndEvents,
        source: str,
        dispatch: Callable[[Incoming, Hear], Awaitable[None]],
        hear: Hear,
    ) -> None:
        self._store = store
        self._source = source
        self._dispatch = dispatch
        self._hear = hear
        self._bell = Bell()
        self._busy: dict[str, asyncio.Task[None]] = {}
        #: The number of events of other sources in the result of the last look. The next look asks for this many more
        #: events, so that those events can't keep this source's events out of the result.
        self._foreign = 0
        #: Events that our own handlers have handled completely. For such an event, an operator's handler may have
        #: failed later.
        self._heard: FIFOCache[str, None] = FIFOCache(_HEARD)

    @property
    def idle(self) -> bool:
        """Return whether no event is being handled."""
        return not self._busy

    def wake(self) -> None:
        """Look for events now, because one was recorded."""
        self._bell.ring()

    async def run(self) -> None:
        """Handle events until cancelled. When cancelled, wait for the events that are being handled."""
        try:
            while True:
                self._bell.reset()
                await self._begin()
                await self._bell.wait()
        finally:
            await self._finish()

    async def _begin(self) -> None:
        """Begin to handle the next event of each conversation in which no event is being handled now."""
        try:
            events = await self._store.incoming(_AT_ONCE + len(self._busy) + self._foreign)
        except Unavailable as error:
            _log.warning("intake.postponed", {"why": error.message})
            return
        except Exception:  # noqa: BLE001 - an uncaught error would end this loop
            # Any error is caught. An uncaught error would end the handling of all events, and nobody would notice.
            _log.exception("intake.postponed")
            return
        self._foreign = sum(event.source != self._source for event in events)
        for event in events:
            if event.source == self._source and event.order not in self._busy:
                self._busy[event.order] = asyncio.create_task(self._handle(event))
                self._busy[event.order].add_done_callback(partial(self._free, event.order))

    def _free(self, order: str, _task: asyncio.Task[None]) -> None:
        del self._busy[order]
        self._bell.ring()

    async def _handle(self, event: Incoming) -> None:
        reach("intake.handling")
        try:
            if event.intact:
                await self._dispatch(event, partial(self._hear_once, event))
            else:
                await self._refuse(event)
            await self._store.commit(adding(Change(handled=(event.source, event.id))))
        except Unavailable as error:
            await self._pause(event, error.message, 1.0)
        except PlatformError as error:
            _log.warning("intake.failed", {"source": event.source, "id": event.id, "why": str(error)})
            wait_s = min(error.retry_s or 2.0**event.failures, _LONGEST_WAIT_S)
            await self._failed(event, error, wait_s if error.passing else 0.0)
        except Exception as error:  # noqa: BLE001 - the event is logged, counted and set aside
            _log.exception("intake.failed", {"source": event.source, "id": event.id})
            await self._failed(event, error, 0.0)
        reach("intake.handled")

    async def _hear_once(self, event: Incoming, heard: Heard) -> None:
        """Pass an event to our handlers, unless they have handled it already.

        An event comes again if an operator's handler failed after our handlers.
        """
        if event.id in self._heard:
            return
        # Some events of a platform don't say when they happened. For such an event, the time of its arrival is used.
        arrived = event.received_at
        await self._hear(replace(heard, at=heard.at or arrived, event=(event.source, event.id), received_at=arrived))
        self._heard[event.id] = None

    async def _refuse(self, event: Incoming) -> None:
        """Record an event that was changed or forged in the database. The caller marks the event as handled."""
        _log.error("intake.tampered", {"source": event.source, "id": event.id})
        entry = Entry("", Event.TAMPERED, "service", {"source": event.source, "event": event.id})
        await self._store.commit(adding(Change(entries=(entry,))))

    async def _failed(self, event: Incoming, error: Exception, wait_s: float) -> None:
        """Count a failure of an event. After ASIDE_AFTER failures, set the event aside (immediately if no handler takes
        it).

        Otherwise wait `wait_s` seconds before the retry.
        """
        try:
            tries = 1 if isinstance(error, Untaken) else ASIDE_AFTER
            aside = await self._store.stumble(event.source, event.id, type(error).__name__, aside_after=tries)
        except Unavailable as unavailable:
            return await self._pause(event, unavailable.message, 1.0)
        if aside is None:
            # The event was marked as done by the commit that decided the call. An operator's handler failed after that
            # commit.
            _log.warning("intake.not_retried", {"source": event.source, "id": event.id})
        elif aside:
            _log.error("intake.set_aside", {"source": event.source, "id": event.id})
        else:
            await asyncio.sleep(wait_s)
        return None

    async def _pause(self, event: Incoming, why: str, seconds: float) -> None:
        _log.warning("intake.postponed", {"source": event.source, "id": event.id, "why": why})
        await asyncio.sleep(seconds)

    async def _finish(self) -> None:
        tasks = list(self._busy.values())
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_WITHIN_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
