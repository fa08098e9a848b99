"""Sends the messages of the outbox: to each route one after the other, to all routes at the same time.

Messages to one route wait for each other, so a slow chat delays only itself.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from bot.workers.bell import Bell
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from hitl.call import Sending
    from hitl.delivery import Delivery

_log = logging.getLogger(__name__)


class OutboxWorker:
    """Takes the messages that are due, and sends them. `start` runs a coroutine as a task that outlives `run`."""

    def __init__(self, delivery: Delivery, start: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        self._delivery = delivery
        self._start = start
        self._bell = Bell()
        #: The routes to which a message is being sent.
        self._busy: set[str] = set()

    @property
    def idle(self) -> bool:
        """True while the worker sends no message."""
        return not self._busy

    def wake(self) -> None:
        """Look for messages now, because one may have been queued."""
        self._bell.ring()

    async def run(self) -> None:
        """Send messages until cancelled. The messages that are being sent then continue."""
        while True:
            self._bell.reset()
            try:
                taken = await self._delivery.take(self._busy)
            except Unavailable as error:
                _log.warning("outbox.postponed", {"why": error.message})
                taken = ()
            except Exception:  # noqa: BLE001 - an uncaught error would end this loop
                # Any error is caught here. An uncaught error would end the sending of all cards, and nobody would
                # notice.
                _log.exception("outbox.postponed")
                taken = ()
            for sending in taken:
                self._busy.add(sending.post.route)
                self._start(self._send(sending))
            if not taken:
                await self._bell.wait()

    async def _send(self, sending: Sending) -> None:
        """Send one message, then let the next message to the same route be sent."""
        try:
            await self._delivery.send(sending)
        except Unavailable as error:
            _log.warning("outbox.not_recorded", {"ref": sending.post.ref, "why": error.message})
        finally:
            self._busy.discard(sending.post.route)
            self._bell.ring()
