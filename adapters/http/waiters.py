"""Lets callers wait: for a call, for their turn, or on a stream, at most until the caller's token or right ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from adapters.http.attendance import Attendance
from hitl.errors import SaysoError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Coroutine

    from adapters.http.callers import Caller
    from adapters.http.desk import Desk
    from adapters.http.waits import Waits
    from hitl.call import Call

T = TypeVar("T")


class Waiters:
    """Keeps the callers that wait.

    `check` raises Unauthenticated for a caller whose token or right has ended.
    """

    def __init__(self, desk: Desk, waits: Waits, check: Callable[[Caller], None]) -> None:
        self._desk = desk
        self._gate = desk.gate
        self._waits = waits
        self._check = check
        self.attendance = Attendance(self._left, waits.stopping)

    def attend(self, caller: Caller, call: Call, gone: asyncio.Future[None] | None, *, attended: bool) -> None:
        """If `attended` is True, note that the call's requester waits on this connection (`adapters.http.attendance`).

        Nothing is noted for a caller who isn't the call's requester.
        """
        if attended and gone is not None and caller.principal == self._gate.people.principal(call.requester):
            self.attendance.attend(call, gone)

    async def _left(self, call: Call) -> None:
        await self._gate.withdraw(call.ref, call.requester, left=True)

    async def wait(
        self, caller: Caller, call: Call, limit_s: float, until: str, gone: asyncio.Future[None] | None
    ) -> Call:
        """Return the call when the event that `until` names has happened, or after `limit_s` seconds.

        Raises Unauthenticated if the caller's token or right has ended meanwhile.
        """
        if limit_s <= 0:
            return call
        waits = {"decided": self._desk.decided, "explained": self._desk.explained, "ended": self._desk.ended}
        now = await self.until(caller, waits[until](call), limit_s, gone)
        return now or await self._gate.store.get(call.ref) or call

    async def until(
        self, caller: Caller, event: Awaitable[T], limit_s: float, gone: asyncio.Future[None] | None
    ) -> T | None:
        """Return the result of `event`, or None if `event` has no result within `limit_s` seconds.

        Raises Unauthenticated if the caller's token or right has ended meanwhile.
        """
        now = await self._waits.until(event, None, limit_s, caller.principal, gone)
        self._check(caller)
        return now

    async def hold(self, caller: Caller, work: Coroutine[Any, Any, None]) -> SaysoError | None:
        """Carry out `work` for a caller, at most until the caller's token ends or the service stops.

        Return None if the work ended by itself. If it was cancelled, return the reason as an error: Unauthenticated or
        Unavailable.
        """
        until = caller.credential.until if caller.credential else None
        limit_s = (until - self._gate.clock.now()).total_seconds() if until else None
        if await self._waits.during(work, limit_s, caller.principal):
            return None
        return Unavailable() if self._valid(caller) else Unauthenticated()

    def revoked(self, identity: str) -> None:
        """End all waits of a token that was revoked."""
        self._waits.end(self._gate.people.principal(identity))

    def hears(self, caller: Caller, gone: asyncio.Future[None] | None) -> bool:
        """Return whether the caller is still connected, and the caller's token and right are still valid."""
        return gone is not None and not gone.done() and self._valid(caller)

    def _valid(self, caller: Caller) -> bool:
        try:
            self._check(caller)
        except Unauthenticated:
            return False
        return True
