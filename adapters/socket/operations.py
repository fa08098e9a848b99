"""What each request does: translators between the socket's words and the use cases."""

from __future__ import annotations

import asyncio
from functools import singledispatchmethod
from typing import TYPE_CHECKING, Any, Protocol

from adapters.socket import protocol
from hitl.answers import Came, unknown_call
from hitl.errors import NotApprover
from hitl.integrity import flaws_of
from hitl.model import Ask, Call, Entry, Event, Kind, Ran, Reply, Result, Runs, Verb
from hitl.outcomes import Refusal, fact
from hitl.ports import Change, adding
from hitl.views import full_view, view
from hitl.wording import sentence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from hitl.answers import Answer, Submitted
    from hitl.gate import Gate

    #: What is in the way of gating a call, a sentence each.
    Troubles = Callable[[], Awaitable[Sequence[str]]]

#: The conversation that calls asked over the socket belong to.
LOCAL = "local"


class Desk(Protocol):
    """What the operations need of the running service."""

    gate: Gate

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call."""

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Decide one."""

    async def decided(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until people have decided."""

    async def explained(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until they have also said why not, or no reason can come any more."""

    async def ended(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until it is over."""


async def untroubled() -> Sequence[str]:
    """Where nobody knows of troubles."""
    return ()


class Operations:
    """The requests of one peer, known by `identity` (`local:UID`)."""

    def __init__(self, desk: Desk, identity: str, troubles: Troubles = untroubled) -> None:
        self._desk = desk
        self._troubles = troubles
        self._gate = desk.gate
        self.identity = identity
        self.principal = desk.gate.people.principal(identity)

    async def admit(self, *, kept: bool = False) -> None:
        """Raises NotApprover, on record, for a user who stands on no list, and for a command that the service runs."""
        if kept:
            raise await self._refused(Refusal.KEPT, kept=True)
        if not self._gate.people.is_listed(self.principal):
            raise await self._refused(Refusal.PEER)

    async def _refused(self, why: Refusal, **data: object) -> NotApprover:
        entry = Entry("", Event.REFUSED_PEER, self.identity, data)
        await self._gate.store.commit(adding(Change(entries=(entry,))))
        return NotApprover(fact(why, who=self.identity))

    @singledispatchmethod
    async def do(self, request: protocol.Request) -> dict[str, Any]:
        """The answer to a request. Raises hitl.errors.SaysoError for what is refused."""
        raise TypeError(request)

    @do.register
    async def _(self, request: protocol.AskFor) -> dict[str, Any]:
        submitted = await self._desk.submit(
            Ask(
                tools=request.tools,
                tool=request.tool,
                args=request.args,
                requester=self.principal,
                origin=LOCAL,
                runs=Runs.CALLER,
                agent="ask",
                cwd=request.cwd,
                key=request.key,
                note=request.note,
                must_ask=not request.by_policy,
                timeout_s=request.timeout_s,
                previous=request.previous,
            )
        )
        return {"call": view(submitted.call, self._gate.names), "fresh": submitted.fresh, "same_as": submitted.same_as}

    @do.register
    async def _(self, request: protocol.Wait) -> dict[str, Any]:
        call = await self._readable(request.ref)
        waits = {"decided": self._desk.decided, "explained": self._desk.explained, "ended": self._desk.ended}
        return {"call": view(await waits[request.until](call, request.limit_s), self._gate.names)}

    @do.register
    async def _(self, request: protocol.ClaimIt) -> dict[str, Any]:
        await self._own(request.ref)
        lease = await self._gate.claim(request.ref, self._owner, request.secret_hash)
        return {
            "call": view(lease.call, self._gate.names),
            "args": lease.call.arguments,
            "until": lease.until.isoformat(),
        }

    @do.register
    async def _(self, request: protocol.Finish) -> dict[str, Any]:
        ran = Ran(Result(request.result), error=request.error, exit_status=request.exit_status)
        return {"call": view(await self._gate.finish(request.ref, request.secret, ran), self._gate.names)}

    @do.register
    async def _(self, request: protocol.Release) -> dict[str, Any]:
        await self._own(request.ref)
        return {"call": view(await self._gate.release(request.ref, self._owner), self._gate.names)}

    @do.register
    async def _(self, request: protocol.Pending) -> dict[str, Any]:
        del request
        waiting = await self._gate.store.pending()
        seen = [call for call in waiting if self._gate.access.may_see(self.principal, call)]
        views = []
        for call in seen:
            # Between any two views others are answered, and what is due ends.
            await asyncio.sleep(0)
            views.append(view(call, self._gate.names))
        return {"calls": views}

    @do.register
    async def _(self, request: protocol.Show) -> dict[str, Any]:
        call = await self._readable(request.target)
        store = self._gate.store
        lines = list(await store.history(call.ref))
        flaws = flaws_of(store.keys, call, await store.votes(call.ref), lines)
        return {"call": full_view(call, lines, self._gate.names) | {"flaws": [sentence(flaw) for flaw in flaws]}}

    @do.register
    async def _(self, request: protocol.Decide) -> dict[str, Any]:
        reply = Reply(
            identity=self.identity,
            surface="socket",
            conversation=LOCAL,
            kind=Kind.API,
            verb=Verb(request.verb),
            target=request.target,
            reason=request.reason,
            confirmed=request.confirmed,
        )
        (answer,) = await self._desk.decide(reply)
        if answer.error:
            raise answer.error
        decided = answer.came in {Came.APPROVED, Came.REJECTED, Came.DETAILS}
        return {
            "came": answer.came.value,
            "text": answer.told(self._gate.names),
            "decided": decided,
            "call": view(answer.call, self._gate.names) if answer.call else None,
        }

    @do.register
    async def _(self, request: protocol.Withdraw) -> dict[str, Any]:
        return {"call": view(await self._gate.withdraw(request.target, self.identity), self._gate.names)}

    @do.register
    async def _(self, request: protocol.Ping) -> dict[str, Any]:
        del request
        return {"identity": self.identity, "principal": self.principal, "troubles": list(await self._troubles())}

    @property
    def _owner(self) -> str:
        return f"caller:{self.principal}"

    async def _readable(self, target: str) -> Call:
        call = await self._gate.find(target)
        if call is None or not self._gate.access.may_see(self.principal, call):
            raise unknown_call(target)
        return call

    async def _own(self, target: str) -> None:
        call = await self._readable(target)
        if not self._gate.access.may_claim(self.principal, call):
            raise NotApprover(fact(Refusal.FINISH, short=call.short))
