"""Counts an approval or a rejection: checks it by the current rules, then writes the vote and perhaps the decision."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from hitl.call import Action, Call, Event, Prompt, PromptKind, Reply, ReplyKind, Risk, Runs, Verdict, Vote
from hitl.cards.card import is_cut
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.cards.wording import clause
from hitl.errors import CallDenied, NotApprover, PolicyUnusable, Tampered
from hitl.faults import reach
from hitl.gate.fitness import confirmed, counted, judged_now, why_unfit
from hitl.gate.moves import lease_of, ready_to_run, with_decision, with_refusal
from hitl.gate.response import Answer, Came, refuse, too_late
from hitl.gate.swap import arrival, claimant, edits, entry_of, note, swap
from hitl.gate.tally import Demands
from hitl.lifecycle import Trigger
from hitl.outcomes import Person, Refusal, Stored, Told, Unfit, fact, kept
from hitl.ports import Change, Unit
from hitl.proof import seals
from hitl.proof.chain import data_of
from hitl.question import is_question
from hitl.records import replace
from hitl.replies import Reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import TypeAlias

    from hitl.gate.context import GateContext

    #: A function that takes the time of the write, and returns one person's vote with its MAC.
    Sealed: TypeAlias = Callable[[datetime], Vote]

#: The kinds of replies whose words can hold the ref of a call. One such reply approves a critical call. By a button or
#: through the API, a person must approve a critical call twice. (A reaction can't approve a critical call.)
_NAMING = frozenset({ReplyKind.TEXT, ReplyKind.COMMAND})


async def vote_yes(gate: GateContext, reply: Reply, call: Call, principal: str, reading: Reading) -> Answer | None:
    """Handle an approval, and return the answer.

    Return None if the call was changed, or its time ended, before the write.
    """
    try:
        verdict = judged_now(gate, call)
    except PolicyUnusable as error:
        broken = PolicyUnusable(fact(Refusal.POLICY, why=error.fact or error.message, short=call.short))
        return await note(gate, reply, call, Event.REFUSED, refuse(broken, call))
    if verdict.action is Action.DENY:
        return await _denied_now(gate, reply, call, verdict)
    if answer := await barred(gate, reply, call, verdict, approve=True):
        return answer
    demands = Demands.of(call, verdict)
    if demands.reason and not reading.reason:
        reading = replace(reading, reason=await _reason_before(gate, call, principal))
    if hold := await _hold(gate, reply, call, principal, reading, demands):
        return hold
    before = await gate.store.votes(call.ref) if gate.limits.approvals > 1 else ()
    if not seals.votes_hold(gate.keys, call, before):
        return await note(gate, reply, call, Event.TAMPERED, refuse(Tampered(), call))

    def sealed(now: datetime) -> Vote:
        return sealed_vote(gate, reply, call, principal, now, risk=demands.risk, reason=reading.reason)

    tallied = counted(gate, call, verdict, confirmed(call, verdict, before))
    missing = tallied.missing - (principal not in tallied.approved_by)
    vote = _count(gate, reply, call, sealed, missing) if missing > 0 else _approve(gate, reply, call, sealed, verdict)
    return await vote


async def _count(gate: GateContext, reply: Reply, call: Call, sealed: Sealed, missing: int) -> Answer | None:
    """Store an approval that leaves the call pending, because more people must approve."""

    def seal(now: datetime) -> Change:
        vote = sealed(now)
        told = call.evolve(version=call.version + 1)
        entry = entry_of(told, Event.VOTED, vote.principal, **arrival(reply), missing=missing)
        return Change(told, (vote,), (entry,), handled=reply.event)

    still = await swap(gate, call, seal)
    return Answer(Came.COUNTED, fact(Told.COUNTED, short=call.short, missing=missing), still) if still else None


async def _approve(gate: GateContext, reply: Reply, call: Call, sealed: Sealed, verdict: Verdict) -> Answer | None:
    """Decide the call by the last missing approval.

    Take the lease in the same commit if this service runs the call, or if its caller waits to claim it.
    """
    leasing = call.runs is Runs.SERVICE or gate.claimants.ready(call)
    unfit = await why_unfit(gate, call, verdict) if leasing else None

    def seal(now: datetime) -> Change:
        vote = sealed(now)
        decided = with_decision(gate, call, Trigger.APPROVE, vote.principal, now, vote.reason)
        policies = {"policy_asked": call.verdict.policy, "policy_now": verdict.policy}
        # The caller's connection may have closed since `leasing` was computed, so look again. A claimant that came
        # after `leasing` was computed gets no lease here, because `why_unfit` wasn't checked.
        waiting = gate.claimants.ready(call) if leasing else None
        ended = with_refusal(gate, decided, unfit, now) if unfit else ready_to_run(gate, decided, now, waiting)
        taken = {"claimed_by": None if waiting else claimant(ended)}
        said = {**arrival(reply), "reason": vote.reason}
        entries = [entry_of(ended, Event.APPROVED, vote.principal, **said, **policies, **taken)]
        if unfit:
            entries.append(entry_of(ended, Event.REFUSED, "service", why=kept(unfit)))
        elif waiting:
            entries.append(entry_of(ended, Event.CLAIMED, waiting.owner))
        return Change(ended, (vote,), entries, edits(gate, ended), handled=reply.event)

    ended = await swap(gate, call, seal)
    if ended is None:
        return None
    reach("gate.approved")
    told = fact(Told.NOT_RUN, short=call.short, error=unfit) if unfit else fact(Told.APPROVED, short=call.short)
    return Answer(Came.APPROVED, told, ended, lease_of(gate, ended))


async def _hold(
    gate: GateContext, reply: Reply, call: Call, principal: str, reading: Reading, demands: Demands
) -> Answer | None:
    """Return the answer to an approval that doesn't meet the demands yet, or None if it meets them.

    The risk may demand the call's ref, opened details or a second yes.
    """
    risk = demands.risk
    if aside := set_aside(reply, call, reading, risk):
        return await note(gate, reply, call, Event.HELD, aside)
    if demands.reason and not reading.reason:
        needed = Answer(Came.REASON_NEEDED, fact(Told.REASON_NEEDED, short=call.short), call)
        return await note(gate, reply, call, Event.HELD, needed)
    if risk.rank >= Risk.HIGH.rank and is_cut(call) and not await _viewed(gate, reply, call, principal):
        needed = Answer(Came.DETAILS_NEEDED, fact(Told.DETAILS_NEEDED, short=call.short), call)
        return await note(gate, reply, call, Event.HELD, needed)
    raised = risk.rank > call.verdict.risk.rank
    if raised or (risk is Risk.CRITICAL and reply.kind not in _NAMING):
        return await _second_yes(gate, reply, call, principal, reading, risk if raised else None)
    return None


async def _viewed(gate: GateContext, reply: Reply, call: Call, principal: str) -> bool:
    """Return whether this person opened the details before the service received the reply."""
    viewed = await gate.store.prompt(call.ref, principal, PromptKind.VIEWED)
    return viewed is not None and (reply.received_at is None or viewed.at <= reply.received_at)


def _came_before(reply: Reply, first: Prompt) -> bool:
    """Return whether a reply came before the person was asked for the second yes.

    Such a reply repeats the first yes, or is older than the first yes. Only replies from the inbox are checked, because
    only the inbox can hand over the same event twice.
    """
    came = reply.received_at or reply.pressed_at
    return reply.event is not None and came is not None and came <= first.at


async def _second_yes(
    gate: GateContext, reply: Reply, call: Call, principal: str, reading: Reading, raised: Risk | None
) -> Answer | None:
    """Return None if this is the person's second yes, not too soon and not too late after the first.

    Through the API, the second yes must also say that it is a confirmation. Otherwise return the answer that asks for a
    second yes. In this case, store the reply as the first yes, unless it came too soon. `raised` is the current risk if
    it is higher than the risk on the card, else None.
    """
    first = await gate.store.prompt(call.ref, principal, PromptKind.CONFIRM)
    age = (gate.clock.now() - first.at).total_seconds() if first else math.inf
    how = fact(Told.CONFIRM_BY_API, short=call.short) if reply.kind is ReplyKind.API else ""
    if age < gate.limits.soonest_second_yes_s or (first and _came_before(reply, first)):
        soon = Answer(Came.CONFIRM, fact(Told.CONFIRM_SOON, short=call.short, how=how), call)
        return await note(gate, reply, call, Event.HELD, soon)
    if age <= gate.limits.second_yes_s and (reply.confirmed or reply.kind is not ReplyKind.API):
        return None
    await leave_open(gate, reply, call, principal, PromptKind.CONFIRM, reading.reason)
    what = Told.CONFIRM_RAISED if raised else Told.CONFIRM
    return Answer(Came.CONFIRM, fact(what, short=call.short, how=how, risk=raised), call)


async def _reason_before(gate: GateContext, call: Call, principal: str) -> str | None:
    """Return the reason that this person gave with the first yes, if there is still time for a second yes."""
    first = await gate.store.prompt(call.ref, principal, PromptKind.CONFIRM)
    if first is None or (gate.clock.now() - first.at).total_seconds() > gate.limits.second_yes_s:
        return None
    asked = (line for line in reversed(await gate.store.history(call.ref)) if line.event == Event.CONFIRM)
    line = next((line for line in asked if line.actor == principal), None)
    reason = data_of(line.data).get("reason") if line else None
    return reason if isinstance(reason, str) else None


async def leave_open(
    gate: GateContext, reply: Reply, call: Call, principal: str, kind: PromptKind, reason: str | None = None
) -> None:
    """Store a prompt for one person about a call, and a line of the audit record with the reason in the reply."""

    def seal(now: datetime) -> Change:
        entry = entry_of(call, Event(kind), principal, **arrival(reply), reason=reason)
        prompt = Prompt(call.ref, principal, kind, now)
        return Change(entries=(entry,), prompts=(prompt,), handled=reply.event)

    await gate.store.commit(Unit(None, seal))


async def vote_no(gate: GateContext, reply: Reply, call: Call, principal: str, reading: Reading) -> Answer | None:
    """Handle a rejection, and return the answer.

    Return None if the call was changed, or its time ended, before the write.
    """
    reason = reading.reason
    asked = reply.kind is ReplyKind.BUTTON and not reason and not is_question(call)

    def seal(now: datetime) -> Change:
        vote = sealed_vote(gate, reply, call, principal, now, risk=None, reason=reason)
        ended = with_decision(gate, call, Trigger.REJECT, principal, now, reason)
        if asked:
            ended = ended.evolve(due_at=now + timedelta(seconds=gate.limits.late_reason_s))
        entry = entry_of(ended, Event.REJECTED, principal, **arrival(reply), reason=reason)
        return Change(ended, (vote,), (entry,), edits(gate, ended), handled=reply.event)

    ended = await swap(gate, call, seal)
    if ended is None:
        return None
    reach("gate.rejected")
    what = Told.REJECTED_WITH_REASON if reason else Told.REJECTED
    return Answer(Came.REJECTED, fact(what, short=call.short, reason=one_line(mask(reason or ""))), ended)


async def vote_disowned(
    gate: GateContext, reply: Reply, call: Call, _principal: str, _reading: Reading
) -> Answer | None:
    """Withdraw a call that a person approves after its requester lost the right to ask, and return the answer.

    Return None if the call was changed, or its time ended, before the write.
    """

    def withdrawn(now: datetime) -> Call:
        return with_decision(gate, call, Trigger.WITHDRAW, "service", now, error=why)

    why = kept(fact(Unfit.REQUESTER))
    ended = await _end_instead(gate, reply, call, withdrawn, "service", why)
    return refuse(too_late(ended), ended) if ended else None


async def _denied_now(gate: GateContext, reply: Reply, call: Call, verdict: Verdict) -> Answer | None:
    def denied(now: datetime) -> Call:
        return with_decision(gate, call, Trigger.DENY, f"policy:{verdict.policy}", now, why)

    why = verdict.message or verdict.why
    ended = await _end_instead(gate, reply, call, denied, "policy", why)
    if ended is None:
        return None
    return refuse(CallDenied(fact(Refusal.DENIED_NOW, short=call.short, why=Stored(clause(why)))), ended)


async def _end_instead(
    gate: GateContext, reply: Reply, call: Call, end: Callable[[datetime], Call], actor: str, why: str
) -> Call | None:
    """End a call that a person approved after the current rules had stopped permitting it, and return the ended call.

    Return None if the call was changed, or its time ended, before the write.
    """

    def seal(now: datetime) -> Change:
        ended = end(now)
        entry = entry_of(ended, Event(ended.status), actor, **arrival(reply), why=why)
        return Change(ended, entries=(entry,), posts=edits(gate, ended), handled=reply.event)

    return await swap(gate, call, seal)


def sealed_vote(
    gate: GateContext,
    reply: Reply,
    call: Call,
    principal: str,
    now: datetime,
    *,
    risk: Risk | None,
    reason: str | None,
) -> Vote:
    """Return one person's approval or rejection of a call, with its MAC and the time of the write.

    `risk` is the risk that the person approves, or None for a rejection.
    """
    how = (reply.surface, reply.pressed_at)
    vote = Vote(call.ref, principal, risk is not None, reason, *how, now, "", reply.identity, risk)
    return replace(vote, mac=seals.vote(gate.keys, vote, call.digest))


async def barred(gate: GateContext, reply: Reply, call: Call, verdict: Verdict, *, approve: bool) -> Answer | None:
    """Return the answer to a person who may not decide this call in the reply's conversation, and record the reply.

    Return None if the person may decide the call.
    """
    why = gate.access.why_not_decide(reply, call, verdict, gate.clock.now(), approve=approve)
    if why is None:
        return None
    principal = gate.people.principal(reply.identity)
    who = {"who": Person(principal, one_line(principal, 80))} if why is Refusal.STRANGER else {}
    refusal = NotApprover(fact(why, short=call.short, **who))
    return await note(gate, reply, call, Event.REFUSED, refuse(refusal, call))


def set_aside(reply: Reply, call: Call, reading: Reading, risk: Risk) -> Answer | None:
    """Return the answer to a reply that can't decide a critical call, or None for any other reply.

    A reaction never decides a critical call. A text decides it only if the text holds the call's ref.
    """
    if risk is not Risk.CRITICAL:
        return None
    if reply.kind is ReplyKind.REACTION:
        return Answer(Came.UNCLEAR, fact(Told.NO_REACTION, short=call.short), call)
    if reply.kind is ReplyKind.TEXT and reading.target is None:
        return Answer(Came.UNCLEAR, fact(Told.NAME_IT, short=call.short), call)
    return None
