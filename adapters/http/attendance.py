"""Withdraws a call if the caller that waits for it on an open connection leaves and doesn't come back.

The connections are kept in memory only. After a restart, a caller that still waits sends its request again, and so is
noted again.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from hitl.call import Status
from hitl.errors import SaysoError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.call import Call

#: A caller may come back over another connection within this many seconds. Our clients pause at most 5 seconds between
#: two attempts.
GRACE_S = 10.0
#: The statuses of a call whose caller still waits for the decision, or has yet to claim the call.
_OPEN = frozenset({Status.PENDING, Status.APPROVED, Status.ALLOWED})
_log = logging.getLogger(__name__)


class Attendance:
    """Keeps the connections on which callers wait for their calls.

    `leave` ends a call because its caller has left. When the service stops, it closes all connections itself, so
    `leave` isn't called. This class observes the gate's changes, and forgets the calls that were claimed or are over.
    """

    def __init__(self, leave: Callable[[Call], Awaitable[object]], stopping: asyncio.Event) -> None:
        self._leave = leave
        self._stopping = stopping
        #: Ref of a call -> the connections on which its caller waits. The key of each connection is a future that
        #: resolves when the connection ends. The value is the callback on this future.
        self._here: dict[str, dict[asyncio.Future[None], Callable[[asyncio.Future[None]], None]]] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def attend(self, call: Call, gone: asyncio.Future[None]) -> None:
        """Note that a caller waits for a call on a connection, which ends when `gone` resolves."""
        if call.status not in _OPEN:
            return
        here = self._here.setdefault(call.ref, {})
        if gone not in here:
            here[gone] = partial(self._lost, call)
            gone.add_done_callback(here[gone])
        if timer := self._leaving.pop(call.ref, None):
            timer.cancel()

    def changed(self, call: Call) -> None:
        """Forget a call that was claimed or is over."""
        if call.status not in _OPEN:
            for gone, callback in self._here.pop(call.ref, {}).items():
                gone.remove_done_callback(callback)
            if timer := self._leaving.pop(call.ref, None):
                timer.cancel()

    def _lost(self, call: Call, gone: asyncio.Future[None]) -> None:
        here = self._here.get(call.ref)
        if here is None:
            return
        here.pop(gone, None)
        if not here:
            loop = asyncio.get_running_loop()
            self._leaving[call.ref] = loop.call_later(GRACE_S, self._left, call)

    def _left(self, call: Call) -> None:
        del self._leaving[call.ref], self._here[call.ref]
        if not self._stopping.is_set():
            task = asyncio.get_running_loop().create_task(self._end(call))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end(self, call: Call) -> None:
        try:
            await self._leave(call)
        except SaysoError as error:
            _log.info("call.not_left", {"ref": call.ref, "why": error.message})
