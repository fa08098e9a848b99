"""Functions that return a call after one step: decided, ready to run, leased, refused or ended, with new MACs.

They write nothing to the store.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hitl.call import Call, Claim, Lease, Result, Runs, State
from hitl.lifecycle import Trigger, advance
from hitl.outcomes import Fact, kept
from hitl.proof import seals

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from hitl.gate.context import Claimant, GateContext


def with_decision(
    gate: GateContext,
    call: Call,
    trigger: Trigger,
    by: str,
    now: datetime,
    reason: str | None = None,
    *,
    error: str | None = None,
) -> Call:
    """Return the call with a decision and its MAC. Its `due_at` is None until a later step sets it."""
    decided = advance(call, trigger, decided_at=now, decided_by=by, reason=reason, error=error, due_at=None)
    return sealed_decision(gate, decided)


def sealed_decision(gate: GateContext, decided: Call) -> Call:
    """Return the call with a new MAC over its decision."""
    return decided.evolve(decision_mac=seals.decision(gate.keys, decided))


def ready_to_run(gate: GateContext, decided: Call, now: datetime, claimant: Claimant | None = None) -> Call:
    """Return an approved or allowed call that is ready to run.

    If this service runs the call, or if a claimant waits for it, the call is leased. Otherwise its caller must claim it
    before `due_at`.
    """
    if decided.runs is Runs.SERVICE:
        return with_lease(gate, decided, gate.owner, gate.secret_hash, now)
    if claimant is not None:
        return with_lease(gate, decided, claimant.owner, claimant.secret_hash, now)
    return decided.evolve(due_at=now + timedelta(seconds=gate.limits.claim_caller_s))


def with_lease(gate: GateContext, call: Call, owner: str, secret: str, now: datetime) -> Call:
    """Return the call with a lease for one claimant, until `lease_grace_s` seconds after the longest allowed run."""
    limit_s = call.verdict.execution_s if call.runs is Runs.SERVICE else gate.limits.caller_execution_s
    until = now + timedelta(seconds=limit_s + gate.limits.lease_grace_s)
    claimed = advance(call, Trigger.CLAIM, claim=Claim(owner, secret, until), due_at=until)
    return claimed.evolve(claim=Claim(owner, secret, until, seals.claim(gate.keys, claimed)))


def lease_of(gate: GateContext, call: Call) -> Lease | None:
    """Return the lease that this process took in the commit that decided the call, or None."""
    own = call.runs is Runs.SERVICE and call.state is State.EXECUTING
    return Lease(call, gate.owner, call.claim.until) if own and call.claim else None


def with_refusal(gate: GateContext, call: Call, unfit: Fact, now: datetime) -> Call:
    """Return the call with the result `refused`, because it was unfit to run."""
    return with_result(gate, call, Trigger.REFUSE, Result.REFUSED, now, error=kept(unfit))


def with_result(gate: GateContext, call: Call, trigger: Trigger, result: Result, now: datetime, **told: Any) -> Call:
    """Return the call with a result and its MAC."""
    ended = advance(call, trigger, result=result, finished_at=now, due_at=None, **told)
    return ended.evolve(result_mac=seals.result(gate.keys, ended))
