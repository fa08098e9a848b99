"""Reads calls for a caller: one call, a page of calls, the sessions that wait, and a call's documents."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from adapters.http import documents
from hitl.cards.data import full_view
from hitl.cards.sessions import session_view, waiting_sessions
from hitl.cards.wording import sentence
from hitl.errors import CallChanged
from hitl.gate.response import unknown_call
from hitl.outcomes import Refusal, fact
from hitl.proof.canonical import check_text
from hitl.proof.integrity import flaws_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.http.callers import Caller
    from hitl.call import Call, Lease, Recorded
    from hitl.gate import Gate
    from hitl.gate.response import Submitted

#: One request for a page reads at most this many calls. Otherwise a caller who may see few of many calls could keep the
#: store busy.
_MOST_SCANNED = 1_000
#: At most this many calls are read from the store in one read, because each may have a megabyte of arguments.
_READ_AT_ONCE = 50


class Reading:
    """Finds the calls that a caller may see, and makes their documents."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def read(self, caller: Caller, target: str) -> Call:
        """Return a call that the caller may see. Raises CallUnknown for any other call, whether it exists or not."""
        check_text(target, "/ref")
        call = await self._gate.find(target)
        if call is None or not self._gate.access.may_see(caller.principal, call):
            raise unknown_call(target)
        return call

    async def pending_calls(self, caller: Caller) -> list[Call]:
        """Return every pending call that the caller may see, oldest first."""
        may_see = self._gate.access.may_see
        return [call for call in await self._gate.store.pending() if may_see(caller.principal, call)]

    async def sessions(self, caller: Caller) -> dict[str, Any]:
        """Return the sessions of agents that have pending calls which the caller may see, the longest wait first."""
        found = []
        for session in waiting_sessions(await self.pending_calls(caller)):
            await self._gate.ready_to_list(session.newest)
            found.append(session_view(session, self._gate.names))
        return {"sessions": found}

    async def page(
        self, caller: Caller, before: str | None, limit: int, *, pending: bool, brief: bool
    ) -> Mapping[str, Any]:
        """Return one page of the calls that the caller may see, newest first. `brief` means the same as for `view`."""
        seen: list[dict[str, Any]] = []
        step = min(limit, _READ_AT_ONCE)
        for _ in range(_MOST_SCANNED // step + 1):
            calls = await self._gate.store.page(before, step, pending=pending)
            for call in calls:
                before = call.ref
                if self._gate.access.may_see(caller.principal, call):
                    seen.append(await self.view(call, brief=brief))
                    # Making the documents of many large calls takes seconds, so other callers are answered after each
                    # document.
                    await asyncio.sleep(0)
                    if len(seen) == limit:
                        return {"calls": seen, "next": before}
            if not calls:  # a short page may not be the last page, because rows that can't be read are left out
                return {"calls": seen, "next": None}
        return {"calls": seen, "next": before}

    async def history(self, call: Call) -> Sequence[Recorded]:
        """Return the lines of the audit record about a call, oldest first."""
        return await self._gate.store.history(call.ref)

    async def record(self, caller: Caller, target: str) -> dict[str, Any]:
        """Return a call's document with its details, its record, and the parts that fail their integrity check."""
        call = await self.read(caller, target)
        store = self._gate.store
        await self._gate.ready(call)
        lines = list(await store.history(call.ref))
        flaws = flaws_of(store.keys, call, await store.votes(call.ref), lines)
        beside = {"on_behalf_of": self._gate.people.on_behalf_of(call.requester)}
        return full_view(call, lines, self._gate.names) | beside | {"flaws": [sentence(flaw) for flaw in flaws]}

    async def ready(self, call: Call) -> None:
        """Mask the texts of a large call outside the event loop. Its document can then be made immediately."""
        await self._gate.ready(call)

    async def view(self, call: Call, *, brief: bool = False) -> dict[str, Any]:
        """Return a call's document, for a reader who may see the call. With `brief`, leave out `args` and `output`."""
        await (self._gate.ready_to_list(call) if brief else self.ready(call))
        return documents.call_view(call, self._gate.people, self._gate.names, brief=brief)

    async def card(self, call: Call) -> dict[str, Any]:
        """Return a call's card as data and as text."""
        await self.ready(call)
        return documents.card_answer(call, self._gate.names)

    async def card_text(self, call: Call) -> str:
        """Return a call's card as text."""
        await self.ready(call)
        return documents.card_text(call, self._gate.names)

    async def answer(self, submitted: Submitted, lease: Lease | None) -> dict[str, Any]:
        """Return the document of a call for the caller who has just asked for the call."""
        await self.ready(submitted.call)
        return documents.call_answer(submitted, self._gate.people, self._gate.names, lease)


def check_digest(call: Call, named: str | None) -> None:
    """Raise CallChanged if a request names a digest that isn't the call's."""
    if named is not None and named != call.digest:
        raise CallChanged(fact(Refusal.CHANGED, short=call.short))
