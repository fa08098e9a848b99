"""Withdraws the pending calls of requesters who lost the right to ask.

A requester loses the right by `sayso revoke`, by a reload of the lists of people, or because their token was revoked or
ran out. The gate checks the right again at each approval and each claim, so nothing runs if this worker is late.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from bot.workers.bell import Bell
from hitl.errors import SaysoError, Unavailable

if TYPE_CHECKING:
    from hitl.call import Call
    from hitl.gate import Gate

_log = logging.getLogger(__name__)
_AFTER_TROUBLE_S = 1.0


class Requesters:
    """Looks at the requesters of the pending calls after each change of the directory, and when a token runs out."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._bell = Bell()
        self._task: asyncio.Task[None] | None = None
        gate.people_changed = self._bell.ring

    async def start(self) -> None:
        """Begin to check the requesters, first those of the last process's calls: the lists may have changed while no
        process ran.
        """
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop checking the right of requesters to ask."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._bell.reset()
            try:
                await self._look()
                wait_s = self._until_next_end_s()
            except Unavailable as error:
                _log.warning("requesters.postponed", {"why": error.message})
                wait_s = _AFTER_TROUBLE_S
            await self._bell.wait(wait_s)

    async def _look(self) -> None:
        for requester, origin in await self._gate.store.askers():
            if self._gate.access.may_still_ask(requester, origin, self._gate.clock.now()):
                continue
            for call in await self._gate.store.asked_by(requester, origin):
                await self._withdraw(call)

    async def _withdraw(self, call: Call) -> None:
        try:
            await self._gate.disown(call)
        except Unavailable:
            raise
        except SaysoError as error:
            # Somebody decided the call first, or its stored row was changed. In both cases the gate refuses to run the
            # call.
            _log.info("requesters.not_withdrawn", {"ref": call.ref, "why": error.message})

    def _until_next_end_s(self) -> float | None:
        """Return the seconds until the next token runs out, or None if no token has an end in the future."""
        now = self._gate.clock.now()
        ahead = [end for end in self._gate.people.token_ends.values() if end > now]
        return (min(ahead) - now).total_seconds() if ahead else None
