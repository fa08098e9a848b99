"""Passes people's decisions to the gate: approvals, rejections, opened details and withdrawals."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from adapters.http.reading import check_digest
from hitl.call import Reply, ReplyKind, Verb
from hitl.credentials import Scope
from hitl.errors import CallUnknown, InvalidConfirmation, NotApprover
from hitl.gate.response import Came
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from adapters.http.callers import Caller
    from adapters.http.desk import Desk
    from adapters.http.models import DecisionRequest
    from adapters.http.reading import Reading
    from hitl.call import Call


class Deciding:
    """Decides and withdraws calls for a caller."""

    def __init__(self, desk: Desk, reading: Reading) -> None:
        self._desk = desk
        self._gate = desk.gate
        self._reading = reading

    async def refuse_undeciding(self, caller: Caller, target: str) -> NotApprover:
        """Return the error for a caller whose credential can't decide.

        If the credential is an agent's token, the gate first records the attempt.
        """
        with contextlib.suppress(CallUnknown):
            if Scope.AGENT in caller.scopes:
                await self._replied(caller, await self._reading.read(caller, target), Verb.REJECT)
        return NotApprover(fact(Refusal.SCOPE, who=caller.identity))

    async def decide(self, caller: Caller, target: str, request: DecisionRequest) -> dict[str, Any]:
        """Pass a decision to the gate. Return the document of the outcome. Raises an error if the gate refuses the
        decision.
        """
        call = await self._reading.read(caller, target)
        check_digest(call, request.digest)
        confirmed = request.confirm is not None
        if confirmed and not await self._names(str(request.confirm), call):
            raise InvalidConfirmation(fact(Refusal.CONFIRM, short=call.short))
        return await self._replied(caller, call, Verb(request.decision), request.reason, confirmed=confirmed)

    async def _names(self, confirm: str, call: Call) -> bool:
        """Return whether `confirm` is the ref or the short ref of the call."""
        named = await self._gate.find(confirm)
        return named is not None and named.ref == call.ref

    async def details(self, caller: Caller, target: str) -> dict[str, Any]:
        """Return the document of the whole call to an approver, and record that the approver opened it."""
        return await self._replied(caller, await self._reading.read(caller, target), Verb.DETAILS)

    async def _replied(
        self, caller: Caller, call: Call, verb: Verb, reason: str | None = None, *, confirmed: bool = False
    ) -> dict[str, Any]:
        reply = Reply(
            identity=caller.identity,
            surface=caller.surface,
            conversation=caller.conversation,
            kind=ReplyKind.API,
            verb=verb,
            target=call.ref,
            reason=reason,
            confirmed=confirmed,
        )
        (answer,) = await self._desk.decide(reply)
        if answer.error:
            raise answer.error
        decided = answer.came in {Came.APPROVED, Came.REJECTED, Came.DETAILS}
        told = await self._reading.view(answer.call) if answer.call else None
        return {"came": answer.came.value, "text": answer.told(self._gate.names), "decided": decided, "call": told}

    async def withdraw(self, caller: Caller, target: str, *, left: bool = False) -> Call:
        """Withdraw a pending call, and return it. For `left` and the errors, see `Gate.withdraw`."""
        return await self._gate.withdraw((await self._reading.read(caller, target)).ref, caller.identity, left=left)
