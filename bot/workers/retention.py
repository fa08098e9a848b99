"""Erases the arguments of old calls, and archives old calls, a few at a time.

The worker goes through the calls from new to old, page by page. It pauses after each page, so that people and agents
don't have to wait. The gate checks each call again, and writes the call together with a line of the audit record
(`hitl.gate.retain`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from hitl.errors import Tampered, Unavailable
from hitl.gate.retain import over_since
from hitl.proof.keyring import ref_at

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.call import Call
    from hitl.gate import Gate

_log = logging.getLogger(__name__)
#: The number of calls in each page. Verifying and writing them takes a few milliseconds.
_PAGE = 20
_PAUSE_S = 0.05
_REF_TICK = timedelta(milliseconds=1)
#: The seconds from one round through all calls to the next. This is often enough, because ages are counted in days.
_EVERY_S = 6 * 3600.0


class RetentionWorker:
    """Erases the arguments of calls that ended at least `arguments` ago.

    Archives calls that ended at least `calls` ago.

    If one of the two times is None, its step is left out.
    """

    def __init__(self, gate: Gate, *, arguments: timedelta | None, calls: timedelta | None) -> None:
        self._gate = gate
        self._arguments = arguments
        self._calls = calls
        self._task: asyncio.Task[None] | None = None
        #: The refs of calls that fail their integrity check and that the log has already named.
        self._named: set[str] = set()

    def start(self) -> None:
        """Begin the first round through all calls, unless nothing is ever archived or erased."""
        if self._arguments is not None or self._calls is not None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop immediately. A write that has begun is still finished. The next start continues with the remaining
        calls.
        """
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def sweep(self) -> None:
        """Go through all calls once. Raises Unavailable; the calls that were changed before that stay changed."""
        now, done = self._gate.clock.now(), Counter[str]()
        # A ref holds the time at which its call was made, in whole milliseconds. A call never ends before it was made.
        before = ref_at(now - min(age for age in (self._arguments, self._calls) if age is not None) + _REF_TICK)
        while calls := await self._gate.store.page(before, _PAGE, pending=False):
            for told in await asyncio.gather(*(self._retired(call, now) for call in calls)):
                done.update(told)
            before = calls[-1].ref
            await asyncio.sleep(_PAUSE_S)
        if done:
            _log.info("retention.done", dict(done))

    async def _retired(self, call: Call, now: datetime) -> list[str]:
        """Retire the call if it is old enough. Return the changes that were made: `erased`, `archived`, both or []."""
        over = over_since(call)
        archive = _is_old(over, now, self._calls)
        if not archive and not _is_old(over, now, self._arguments):
            return []
        try:
            retired = await self._gate.retire(call, archive=archive)
        except Tampered:
            if call.ref not in self._named:
                self._named.add(call.ref)
                _log.error("retention.kept_changed", {"ref": call.ref})
            return []
        if retired is None:
            return []
        done = {"erased": call.erased_at is None, "archived": retired.archived and not call.archived}
        return [what for what, is_new in done.items() if is_new]

    async def _run(self) -> None:
        while True:
            try:
                await self.sweep()
            except Unavailable as error:
                _log.warning("retention.postponed", {"why": error.message})
            except Exception:  # noqa: BLE001 - the calls are kept until the next pass, and the service goes on
                _log.exception("retention.postponed")
            await asyncio.sleep(_EVERY_S)


def _is_old(over: datetime | None, now: datetime, age: timedelta | None) -> bool:
    return over is not None and age is not None and over <= now - age
