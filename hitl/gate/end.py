"""Ends a call for another reason than a person's yes or no.

The reasons: somebody withdraws the call, no surface can show its card, a database was restored, the caller left, the
requester lost the right to ask, too few people can still approve it, or the process that ran the call died.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Call, Event, Result, Runs, State
from hitl.errors import NotApprover, Unavailable
from hitl.gate.fitness import still_able, why_unapprovable
from hitl.gate.moves import with_decision, with_result
from hitl.gate.response import too_late
from hitl.gate.swap import TRIES, close, edits, entry_of, fresh, known, left_unexplained, note_refusal, swap
from hitl.lifecycle import Trigger
from hitl.outcomes import Fact, Refusal, Unfit, fact, kept
from hitl.ports import Change

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.gate.context import GateContext


async def withdraw(gate: GateContext, target: str, identity: str, *, left: bool = False) -> Call:
    """Withdraw a pending call. `Gate.withdraw` states the contract."""
    call = await known(gate, target)
    principal = gate.people.principal(identity)
    if not gate.access.may_withdraw(principal, call):
        refusal = NotApprover(fact(Refusal.WITHDRAW, short=call.short))
        entry = entry_of(call, Event.REFUSED, principal, wanted="withdraw", identity=identity, code=refusal.code)
        await note_refusal(gate, entry, "withdraw")
        raise refusal
    return await _left(gate, call, principal) if left else await _end(gate, call, Trigger.WITHDRAW, principal)


async def _left(gate: GateContext, call: Call, by: str) -> Call:
    """End a call whose caller has left: withdraw it if it is pending; let it lapse if it may run and isn't claimed."""
    why = kept(fact(Unfit.LEFT))
    for _ in range(TRIES):
        unclaimed = call.state is State.EXECUTING and call.runs is Runs.CALLER and call.claim is None
        if call.state is not State.AWAITING and not unclaimed:
            raise too_late(call)

        def seal(now: datetime, call: Call = call) -> Change:
            ended = _unrun(gate, call, by, now, why)
            return Change(ended, entries=(entry_of(ended, Event(ended.status), by, why=why),), posts=edits(gate, ended))

        if ended := await swap(gate, call, seal):
            return ended
        call = await fresh(gate, call)
    raise Unavailable


def _unrun(gate: GateContext, call: Call, by: str, now: datetime, why: str) -> Call:
    """Return the ended form of a call that nobody has claimed: withdrawn if it was pending, else lapsed."""
    if call.state is State.AWAITING:
        return with_decision(gate, call, Trigger.WITHDRAW, by, now, error=why)
    return with_result(gate, call, Trigger.LAPSE, Result.LAPSED, now, error=why)


async def undeliverable(gate: GateContext, ref: str, said: str) -> Call:
    """End a pending call whose card no surface can show. `Gate.undeliverable` states the contract."""
    why = fact(Unfit.UNSHOWN, why=said)
    return await _end(gate, await known(gate, ref), Trigger.UNDELIVERABLE, "service", why)


async def recheck(gate: GateContext, call: Call) -> Call | None:
    """End a pending call that no approval can make run any more. `Gate.recheck` states the contract."""
    if not gate.access.may_still_ask(call.requester, call.origin, gate.clock.now()):
        return await _end(gate, call, Trigger.WITHDRAW, "service", fact(Unfit.REQUESTER))
    if why := why_unapprovable(gate, call, still_able(gate, call)):
        return await _end(gate, call, Trigger.UNDELIVERABLE, "service", why)
    return None


async def _end(gate: GateContext, call: Call, trigger: Trigger, by: str, unfit: Fact | None = None) -> Call:
    why = kept(unfit) if unfit else None
    for _ in range(TRIES):
        if call.state is not State.AWAITING:
            raise too_late(call)

        def seal(now: datetime, call: Call = call) -> Change:
            ended = with_decision(gate, call, trigger, by, now, error=why)
            return Change(ended, entries=(entry_of(ended, Event(ended.status), by, why=why),), posts=edits(gate, ended))

        if ended := await swap(gate, call, seal):
            return ended
        call = await fresh(gate, call)
    raise Unavailable


async def void(gate: GateContext, call: Call) -> Call | None:
    """End a call that hasn't ended in a restored database. `Gate.void` states the contract."""
    if call.awaits_reason:
        return await swap(gate, call, lambda _: left_unexplained(gate, call))
    why = kept(fact(Unfit.OLDER))

    def seal(now: datetime) -> Change:
        if call.claim is None:
            ended = _unrun(gate, call, "service", now, why)
        else:
            ended = with_result(gate, call, Trigger.FAIL, Result.UNKNOWN, now)
        entry = entry_of(ended, Event(ended.status), "service", why=why)
        return Change(ended, entries=(entry,), posts=edits(gate, ended))

    return await close(gate, call, seal, overdue=None)


async def orphaned(gate: GateContext, call: Call) -> Call | None:
    """End a claimed call whose claimant has died. `Gate.orphaned` states the contract."""

    def seal(now: datetime) -> Change:
        ended = with_result(gate, call, Trigger.FAIL, Result.UNKNOWN, now)
        return Change(ended, entries=(entry_of(ended, Event.UNKNOWN, "service"),), posts=edits(gate, ended))

    return await close(gate, call, seal, overdue=None)
