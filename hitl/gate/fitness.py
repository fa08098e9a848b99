"""Checks whether a decided call may run now: its MACs, the policy, the time, and changes since the approval."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from hitl.call import (
    ISOLATED,
    MAY_RUN,
    Action,
    Ask,
    Call,
    Decision,
    Mode,
    PolicyCall,
    Preparation,
    Runs,
    ToolInfo,
    Verdict,
    Vote,
)
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.errors import PolicyUnusable
from hitl.gate.tally import Demands, Tally, tally
from hitl.operating_mode import judged
from hitl.outcomes import Fact, Stored, Unfit, fact, revised
from hitl.proof import seals
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from hitl.gate.context import GateContext


async def why_unfit_stored(gate: GateContext, call: Call) -> Fact | None:
    """Return the reason why a call that was decided earlier may not run now, or None.

    Unlike `why_unfit`, this also checks the stored MACs, the claim window and the votes. The MACs are checked first.
    """
    votes = await gate.store.votes(call.ref) if call.decision is Decision.APPROVED else ()
    if broken := _broken(gate, call, votes):
        return broken
    # The MAC covers `decided_at` but not `due_at`, so editing `due_at` can't extend the claim window.
    if gate.age(call.decided_at) > gate.limits.claim_caller_s:
        return fact(Unfit.LATE)
    try:
        verdict = judged_now(gate, call)
    except PolicyUnusable:
        return fact(Unfit.POLICY_ERROR)
    if call.decision is Decision.ALLOWED and gate.terms.mode is Mode.ENFORCE and verdict.action is not Action.ALLOW:
        return fact(Unfit.POLICY_ASKS, why=_reason(verdict))
    return _unapproved(gate, call, verdict, votes) or await why_unfit(gate, call, verdict)


def _unapproved(gate: GateContext, call: Call, verdict: Verdict, votes: Sequence[Vote]) -> Fact | None:
    """Return the reason why the stored approvals of an approved call no longer suffice, or None."""
    if call.decision is not Decision.APPROVED or counted(gate, call, verdict, confirmed(call, verdict, votes)).complete:
        return None
    return fact(Unfit.STRICTER if counted(gate, call, verdict, votes).complete else Unfit.APPROVERS)


def _broken(gate: GateContext, call: Call, votes: Sequence[Vote]) -> Fact | None:
    """Return the reason why a MAC of the stored call is wrong, or None if all MACs are valid.

    The reason names the row, the decision or the votes.
    """
    if not seals.row_holds(gate.keys, call):
        return fact(Unfit.ROW)
    # No MAC covers the state, so an edited state must not make a call run. The decision, which has a MAC, must allow
    # the run.
    if call.decision not in MAY_RUN or not seals.decision_holds(gate.keys, call):
        return fact(Unfit.DECISION)
    if call.decision is Decision.APPROVED and not seals.votes_hold(gate.keys, call, votes):
        return fact(Unfit.VOTES)
    return None


def counted(gate: GateContext, call: Call, verdict: Verdict, votes: Sequence[Vote]) -> Tally:
    """Count those approvals whose authors may still approve the call, by the account that they used.

    Both the call's own verdict and the current `verdict` apply, as they do for a new approval.
    """
    now = gate.clock.now()

    def person(vote: Vote) -> str | None:
        principal = gate.people.principal(vote.principal)
        account = vote.identity or vote.principal
        # The account counted for this person. If it is now another person's, or nobody's, its approval counts no more.
        if gate.people.principal(account) != principal:
            return None
        both = (call.verdict, verdict)
        barred = any(gate.access.why_not_approve(account, vote.surface, call, each, now) for each in both)
        return None if barred else principal

    return tally(votes, person, gate.limits.approvals)


def confirmed(call: Call, verdict: Verdict, votes: Sequence[Vote]) -> Sequence[Vote]:
    """Return the votes that meet the demands of the call's own verdict and of the current `verdict`."""
    demands = Demands.of(call, verdict)
    return [vote for vote in votes if demands.met_by(vote, call)]


def why_unapprovable(gate: GateContext, call: Call, able: Collection[str]) -> Fact | None:
    """Return the reason why these people are too few to approve or answer the call, or None if they are enough."""
    need = 1 if is_question(call) else gate.limits.approvals
    if len(able) >= need:
        return None
    return fact(Unfit.TOO_FEW if able else Unfit.NOBODY)


def still_able(gate: GateContext, call: Call) -> Collection[str]:
    """Return the principals who can still approve or answer a pending call, by the current directory and policy.

    A policy that can't be used, or that denies the call, names nobody. Then the call's own verdict applies: the policy
    may be corrected before the deadline, and until then an approval is refused or ends the call as denied.
    """
    verdict = call.verdict
    with contextlib.suppress(PolicyUnusable):
        # Judging a command can take a millisecond, so the same policy isn't asked again.
        if gate.policies.current().digest != call.verdict.policy:
            verdict = judged_now(gate, call)
    now = gate.clock.now()
    return gate.access.who_still_may(call, call.verdict if verdict.action is Action.DENY else verdict, now)


async def why_unfit(gate: GateContext, call: Call, verdict: Verdict) -> Fact | None:
    """Return the reason why the call may not run now, or None.

    The function checks that no other user of the machine can know the keys, that the requester may still ask, and that
    the verdict permits the call. For calls that this service runs, it also checks the list of allowed tools and the
    preconditions.
    """
    if why := gate.exposed():
        return fact(Unfit.EXPOSED, why=why)
    if not gate.access.may_still_ask(call.requester, call.origin, gate.clock.now()):
        return fact(Unfit.REQUESTER)
    if verdict.action is Action.DENY:
        return fact(Unfit.POLICY, why=_reason(verdict))
    if call.runs is Runs.CALLER:
        return None
    info = gate.executor.info(call.tools, call.tool)
    if info is None or (info.executor, info.definition) != (call.executor, call.definition):
        return fact(Unfit.TOOL)
    changed = await gate.executor.still_holds(call)
    return fact(Unfit.CHANGED, why=_told(changed)) if changed else None


def judged_now(gate: GateContext, call: Call) -> Verdict:
    """Return the current policy's verdict on a stored call. Raises PolicyUnusable if there is no usable policy."""
    info = gate.executor.info(call.tools, call.tool) if call.runs is Runs.SERVICE else None
    return gate.terms.verdict(gate.policies, question(call, call.arguments, call, info))


def question(
    asked: Ask | Call, args: Mapping[str, Any], found: Preparation | Call, info: ToolInfo | None
) -> PolicyCall:
    """Return a request in the form that policies judge.

    `args` are the request's arguments. `found` gives its folder and preconditions. `info` describes its tool, or is
    None if the tool isn't known. The tool's hints are passed as untrusted, so they can raise the risk but never lower
    it.
    """
    seen, is_command = judged(asked.runs, args)
    return PolicyCall(
        asked.tools,
        asked.tool,
        seen,
        found.cwd,
        annotations=info.annotations or None if info else None,
        foreign=info is not None and info.foreign,
        requester=asked.requester,
        origin=asked.origin,
        is_command=is_command,
        isolated=asked.runs is Runs.SERVICE and not ISOLATED.isdisjoint(found.preconditions),
    )


def _reason(verdict: Verdict) -> Stored:
    """Return the reason of a verdict, with secrets masked."""
    return Stored(revised(verdict.message or verdict.why, _told))


def _told(text: str) -> str:
    """Return a text of a policy or a tool in the form for messages to people: secrets masked, on one line."""
    return one_line(mask(text))
