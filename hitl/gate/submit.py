"""Submits a call.

The call is denied by the policy, or allowed (and leased, if this service runs it), or pending until people answer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hitl.call import Action, Ask, Call, Decision, Entry, Event, Post, PostKind, Preparation, Runs, ToolInfo, Verdict
from hitl.cards.written import form_of, plain
from hitl.errors import (
    CallUnknown,
    InvalidConfirmation,
    KeyConflict,
    NotApprover,
    PolicyUnusable,
    TooManyPending,
    Unavailable,
)
from hitl.faults import reach
from hitl.gate.fitness import question, why_unapprovable
from hitl.gate.moves import lease_of, ready_to_run, with_decision
from hitl.gate.new_call import Draft, denial, does_by_caller, does_unknown, recorded
from hitl.gate.questions import as_question
from hitl.gate.response import Submitted
from hitl.gate.swap import TRIES, claimant, entry_of, find
from hitl.lifecycle import Trigger, advance
from hitl.limits import CEILING
from hitl.operating_mode import UNASKED, passed, tightened
from hitl.outcomes import Fact, Noted, Refusal, Unfit, fact, kept
from hitl.ports import Change, KeyTakenError, ShortTakenError, Unit
from hitl.proof import seals
from hitl.proof.canonical import canonical, check_text, digest_of
from hitl.proof.keyring import new_short
from hitl.question import INFO, is_asked
from hitl.question import prepared as prepared_question
from hitl.records import replace

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.gate.context import GateContext

#: Text fields of `Ask`. They are stored, so each must be valid text for UTF-8.
_WORDS = ("tools", "tool", "requester", "origin", "agent", "session", "cwd", "key", "note", "previous")

_LONGEST_WORDS = 10_000


async def submit(gate: GateContext, ask: Ask) -> Submitted:
    """Record a new call, and return it together with its lease or None. `Gate.submit` states the contract."""
    if not gate.access.may_ask(ask.requester, ask.origin):
        raise NotApprover(fact(Refusal.REQUESTER, who=ask.requester))
    if why := gate.exposed():
        raise Unavailable(fact(Unfit.EXPOSED, why=why))
    for name in _WORDS:
        _check_words(name, getattr(ask, name) or "")
    written, ask = ask.args, replace(ask, args=plain(ask.args), must_ask=ask.must_ask or is_asked(ask))
    args = canonical(ask.args)
    if len(args) > gate.limits.args_bytes:
        raise InvalidConfirmation(fact(Refusal.SIZE, size=len(args), most=gate.limits.args_bytes))
    info, prepared = await _prepare(gate, ask)
    prepared = gate.terms.marked(prepared)
    digest = digest_of(
        args,
        tools=ask.tools,
        tool=ask.tool,
        executor=info.executor,
        definition=info.definition,
        cwd=prepared.cwd,
        preconditions=prepared.preconditions,
    )
    if ask.key is not None and (old := await gate.store.by_key(ask.requester, ask.key)):
        return _same_call(old, digest, ask)
    if ask.previous is not None:
        ask = replace(ask, previous=await _repeated(gate, ask, args))
    # The texts are masked before the call is stored. So drawing the call's card later doesn't delay other cards.
    form = form_of(written)
    await gate.prepare((args, prepared.preview, form))
    verdict = gate.terms.on_card(_judge(gate, ask, info, prepared), ask, prepared, form)
    draft = Draft(ask, args, digest, info, prepared, verdict)
    if draft.verdict.action is not Action.APPROVE:
        return await _record(gate, draft, None)
    gate.rejections.admit(ask, digest, gate.clock.now())
    await _admit(gate, ask)
    twin = await gate.store.same_open(digest, ask.agent)
    return await _record(gate, draft.beside(twin) if twin else draft, twin)


def _check_words(name: str, words: str) -> None:
    """Raise InvalidConfirmation if a text can't be stored, or is so long that masking it would delay each card."""
    if len(words) > _LONGEST_WORDS:
        raise InvalidConfirmation(fact(Refusal.WORDS, name=name, size=len(words), most=_LONGEST_WORDS))
    check_text(words, f"/{name}")


async def _repeated(gate: GateContext, ask: Ask, args: bytes) -> str:
    """Return the short ref of the ended call that a request repeats, for the card.

    Raises CallUnknown if the request names anything else, because the card says this in Sayso's own words.
    """
    call = await find(gate, str(ask.previous))
    if call is None or not call.ended or not gate.access.asked(gate.people.principal(ask.requester), call):
        raise CallUnknown(fact(Refusal.PREVIOUS))
    if call.erased_at or (call.tools, call.tool, call.args) != (ask.tools, ask.tool, args):
        raise CallUnknown(fact(Refusal.PREVIOUS))
    return call.short


async def _prepare(gate: GateContext, ask: Ask) -> tuple[ToolInfo, Preparation]:
    if ask.runs is Runs.CALLER:
        return ToolInfo(f"caller:{ask.requester}", ""), Preparation(does_by_caller(ask), cwd=ask.cwd)
    if is_asked(ask):
        return INFO, prepared_question(ask)
    info = gate.executor.info(ask.tools, ask.tool)
    if info is None:
        return ToolInfo("", ""), Preparation(does_unknown(ask))
    return info, await gate.executor.prepare(ask)


def _judge(gate: GateContext, ask: Ask, info: ToolInfo, prepared: Preparation) -> Verdict:
    if not info.executor:
        return denial(Noted.NO_TOOL)
    try:
        verdict = gate.terms.verdict(gate.policies, question(ask, ask.args, prepared, info))
    except PolicyUnusable:
        return denial(Noted.POLICY_ERROR)
    verdict = gate.terms.applied(tightened(verdict, ask, prepared, gate.limits), ask)
    return as_question(verdict) if is_asked(ask) else verdict


def _same_call(old: Call, digest: str, ask: Ask) -> Submitted:
    if (old.digest, old.origin) != (digest, ask.origin):
        raise KeyConflict(fact(Refusal.KEY, name=ask.key, short=old.short))
    if ask.must_ask and old.decision is Decision.ALLOWED:  # the old call ran without asking anybody
        raise KeyConflict(fact(Refusal.KEY, name=ask.key, short=old.short))
    return Submitted(old, fresh=False)


async def _admit(gate: GateContext, ask: Ask) -> None:
    limit = gate.limits.open_per_requester
    for agent, most in ((ask.agent, limit), (None, CEILING * limit)):
        if await gate.store.count_open(ask.requester, most, agent) >= most:
            raise TooManyPending(fact(Refusal.PENDING, who=ask.requester, count=most))
    gate.flood.admit(ask.requester, ask.agent, gate.clock.now())


async def _record(gate: GateContext, draft: Draft, twin: Call | None) -> Submitted:
    for _ in range(TRIES):
        try:
            change = await gate.store.commit(Unit(None, partial(_new, gate, draft, new_short()), new=True))
        except ShortTakenError:
            continue
        except KeyTakenError:
            old = await gate.store.by_key(draft.ask.requester, str(draft.ask.key))
            if old is None:
                continue
            return _same_call(old, draft.digest, draft.ask)
        if change is None or change.call is None:
            break
        reach("gate.submitted")
        return Submitted(change.call, lease_of(gate, change.call), same_as=twin.short if twin else None)
    raise Unavailable


def _new(gate: GateContext, draft: Draft, short: str, now: datetime) -> Change:
    ask = draft.ask
    approvers = gate.people.lasting(gate.people.approvers_for(ask.origin, draft.verdict), now)
    if is_asked(ask):
        approvers = tuple(dict.fromkeys((*approvers, gate.people.on_behalf_of(ask.requester))))
    routes = tuple(dict.fromkeys((*gate.people.routes_for(ask.origin, approvers), *ask.routes)))
    if ask.surface:
        routes = tuple(route for route in routes if route.partition(":")[0] == ask.surface)
    call = draft.call(short, now, approvers, routes)
    call = call if ask.must_ask else _passed(gate, call, now)
    verdict = call.verdict
    call = call.evolve(row_mac=seals.row(gate.keys, call))
    asked = Entry(call.ref, Event.ASKED, ask.requester, recorded(call, ask))
    if verdict.action is Action.DENY:
        why = verdict.message or verdict.why
        ended = with_decision(gate, call, Trigger.DENY, f"policy:{verdict.policy}", now, why)
        return Change(ended, entries=(asked, entry_of(ended, Event.DENIED, "policy")))
    if verdict.action is Action.ALLOW:
        return _allowed(gate, call, asked, now)
    parked = advance(call, Trigger.REQUEST_CONFIRMATION, due_at=call.deadline)
    nobody = _unreachable(gate, parked)
    if nobody is None:
        posts = tuple(Post(call.ref, route, PostKind.CARD) for route in call.routes)
        return Change(parked, entries=(asked,), posts=posts)
    why = kept(nobody)
    ended = with_decision(gate, parked, Trigger.UNDELIVERABLE, "service", now, error=why)
    return Change(ended, entries=(asked, entry_of(ended, Event.UNDELIVERABLE, "service", why=why)))


def _allowed(gate: GateContext, call: Call, asked: Entry, now: datetime) -> Change:
    allowed = with_decision(gate, call, Trigger.ALLOW, f"policy:{call.verdict.policy}", now)
    ready = ready_to_run(gate, allowed, now)
    unasked = call.verdict.reason.value if call.verdict.reason in UNASKED else None
    entry = entry_of(ready, Event.ALLOWED, "policy", claimed_by=claimant(ready), unasked=unasked)
    return Change(ready, entries=(asked, entry))


def _passed(gate: GateContext, call: Call, now: datetime) -> Call:
    """Allow a call that no surface can show, if the operator lets its tool run unseen. Return other calls unchanged."""
    shown = gate.reach.any(call.routes, now) or gate.seen_locally(call)
    unseen = call.verdict.action is Action.APPROVE and not shown
    return call.evolve(verdict=passed(call.verdict)) if unseen and gate.terms.may_pass(call) else call


def _unreachable(gate: GateContext, call: Call) -> Fact | None:
    """Return the reason why nobody can answer the call, or None."""
    may_approve = gate.access.who_may_approve(call)
    if why := why_unapprovable(gate, call, may_approve):
        return why
    return None if call.routes or any(map(gate.people.is_local, may_approve)) else fact(Unfit.NOWHERE)
