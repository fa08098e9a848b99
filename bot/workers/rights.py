"""Ends the pending calls that no approval can make run any more, because somebody's rights have changed.

The requester of a call may have lost the right to ask, or too few people may be left who can approve it. Rights change
by `sayso revoke`, by a reload of the lists of people, by a new policy, and because a token was revoked or ran out. The
gate checks the rights again at each approval and each claim, so nothing runs if this worker is late.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import TYPE_CHECKING

from bot.workers.bell import Bell
from hitl.call import State
from hitl.errors import PolicyUnusable, SaysoError, Unavailable

if TYPE_CHECKING:
    from hitl.gate import Gate

_log = logging.getLogger(__name__)
#: The worker notices a new policy, and tries again after trouble, within this many seconds.
_LOOK_EVERY_S = 1.0
#: So many calls are checked together, and share a commit if they end. Other tasks run between two batches.
_BATCH = 20


class Rights:
    """Rechecks the pending calls after each change of the directory or the policy, and when a token runs out."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._bell = Bell()
        self._task: asyncio.Task[None] | None = None
        #: The rights of the last complete check (`_rights`).
        self._checked: tuple[object, ...] = ()
        self._once_more = False
        gate.people_changed = self._bell.ring

    async def start(self) -> None:
        """Begin to check the pending calls, first those of the last process: rights may have changed while no process
        ran.
        """
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop checking the pending calls."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._bell.reset()
            try:
                await self._look()
            except Unavailable as error:
                _log.warning("rights.postponed", {"why": error.message})
            except Exception:  # noqa: BLE001 - an uncaught error would end this loop
                _log.exception("rights.postponed")
            await self._bell.wait(min(_LOOK_EVERY_S, self._until_next_end_s()))

    async def _look(self) -> None:
        """Check all pending calls after a change of the rights, and once more when the worker looks again.

        When the rights change, a new call may already have passed the checks of the gate and not be stored yet. Only
        the second check finds this call.
        """
        rights = self._rights()
        changed = rights != self._checked
        if not changed and not self._once_more:
            return
        refs = await self._gate.store.pending_refs()
        for start in range(0, len(refs), _BATCH):
            await asyncio.gather(*map(self._recheck, refs[start : start + _BATCH]))
        # No call could be on its way before the first check of this process.
        self._once_more = changed and bool(self._checked)
        self._checked = rights

    async def _recheck(self, ref: str) -> None:
        call = await self._gate.store.get(ref)
        if call is None or call.state is not State.AWAITING:
            return
        try:
            await self._gate.recheck(call)
        except Unavailable:
            raise
        except SaysoError as error:
            # Somebody decided the call first, or its stored row was changed. In both cases the gate refuses to run the
            # call.
            _log.info("rights.not_ended", {"ref": ref, "why": error.message})

    def _rights(self) -> tuple[object, ...]:
        """Return the directory, the tokens that have ended, and the digest of the policy."""
        people, now = self._gate.people, self._gate.clock.now()
        ended = frozenset(name for name, end in people.token_ends.items() if end <= now)
        try:
            policy = self._gate.policies.current().digest
        except PolicyUnusable:
            policy = ""
        return people, ended, policy

    def _until_next_end_s(self) -> float:
        """Return the seconds until the next token runs out, or infinity if no token has an end in the future."""
        now = self._gate.clock.now()
        ahead = [end for end in self._gate.people.token_ends.values() if end > now]
        return (min(ahead) - now).total_seconds() if ahead else math.inf
