"""`Prefer: queue`: a requester with too many pending calls waits in line until there is room."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING

from hitl.call import Status
from hitl.errors import TooManyPending
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.call import Call
    from hitl.gate.response import Submitted

#: At most this many requests of one requester may wait in line.
MOST = 32


class Queues:
    """Keeps one waiting line for each requester, in order.

    An ended call makes room, so this observes the gate's changes.
    """

    def __init__(self) -> None:
        self._lines: dict[str, deque[asyncio.Event]] = {}

    def changed(self, call: Call) -> None:
        """If the call is no longer pending, let the first request in its requester's line try again."""
        if call.status is not Status.PENDING:
            self._wake(call.requester)

    async def in_turn(self, requester: str, submit: Callable[[], Awaitable[Submitted]]) -> Submitted:
        """Call `submit` when all earlier requests in line have been served and there is room.

        Raises TooManyPending if the line is full.
        """
        line = self._lines.setdefault(requester, deque())
        if len(line) >= MOST:
            raise TooManyPending(fact(Refusal.WAITING, who=requester, count=MOST))
        place = asyncio.Event()
        line.append(place)
        try:
            while True:
                place.clear()
                if line[0] is place:
                    with contextlib.suppress(TooManyPending):
                        return await submit()
                await place.wait()
        finally:
            line.remove(place)
            self._wake(requester)

    def _wake(self, requester: str) -> None:
        line = self._lines.get(requester)
        if line:
            line[0].set()
        else:
            self._lines.pop(requester, None)
