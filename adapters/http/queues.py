"""`Prefer: queue`: a request waits in line while its agent has as many calls as it may have."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, Literal

from hitl.call import Status
from hitl.errors import TooManyPending
from hitl.limits import CEILING
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hitl.call import Call

#: At most this many requests of one agent may wait in line, and `CEILING` (`hitl.limits`) times as many requests of one
#: requester. The second limit is needed because one requester may use any number of agent names. In each agent's line,
#: the first request tries again and again to submit its call.
MOST = 32
#: The first request in line tries again after this many seconds, because no event reports that a rate limit has room
#: again.
_RETRY_S = 1.0


class _Line(deque["Place"]):
    """The waiting requests of one agent, the oldest first, and the refusal of the latest attempt to submit a call."""

    refusal: TooManyPending | None = None


class Place:
    """One request's place in a line."""

    def __init__(self, line: _Line, who: str) -> None:
        self._line = line
        self._who = who
        self._tried = False
        self.moved = asyncio.Event()

    def refused(self, error: TooManyPending) -> None:
        """Store the refusal of an attempt to submit a call, for all requests that wait in this line."""
        self._line.refusal = error

    @property
    def refusal(self) -> TooManyPending:
        """The refusal to send when the request's time in line has ended."""
        return self._line.refusal or TooManyPending(fact(Refusal.WAITING, who=self._who, count=len(self._line)))

    async def turn(self) -> Literal[True] | None:
        """Wait until this request is the first in line and may try to submit its call; then return True.

        The first request may try immediately, and again each time that there may be room.
        """
        while self._line[0] is not self:
            await self.moved.wait()
            self.moved.clear()
        if self._tried:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RETRY_S):
                    await self.moved.wait()
        self.moved.clear()
        self._tried = True
        return True


class Queues:
    """Keeps a line of waiting requests for each requester and agent, in the order in which the requests came.

    This class follows the gate's changes, because the end of a call makes room.
    """

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, _Line]] = {}

    def changed(self, call: Call) -> None:
        """If the call is no longer pending, let the first request in each line of the call's requester try again to
        submit.
        """
        if call.status is not Status.PENDING:
            for line in self._lines.get(call.requester, {}).values():
                line[0].moved.set()

    @contextlib.contextmanager
    def place(self, requester: str, agent: str) -> Iterator[Place]:
        """Give a request a place at the end of its agent's line.

        Raises TooManyPending if the line is full, or if all lines of the requester together are full.
        """
        lines = self._lines.get(requester, {})
        if len(lines.get(agent, ())) >= MOST:
            raise TooManyPending(fact(Refusal.WAITING, who=agent or requester, count=MOST))
        if sum(map(len, lines.values())) >= CEILING * MOST:
            raise TooManyPending(fact(Refusal.WAITING, who=requester, count=CEILING * MOST))
        lines = self._lines.setdefault(requester, {})
        line = lines.setdefault(agent, _Line())
        place = Place(line, agent or requester)
        line.append(place)
        try:
            yield place
        finally:
            line.remove(place)
            if line:
                line[0].moved.set()
            else:
                del lines[agent]
            if not lines:
                del self._lines[requester]
