"""Passes each call to the executor of the call's tool group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Ran, Result
from hitl.cards.text import one_line
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact
from hitl.ports import Offering

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hitl.call import Ask, Call, Lease, Preparation, ToolInfo
    from hitl.ports import Executor, Offer


class Groups:
    """An executor that hands each call to the executor of its tool group (`hitl.ports.Executor`)."""

    def __init__(self, executors: Mapping[str, Executor]) -> None:
        self._executors = executors

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """Return information about a tool, or None if its group has no executor or the tool may not run."""
        found = self._executors.get(tools)
        return found.info(tools, tool) if found else None

    @property
    def names(self) -> frozenset[str]:
        """The names of the tool groups that have an executor."""
        return frozenset(self._executors)

    async def offers(self, tools: str) -> Sequence[Offer]:
        """Return the tools of a group that may be offered to an agent, or () if the group's executor offers no tool."""
        found: object = self._executors.get(tools)
        return await found.offers(tools) if isinstance(found, Offering) else ()

    async def prepare(self, ask: Ask) -> Preparation:
        """Describe what the call would do. Raises InvalidConfirmation if it can't run with these arguments."""
        if found := self._executors.get(ask.tools):
            return await found.prepare(ask)
        raise InvalidConfirmation(fact("tool.unlisted", tool=one_line(ask.tool)))

    async def still_holds(self, call: Call) -> str | None:
        """Return a sentence about the first change since the call was prepared, or None if nothing changed."""
        if found := self._executors.get(call.tools):
            return await found.still_holds(call)
        return say("tool.unlisted.now", tool=one_line(call.tool))

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the leased call. The result is `refused` if its group no longer has an executor."""
        if found := self._executors.get(lease.call.tools):
            return await found.run(lease, limit_s=limit_s)
        return Ran(Result.REFUSED, error=say("tool.unlisted.run", tool=one_line(lease.call.tool)))
