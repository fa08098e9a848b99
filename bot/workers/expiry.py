"""One timer for all deadlines, claim windows and leases, set to the next `due_at` in the store's index.

There is no timer for each call. If the timer is late or stops, calls expire late, but no late approval counts: the
write of each decision checks the time itself.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.call import Call
    from hitl.gate import Gate
    from hitl.ports import CallsAndCards, Clock

_BATCH = 500
_SOONEST_S = 0.001
_AFTER_TROUBLE_S = 1.0
_log = logging.getLogger(__name__)


class Expiry:
    """Keeps the timer. It follows the gate's changes, because every change of a call may bring an earlier deadline."""

    def __init__(self, store: CallsAndCards, gate: Gate, clock: Clock) -> None:
        self._store = store
        self._gate = gate
        self._clock = clock
        self._armed_for: datetime | None = None
        self._looked: datetime | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._sweep: asyncio.Task[None] | None = None
        self._stopped = False

    async def start(self) -> None:
        """End the calls that became overdue while no process ran, and set the timer for the next deadline."""
        await self.sweep()

    async def stop(self) -> None:
        """Stop the timer. If calls are being ended now, wait until this is done."""
        self._stopped = True
        if self._timer:
            self._timer.cancel()
        if self._sweep:
            await self._sweep

    def changed(self, call: Call) -> None:
        """Set the timer for this call if the call is due before the time for which the timer is set."""
        if call.due_at is not None and (self._armed_for is None or call.due_at < self._armed_for):
            self._arm(call.due_at)

    async def sweep(self) -> None:
        """End all overdue calls, in batches that share commits. Then set the timer for the next deadline."""
        ended, before, looked = 0, self._looked, self._clock.now()
        self._looked = looked
        while due := await self._store.due(_BATCH):
            settled = await asyncio.gather(*(self._settle(call) for call in due))
            ended += sum(call is not None for call in settled)
            if not any(settled):
                break
        self._armed_for = None
        next_due = await self._store.next_due()
        if next_due is None:
            return
        if not ended and (next_due <= looked or before == looked):
            # The timer is set to a later time in two cases: an overdue call couldn't be ended, or the time doesn't
            # advance because the clock was set back. In these cases, looking again immediately could repeat without
            # end. If the timer only fired early, this code doesn't run.
            self._arm_in(_AFTER_TROUBLE_S)
        else:
            self._arm(next_due)

    async def _settle(self, call: Call) -> Call | None:
        cards = await self._store.cards(call.ref) if call.routes else {}
        unseen = bool(call.routes) and not any(cards.values()) and not self._gate.seen_locally(call)
        return await self._gate.settle(call, unseen=unseen)

    def _arm(self, at: datetime) -> None:
        self._arm_in(max(_SOONEST_S, (at - self._clock.now()).total_seconds()))
        self._armed_for = at

    def _arm_in(self, seconds: float) -> None:
        if self._stopped:
            return
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._fire)

    def _fire(self) -> None:
        if self._sweep is None or self._sweep.done():
            self._sweep = asyncio.get_running_loop().create_task(self._swept())

    async def _swept(self) -> None:
        try:
            await self.sweep()
        except Exception:  # noqa: BLE001 - an uncaught error would end the timer
            # Any error is caught. After an uncaught error, the service would look at no more deadlines.
            _log.exception("expiry.postponed")
            self._arm_in(_AFTER_TROUBLE_S)
