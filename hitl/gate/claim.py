"""Claims a call for one claimant, who may then run it once, and records how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import MAY_RUN, Call, Decision, Event, Lease, Ran, Result, State
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.errors import (
    AlreadyDecided,
    InvalidConfirmation,
    NotApprover,
    SaysoError,
    StillPending,
    Tampered,
    Unavailable,
)
from hitl.faults import reach
from hitl.gate.fitness import why_unfit_stored
from hitl.gate.moves import with_lease, with_refusal, with_result
from hitl.gate.response import too_late
from hitl.gate.swap import TRIES, edits, entry_of, fresh, known, settle, swap, tampered
from hitl.lifecycle import RESULTS, Trigger
from hitl.outcomes import BROKEN, Refusal, fact, kept
from hitl.ports import Change
from hitl.proof import seals
from hitl.proof.keyring import same_secret, secret_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from hitl.gate.context import GateContext


async def claim(gate: GateContext, target: str, owner: str, secret: str) -> Lease:
    """Claim a call for one claimant, and return the lease. `Gate.claim` states the contract."""
    call = await known(gate, target)
    for _ in range(TRIES):
        if held := await _held(gate, call, owner, secret):
            return held
        if leased := await _take(gate, call, owner, lambda call, now: with_lease(gate, call, owner, secret, now)):
            reach("gate.claimed")
            return Lease(leased, owner, leased.claim.until if leased.claim else leased.deadline)
        call = await fresh(gate, call)
    raise Unavailable


async def release(gate: GateContext, target: str, owner: str) -> Call:
    """Claim and finish a call in one commit. `Gate.release` states the contract."""

    def released(call: Call, now: datetime) -> Call:
        leased = with_lease(gate, call, owner, "", now)
        return with_result(gate, leased, Trigger.COMPLETE, Result.RELEASED, now)

    call = await known(gate, target)
    for _ in range(TRIES):
        if call.state is not State.EXECUTING or call.claim is not None:
            raise _unclaimable(call)
        if taken := await _take(gate, call, owner, released):
            return taken
        call = await fresh(gate, call)
    raise Unavailable


async def _take(gate: GateContext, call: Call, owner: str, take: Callable[[Call, datetime], Call]) -> Call | None:
    """If the call may run now, store the result of `take(call, now)`, and return it.

    `take` returns the call with a lease, or released. Return None, with nothing stored, if somebody else changed the
    call first or if its `due_at` has passed. If the call may not run, store the result `refused` and a line of the
    audit record, and raise Tampered or InvalidConfirmation.
    """
    unfit = await why_unfit_stored(gate, call)

    def seal(now: datetime) -> Change:
        taken = with_refusal(gate, call, unfit, now) if unfit else take(call, now)
        event = Event.REFUSED if unfit else Event.RELEASED if taken.result else Event.CLAIMED
        entry = entry_of(taken, event, owner, why=kept(unfit) if unfit else None)
        return Change(taken, entries=(entry,), posts=edits(gate, taken) if taken.ended else ())

    taken = await swap(gate, call, seal)
    if taken is not None and unfit:
        told = fact(Refusal.NOT_RUN, short=call.short, how=Decision.APPROVED.value, error=unfit)
        raise Tampered(told) if unfit.what in BROKEN else InvalidConfirmation(told)
    return taken


async def finish(gate: GateContext, target: str, secret: str, ran: Ran) -> Call:
    """Record the end of a run that a claimant reports. `Gate.finish` states the contract."""
    return await _finish(gate, await known(gate, target), secret, ran)


async def finish_own(gate: GateContext, lease: Lease, ran: Ran) -> Call:
    """Record the end of a run by this process. `Gate.finish_own` states the contract."""
    return await _finish(gate, lease.call, gate.secret, ran)


async def _finish(gate: GateContext, call: Call, secret: str, ran: Ran) -> Call:
    for _ in range(TRIES):
        if call.claim is None or not same_secret(call.claim.secret_hash, secret_hash(secret)):
            raise NotApprover(fact(Refusal.FINISH, short=call.short))
        if not seals.claim_holds(gate.keys, call):
            raise await tampered(gate, call, call.claim.owner)
        if call.result is ran.result:
            return call
        amendable = call.result in {Result.UNKNOWN, Result.TIMED_OUT} and ran.result in RESULTS[Trigger.AMEND]
        if call.ended and not amendable:
            raise too_late(call)
        owner = call.claim.owner

        def seal(now: datetime, call: Call = call, owner: str = owner) -> Change:
            ended = _reported(gate, call, ran, now)
            entry = entry_of(ended, Event(ended.status), owner, **_told(ran))
            return Change(ended, entries=(entry,), posts=edits(gate, ended))

        if ended := await swap(gate, call, seal, overdue=None):
            reach("gate.finished")
            return ended
        call = await fresh(gate, call)
    raise Unavailable


async def _held(gate: GateContext, call: Call, owner: str, secret: str) -> Lease | None:
    """Return the lease that this claimant already holds, or None if nobody has claimed the call.

    Raises an error if the call can't be claimed, if another claimant holds it, if the lease has ended, or if a MAC of
    the call is wrong.
    """
    if call.state is not State.EXECUTING:
        raise _unclaimable(call)
    if call.claim is None:
        return None
    if call.claim.owner != owner or not same_secret(call.claim.secret_hash, secret):
        raise AlreadyDecided(fact(Refusal.CLAIMED, short=call.short))
    if call.decision not in MAY_RUN or seals.broken(gate.keys, call):
        raise await tampered(gate, call, owner)
    # A claimant may have run the call already, and may ask again after a restart. So a lease that has ended permits no
    # run, even if no timer has ended the call yet.
    if gate.age(call.claim.until) >= 0:
        raise too_late(await settle(gate, call) or call)
    return Lease(call, owner, call.claim.until)


def _unclaimable(call: Call) -> SaysoError:
    if call.state is State.AWAITING:
        return StillPending(fact(Refusal.CLAIM, short=call.short, status=call.status.value))
    if call.claim is not None:
        return AlreadyDecided(fact(Refusal.CLAIMED, short=call.short))
    return too_late(call)


def _told(ran: Ran) -> dict[str, object]:
    """Return the data of the audit record's line about the end of a run: `why` (the error) and `exit_status`.

    If the executor refused the run before the tool started, they also hold `started`, which is False.
    """
    why = one_line(mask(ran.error)) if ran.error else None
    never = {"why": why or ran.result.value, "started": False} if ran.result is Result.REFUSED else {"why": why}
    return {**never, "exit_status": ran.exit_status}


def _reported(gate: GateContext, call: Call, ran: Ran, now: datetime) -> Call:
    """Return the call with the reported result: completed, failed, or refused before the tool started.

    If the clock has ended the call already, the late report replaces the stored result.
    """
    if call.state is State.ERROR:
        trigger = Trigger.AMEND
    elif ran.result is Result.REFUSED:
        trigger = Trigger.REFUSE
    else:
        trigger = Trigger.COMPLETE if ran.result in RESULTS[Trigger.COMPLETE] else Trigger.FAIL
    started = ran.result is not Result.REFUSED
    return with_result(gate, call, trigger, ran.result, now, started=started, output=ran.output, error=ran.error)
