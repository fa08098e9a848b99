"""Wakes code in this process that waits for a call to change. Each waiter has a future, so nothing polls.

The service is the only writer of its database, and this module follows the gate's changes. So it keeps the calls that
changed last in memory, and reads only older calls from the store.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from hitl.call import Call
    from hitl.ports import Calls

#: At most this many calls are kept in memory, at about 3 KB each. A few hundred other calls change while an agent
#: handles an answer. When the agent waits again, its call should still be in memory.
_REMEMBERED = 512
#: Calls with more text than this are read from the store each time. If they were remembered, hundreds of large calls
#: could fill the memory.
_LONGEST = 1 << 14


class Waiting:
    """Follows the gate's changes, and wakes the code that waits for them."""

    def __init__(self, store: Calls) -> None:
        self._store = store
        self._waiters: dict[str, set[asyncio.Future[Call]]] = defaultdict(set)
        self._latest: FIFOCache[str, Call] = FIFOCache(_REMEMBERED)

    def changed(self, call: Call) -> None:
        """Wake everything that waits for this call."""
        self._remember(call)
        for waiter in self._waiters.pop(call.ref, ()):
            if not waiter.done():
                waiter.set_result(call)

    async def until(self, call: Call, holds: Callable[[Call], bool], limit_s: float | None = None) -> Call:
        """Return the call when the condition holds, or its current state when `limit_s` seconds have passed."""
        if holds(call):
            return call
        try:
            async with asyncio.timeout(limit_s):
                while not holds(call):
                    call = await self._next(call)
        except TimeoutError:
            return await self._store.get(call.ref) or call
        return call

    async def _next(self, seen: Call) -> Call:
        waiter: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        self._waiters[seen.ref].add(waiter)
        try:
            latest = self._latest.get(seen.ref) or await self._store.get(seen.ref)
            if latest is not None and (latest.version, latest.due_at) != (seen.version, seen.due_at):
                return latest
            return await waiter
        finally:
            self._forget(seen.ref, waiter)

    def _remember(self, call: Call) -> None:
        if _length(call) > _LONGEST:
            self._latest.pop(call.ref, None)
        else:
            self._latest[call.ref] = call

    def _forget(self, ref: str, waiter: asyncio.Future[Call]) -> None:
        waiters = self._waiters.get(ref)
        if waiters is not None:
            waiters.discard(waiter)
            if not waiters:
                del self._waiters[ref]


def _length(call: Call) -> int:
    """Return the length of all texts in the call that agents, tools and people wrote."""
    return sum(map(len, (call.args, call.preview, call.note, call.output or "", call.error or "", call.reason or "")))
