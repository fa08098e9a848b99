"""The gate: the only ways to change a call. Each loads, decides, swaps, and then tells.

`submit`, `decide`, `withdraw`, `claim`, `finish`, `release`, `settle` (expiry, lapse, lost leases),
`undeliverable` and `add_reason` are the use cases. Whatever surface a decision comes from, it passes `decide`,
and one conditional UPDATE in the store picks the winner; everything before it is advice, everything after it is
telling. Nothing here knows a chat platform, a database, an event loop or a clock of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
import re
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from hitl import seals
from hitl.answers import NOTHING, Answer, Came, Submitted, refuse, too_late, unknown_call
from hitl.canonical import canonical, check_text, digest_of
from hitl.cards import card, is_cut
from hitl.drafts import Draft, caller_sentence, denial, fallback_sentence, recorded
from hitl.errors import (
    AlreadyDecided,
    CallDenied,
    InvalidConfirmation,
    KeyConflict,
    NotApprover,
    PolicyUnusable,
    SaysoError,
    Tampered,
    TooManyPending,
    Unavailable,
)
from hitl.faults import reach
from hitl.lifecycle import Trigger, advance
from hitl.limits import Flood, Limits
from hitl.model import (
    ISOLATED,
    Action,
    Ask,
    Call,
    Claim,
    Decision,
    Entry,
    Event,
    Kind,
    Lease,
    Mode,
    PolicyCall,
    Post,
    PostKind,
    Preparation,
    Prompt,
    PromptKind,
    Ran,
    Reply,
    Result,
    Risk,
    Runs,
    State,
    ToolInfo,
    Verb,
    Verdict,
    Vote,
)
from hitl.outcomes import BROKEN, Fact, Refusal, Told, Unfit, fact, kept
from hitl.people import Access, belongs, is_chat
from hitl.ports import Change, Expect, KeyTakenError, ShortTakenError, Unit
from hitl.reach import Reach
from hitl.redaction import mask
from hitl.replies import ALL, Reading, Span, read, reasoned_yes, unformatted
from hitl.replies import Verdict as Says
from hitl.replies import verdict as verdict_of
from hitl.terms import UNASKED, Terms, judged, passed, tightened
from hitl.text import encodable, one_line
from hitl.tokens import Keyring, Purpose, as_short, new_secret, new_short
from hitl.wording import clause

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from hitl.people import Directory
    from hitl.ports import Clock, Executor, Observer, PolicySource, Store

_TRIES = 20
_WORD = re.compile(r"\w+")
#: So many refs in a reply's words are looked up.
_NAMED = 8
_VERBS = {Verb.APPROVE: Says.APPROVE, Verb.REJECT: Says.REJECT}
#: What an ask says in words; all of it is kept, so all of it must be text that can be.
_WORDS = ("tools", "tool", "requester", "origin", "agent", "session", "cwd", "key", "note", "previous")
#: Replies that name their call in words, which a critical one asks for.
_NAMING = frozenset({Kind.TEXT, Kind.COMMAND})


class Gate:
    """The use cases, over the ports. One per service; `owner` names this process in the leases that it takes."""

    def __init__(  # noqa: PLR0913 - each port is one, by keyword
        self,
        *,
        store: Store,
        clock: Clock,
        policies: PolicySource,
        people: Directory,
        executor: Executor,
        keys: Keyring,
        owner: str,
        limits: Limits | None = None,
        terms: Terms | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.store = store
        self.clock = clock
        self.policies = policies
        self.people = people
        self.executor = executor
        self.keys = keys
        self.owner = owner
        self.limits = limits or Limits()
        self.terms = terms or Terms()
        self.observers = list(observers)
        self.reach = Reach()
        self._flood = Flood(self.limits)
        self._secret = new_secret()
        self._secret_hash = secret_hash(self._secret)

    @property
    def access(self) -> Access:
        """Who may do what, by the directory of now."""
        return Access(self.people)

    # -- submit ---------------------------------------------------------------------------------------------

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call: denied, allowed (and leased, if this service runs it), or waiting for people.

        Raises InvalidConfirmation for arguments that can't be bound or used, NotApprover where the requester may
        not ask there, KeyConflict, TooManyPending, and Unavailable. Nothing is recorded then.
        """
        if not self.access.may_ask(ask.requester, ask.origin):
            raise NotApprover(fact(Refusal.REQUESTER, who=ask.requester))
        for name in _WORDS:
            check_text(getattr(ask, name) or "", f"/{name}")
        args = canonical(dict(ask.args))
        if len(args) > self.limits.args_bytes:
            raise InvalidConfirmation(fact(Refusal.SIZE, size=len(args), most=self.limits.args_bytes))
        info, prepared = await self._prepare(ask)
        prepared = self.terms.marked(prepared)
        digest = digest_of(
            args,
            tools=ask.tools,
            tool=ask.tool,
            executor=info.executor,
            definition=info.definition,
            cwd=prepared.cwd,
            preconditions=prepared.preconditions,
        )
        if ask.key is not None and (old := await self.store.by_key(ask.requester, ask.key)):
            return self._same(old, digest, ask)
        draft = Draft(ask, args, digest, info, prepared, self._judge(ask, info, prepared))
        if draft.verdict.action is not Action.APPROVE:
            return await self._record(draft, None)
        await self._admit(ask)
        twin = await self.store.same_open(digest, ask.agent)
        return await self._record(draft.beside(twin) if twin else draft, twin)

    async def submit_all(self, asks: Sequence[Ask]) -> list[Submitted | SaysoError]:
        """A batch: each call on its own, in order; one that fails doesn't touch the others."""
        done: list[Submitted | SaysoError] = []
        for ask in asks:
            try:
                done.append(await self.submit(ask))
            except SaysoError as error:
                done.append(error)
        return done

    async def _prepare(self, ask: Ask) -> tuple[ToolInfo, Preparation]:
        if ask.runs is Runs.CALLER:
            return ToolInfo(f"caller:{ask.requester}", ""), Preparation(caller_sentence(ask), cwd=ask.cwd)
        info = self.executor.info(ask.tools, ask.tool)
        if info is None:
            return ToolInfo("", ""), Preparation(fallback_sentence(ask))
        return info, await self.executor.prepare(ask)

    def _judge(self, ask: Ask, info: ToolInfo, prepared: Preparation) -> Verdict:
        if not info.executor:
            return denial("no_tool")
        try:
            verdict = self.terms.verdict(self.policies, _question(ask, ask.args, prepared))
        except PolicyUnusable:
            return denial("policy_error")
        return self.terms.applied(tightened(verdict, ask, prepared, self.limits), ask)

    def _same(self, old: Call, digest: str, ask: Ask) -> Submitted:
        if (old.digest, old.origin) != (digest, ask.origin):
            raise KeyConflict(fact(Refusal.KEY, name=ask.key, short=old.short))
        return Submitted(old, fresh=False)

    async def _admit(self, ask: Ask) -> None:
        limit = self.limits.open_per_requester
        if await self.store.count_open(ask.requester, limit) >= limit:
            raise TooManyPending(fact(Refusal.PENDING, who=ask.requester, count=limit))
        self._flood.admit(ask.requester, ask.agent, self.clock.now())

    async def _record(self, draft: Draft, twin: Call | None) -> Submitted:
        for _ in range(_TRIES):
            try:
                change = await self.store.commit(Unit(None, partial(self._new, draft, new_short())))
            except ShortTakenError:
                continue
            except KeyTakenError:
                old = await self.store.by_key(draft.ask.requester, str(draft.ask.key))
                if old is None:
                    continue
                return self._same(old, draft.digest, draft.ask)
            if change is None or change.call is None:
                break
            reach("gate.submitted")
            self._tell(change.call)
            return Submitted(change.call, self._lease_of(change.call), same_as=twin.short if twin else None)
        raise Unavailable

    def _new(self, draft: Draft, short: str, now: datetime) -> Change:
        ask = draft.ask
        approvers = self.people.approvers_for(ask.origin, draft.verdict)
        call = draft.call(short, now, approvers, self.people.routes_for(ask.origin, approvers))
        call = call if ask.must_ask else self._passed(call, now)
        verdict = call.verdict
        call = call.evolve(row_mac=self.keys.seal(Purpose.ROW, seals.row_bytes(call)))
        asked = Entry(call.ref, Event.ASKED, ask.requester, recorded(call))
        if verdict.action is Action.DENY:
            why = verdict.message or verdict.why
            ended = self._decided(call, Trigger.DENY, f"policy:{verdict.policy}", now, why)
            return Change(ended, entries=(asked, _entry(ended, Event.DENIED, "policy")))
        if verdict.action is Action.ALLOW:
            return self._allowed(call, asked, now)
        parked = advance(call, Trigger.REQUEST_CONFIRMATION, due_at=call.deadline)
        nobody = self._unreachable(parked)
        if nobody is None:
            posts = tuple(Post(call.ref, route, PostKind.CARD) for route in call.routes)
            return Change(parked, entries=(asked,), posts=posts)
        why = kept(nobody)
        ended = self._decided(parked, Trigger.UNDELIVERABLE, "service", now, error=why)
        return Change(ended, entries=(asked, _entry(ended, Event.UNDELIVERABLE, "service", why=why)))

    def _allowed(self, call: Call, asked: Entry, now: datetime) -> Change:
        allowed = self._decided(call, Trigger.ALLOW, f"policy:{call.verdict.policy}", now)
        ready = self._ready(allowed, now)
        unasked = call.verdict.reason.value if call.verdict.reason in UNASKED else None
        entry = _entry(ready, Event.ALLOWED, "policy", claimed_by=_claimant(ready), unasked=unasked)
        return Change(ready, entries=(asked, entry))

    def _passed(self, call: Call, now: datetime) -> Call:
        """The call, allowed where the operator named it as one that runs when no surface can show it."""
        shown = self.reach.any(call.routes, now) or self.seen_locally(call)
        unseen = call.verdict.action is Action.APPROVE and not shown
        return call.evolve(verdict=passed(call.verdict)) if unseen and self.terms.may_pass(call) else call

    def _unreachable(self, call: Call) -> Fact | None:
        """Why nobody can answer the call, if so."""
        if not self.access.anybody(call):
            return fact(Unfit.NOBODY)
        return None if self._shown(call) else fact(Unfit.NOWHERE)

    def _shown(self, call: Call) -> bool:
        """Whether any surface can show it."""
        return bool(call.routes) or self.seen_locally(call)

    def seen_locally(self, call: Call) -> bool:
        """Whether an approver can see it in this machine's pending list, whatever the chats do."""
        return any(map(self.people.is_local, call.approvers))

    # -- decide ---------------------------------------------------------------------------------------------

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """The one guard for every surface: what came of a reply, one answer for each call that it names.

        Never raises for what people do; raises Unavailable when nothing could be recorded.
        """
        reply = _speakable(reply)
        if reply.kind in {Kind.TEXT, Kind.REACTION}:
            return await self._decide_text(reply)
        call = await self.find(reply.target or "")
        if call is None:
            return (refuse(unknown_call(reply.target or "")),)
        if reply.verb is Verb.DETAILS:
            return (await self._details(reply, call),)
        if reply.verb is None:
            return (refuse(InvalidConfirmation(), call),)
        return (await self._vote(reply, call, Reading(_VERBS[reply.verb], reply.reason or None)),)

    async def _decide_text(self, reply: Reply) -> tuple[Answer, ...]:
        here = await self.store.pending(origin=reply.conversation)
        readings = _read(reply, await self._meant(reply, here))
        if any(reading.target == ALL for reading in readings):
            return (self._listed(reply, here) if reply.private or reply.target else NOTHING,)
        if len(readings) > 1 and all(reading.target for reading in readings):
            return tuple([await self._decide_reading(reply, reading, here) for reading in readings])
        return (await self._decide_reading(reply, verdict_of(readings), here),)

    async def _meant(self, reply: Reply, here: Sequence[Call]) -> set[str]:
        """Return the refs that the words may name, as they were typed.

        Those are the calls that are pending here, the call that the reply answers, and every other call of which a
        word is the ref: it may be asked elsewhere, or be decided. Whether it may be decided here is judged later.
        """
        refs = {name for call in here for name in (call.short, call.ref)}
        known = {call.short for call in here}
        if reply.target and reply.target not in refs and (answered := await self.find(reply.target)):
            known.add(answered.short)
        typed = (word for word in dict.fromkeys(_WORD.findall(reply.text)) if _typed_as_ref(word))
        for word in itertools.islice(typed, _NAMED):
            if word not in known and await self.find(word):
                known.add(word)
        return known

    def _listed(self, reply: Reply, here: Sequence[Call]) -> Answer:
        """The answer to one word for all: each call by its name, to be said one by one, for one who may decide."""
        principal = self.people.principal(reply.identity)
        calls = [call for call in here if self.access.is_approver(principal, call)]
        if not calls:
            return Answer(Came.UNCLEAR, fact(Refusal.NOTHING_WAITS))
        lines = tuple(fact(Told.ALL_LINE, short=call.short, sentence=card(call).sentence) for call in calls)
        return Answer(Came.WHICH, fact(Told.ALL, count=len(calls), calls=lines))

    async def _decide_reading(self, reply: Reply, reading: Reading, here: Sequence[Call]) -> Answer:
        call, problem = await self._aim(reply, reading, here)
        if call is None:
            return problem
        if reading.verdict is Says.UNCLEAR and call.verdict.require_reason and unformatted(reply.spans):
            reading = reasoned_yes(reply.text) or reading
        if reading.verdict is Says.UNCLEAR:
            told = self._unclear(reply, call, reading)
            return await self._note(reply, call, Event.UNCLEAR, Answer(Came.UNCLEAR, told, call))
        return await self._vote(reply, call, reading)

    def _unclear(self, reply: Reply, call: Call, reading: Reading) -> Fact:
        """Tell whose words were not understood, and which, to a person who may decide.

        Nobody else's words are repeated, because other people may answer what we write; and only a person who may see
        the call hears its ref.
        """
        principal = self.people.principal(reply.identity)
        if self.access.is_approver(principal, call):
            return fact(Told.UNCLEAR, short=call.short, why=reading.why)
        why = reading.why.partition(":")[0]
        if self.access.asked(principal, call):
            return fact(Told.UNCLEAR, short=call.short, why=why)
        return fact(Told.UNCLEAR_OTHER, why=why)

    async def _aim(self, reply: Reply, reading: Reading, here: Sequence[Call]) -> tuple[Call | None, Answer]:
        """The one call that a text is about; or what to answer instead."""
        if reading.target and reply.target:
            named, meant = await self.find(reading.target), await self.find(reply.target)
            if named is None or meant is None or named.ref != meant.ref:
                shown = meant.short if meant else reply.target
                return None, Answer(Came.UNCLEAR, fact(Told.TWO_TARGETS, target=shown))
            return named, NOTHING
        if aimed := reading.target or reply.target:
            found = await self.find(aimed)
            if found is None and reading.verdict is Says.UNCLEAR:
                return None, NOTHING
            return found, refuse(unknown_call(aimed))
        return await self._aim_unaddressed(reply, reading, here)

    async def _aim_unaddressed(
        self, reply: Reply, reading: Reading, here: Sequence[Call]
    ) -> tuple[Call | None, Answer]:
        clear = reading.verdict is not Says.UNCLEAR
        if clear and reply.private and not here and (lost := await self._just_lost(reply, reading)):
            return lost, NOTHING
        if not here or not reply.private:
            return None, Answer(Came.NOT_A_REPLY, fact(Refusal.NOTHING_WAITS) if clear else None)
        if len(here) > 1:
            shorts = ", ".join(call.short for call in here)
            return None, Answer(Came.WHICH if clear else Came.NOT_A_REPLY, fact(Told.WHICH, shorts=shorts))
        if clear and reply.follows != here[0].ref:
            return None, Answer(Came.WHICH, fact(Told.POINT, short=here[0].short), here[0])
        return here[0], NOTHING

    async def _just_lost(self, reply: Reply, reading: Reading) -> Call | None:
        """The call that was the talk here until somebody else, or the clock, decided it.

        One's own decision is no news, but a no said once more with its reason is.
        """
        last = await self.store.get(reply.follows) if reply.follows else None
        if last is None or not last.ended or not belongs(last, reply.conversation):
            return None
        principal = self.people.principal(reply.identity)
        explained = _explains(reading, last, principal) and self._age(last.decided_at) < self.limits.late_reason_s
        return last if last.decided_by != principal or explained else None

    async def find(self, target: str) -> Call | None:
        """The call with that ref or short ref, however the short one was typed."""
        target = encodable(target)
        if short := as_short(target):
            return await self.store.by_short(short)
        return await self.store.get(target)

    async def _vote(self, reply: Reply, call: Call, reading: Reading) -> Answer:
        approve = reading.verdict is Says.APPROVE
        for _ in range(_TRIES):
            principal = self.people.principal(reply.identity)
            if refusal := self._may_not(reply, call, call.verdict, approve=approve):
                return await self._note(reply, call, Event.REFUSED, refuse(refusal, call))
            if call.state is not State.AWAITING and _explains(reading, call, principal):
                return await self._explain(call, principal, str(reading.reason), reply.event)
            if call.state is not State.AWAITING:
                return await self._note(reply, call, Event.LATE, refuse(too_late(call), call))
            # `due_at` moves on through a call's life, so it isn't sealed; while people are asked it is the deadline.
            if not seals.row_holds(self.keys, call) or call.due_at != call.deadline:
                return await self._note(reply, call, Event.TAMPERED, refuse(Tampered(), call))
            if aside := _aside(reply, call, reading, call.verdict.risk):
                return await self._note(reply, call, Event.HELD, aside)
            vote = self._approve if approve else self._reject
            if answer := await vote(reply, call, principal, reading):
                return answer
            call = await self._fresh(call)
        raise Unavailable

    def _may_not(self, reply: Reply, call: Call, verdict: Verdict, *, approve: bool) -> NotApprover | None:
        """The error for a person who may not decide this call there."""
        why = self.access.why_not_decide(reply, call, verdict, approve=approve)
        who = {"who": self.people.principal(reply.identity)} if why is Refusal.STRANGER else {}
        return NotApprover(fact(why, short=call.short, **who)) if why else None

    async def _approve(self, reply: Reply, call: Call, principal: str, reading: Reading) -> Answer | None:
        """The answer to a yes, or None where somebody, or the clock, was quicker."""
        reason = reading.reason
        try:
            verdict = self._judged_now(call)
        except PolicyUnusable as error:
            broken = PolicyUnusable(fact(Refusal.POLICY, why=error.message, short=call.short))
            return await self._note(reply, call, Event.REFUSED, refuse(broken, call))
        if verdict.action is Action.DENY:
            return await self._denied_now(reply, call, verdict)
        if refusal := self._may_not(reply, call, verdict, approve=True):
            return await self._note(reply, call, Event.REFUSED, refuse(refusal, call))
        if hold := await self._hold(reply, call, principal, reading, verdict):
            return hold
        unfit = await self._unfit_to_run(call, verdict) if call.runs is Runs.SERVICE else None

        def seal(now: datetime) -> Change:
            vote = self._sealed_vote(reply, call, principal, now, approve=True, reason=reason)
            decided = self._decided(call, Trigger.APPROVE, principal, now, reason)
            policies = {"policy_asked": call.verdict.policy, "policy_now": verdict.policy}
            ended = _refused(decided, unfit, now) if unfit else self._ready(decided, now)
            taken = {"claimed_by": _claimant(ended)}
            entries = [_entry(ended, Event.APPROVED, principal, **_how(reply), **policies, **taken)]
            if unfit:
                entries.append(_entry(ended, Event.REFUSED, "service", why=kept(unfit)))
            return Change(ended, (vote,), entries, edits(ended), handled=reply.event)

        ended = await self._swap(call, seal)
        if ended is None:
            return None
        reach("gate.approved")
        told = fact(Told.NOT_RUN, short=call.short, error=unfit) if unfit else fact(Told.APPROVED, short=call.short)
        return Answer(Came.APPROVED, told, ended, self._lease_of(ended))

    async def _hold(
        self, reply: Reply, call: Call, principal: str, reading: Reading, verdict: Verdict
    ) -> Answer | None:
        """What must come before this yes counts, by the stricter rules: a ref, a reason, the details, a second yes."""
        risk = max(call.verdict.risk, verdict.risk, key=lambda risk: risk.rank)
        if aside := _aside(reply, call, reading, risk):
            return await self._note(reply, call, Event.HELD, aside)
        if not reading.reason and (call.verdict.require_reason or verdict.require_reason):
            needed = Answer(Came.REASON_NEEDED, fact(Told.REASON_NEEDED, short=call.short), call)
            return await self._note(reply, call, Event.HELD, needed)
        if (
            risk.rank >= Risk.HIGH.rank
            and is_cut(call)
            and not await self.store.prompt(call.ref, principal, PromptKind.VIEWED)
        ):
            needed = Answer(Came.DETAILS_NEEDED, fact(Told.DETAILS_NEEDED, short=call.short), call)
            return await self._note(reply, call, Event.HELD, needed)
        raised = risk.rank > call.verdict.risk.rank
        if raised or (risk is Risk.CRITICAL and reply.kind not in _NAMING):
            return await self._second_yes(reply, call, principal, risk if raised else None)
        return None

    async def _second_yes(self, reply: Reply, call: Call, principal: str, raised: Risk | None) -> Answer | None:
        """None when this is the second yes of this person, in its time; else what to answer to the first."""
        first = await self.store.prompt(call.ref, principal, PromptKind.CONFIRM)
        age = (self.clock.now() - first.at).total_seconds() if first else math.inf
        how = fact(Told.CONFIRM_BY_API, short=call.short) if reply.kind is Kind.API else ""
        if age < self.limits.soonest_second_yes_s:
            soon = Answer(Came.CONFIRM, fact(Told.CONFIRM_SOON, short=call.short, how=how), call)
            return await self._note(reply, call, Event.HELD, soon)
        if age <= self.limits.second_yes_s and (reply.confirmed or reply.kind is not Kind.API):
            return None
        await self._prompt(reply, call, principal, PromptKind.CONFIRM)
        what = Told.CONFIRM_RAISED if raised else Told.CONFIRM
        return Answer(Came.CONFIRM, fact(what, short=call.short, how=how, risk=raised), call)

    async def _prompt(self, reply: Reply, call: Call, principal: str, kind: PromptKind) -> None:
        def seal(now: datetime) -> Change:
            entry = _entry(call, Event(kind), principal, **_how(reply))
            prompt = Prompt(call.ref, principal, kind, now)
            return Change(entries=(entry,), prompts=(prompt,), handled=reply.event)

        await self.store.commit(Unit(None, seal))

    async def _reject(self, reply: Reply, call: Call, principal: str, reading: Reading) -> Answer | None:
        """The answer to a no, or None where somebody, or the clock, was quicker."""
        reason = reading.reason
        asked = reply.kind is Kind.BUTTON and not reason

        def seal(now: datetime) -> Change:
            vote = self._sealed_vote(reply, call, principal, now, approve=False, reason=reason)
            ended = self._decided(call, Trigger.REJECT, principal, now, reason)
            if asked:
                ended = ended.evolve(due_at=now + timedelta(seconds=self.limits.late_reason_s))
            entry = _entry(ended, Event.REJECTED, principal, **_how(reply), reason=reason)
            return Change(ended, (vote,), (entry,), edits(ended), handled=reply.event)

        ended = await self._swap(call, seal)
        if ended is None:
            return None
        reach("gate.rejected")
        what = Told.REJECTED_WITH_REASON if reason else Told.REJECTED
        return Answer(Came.REJECTED, fact(what, short=call.short, reason=one_line(mask(reason or ""))), ended)

    async def _denied_now(self, reply: Reply, call: Call, verdict: Verdict) -> Answer | None:
        why = verdict.message or verdict.why

        def seal(now: datetime) -> Change:
            ended = self._decided(call, Trigger.DENY, f"policy:{verdict.policy}", now, why)
            entry = _entry(ended, Event.DENIED, "policy", **_how(reply), why=why)
            return Change(ended, entries=(entry,), posts=edits(ended), handled=reply.event)

        ended = await self._swap(call, seal)
        if ended is None:
            return None
        return refuse(CallDenied(fact(Refusal.DENIED_NOW, short=call.short, why=clause(why))), ended)

    async def peek(self, reply: Reply) -> Answer:
        """What a reply that asks for details gets, without counting them as seen.

        For surfaces that may fail to show them: only when they are shown is the same reply decided. Raises Unavailable.
        """
        call = await self.find(reply.target or "")
        return refuse(unknown_call(reply.target or "")) if call is None else await self._peek(reply, call)

    async def _peek(self, reply: Reply, call: Call) -> Answer:
        if refusal := self._may_not(reply, call, call.verdict, approve=False):
            return await self._note(reply, call, Event.REFUSED, refuse(refusal, call))
        return Answer(Came.DETAILS, call=call)

    async def _details(self, reply: Reply, call: Call) -> Answer:
        answer = await self._peek(reply, call)
        if answer.came is Came.DETAILS and not call.ended:
            await self._prompt(reply, call, self.people.principal(reply.identity), PromptKind.VIEWED)
        return answer

    async def add_reason(self, target: str, identity: str, reason: str) -> Answer:
        """Attach a reason to one's own rejection, within 60 seconds of it. Those who wait for it are told.

        One without words (a picture, blanks) is none: the wait goes on.
        """
        call = await self.find(target)
        if call is None:
            return refuse(unknown_call(target))
        if not reason.strip():
            return Answer(Came.UNCLEAR, fact(Told.NO_WORDS, short=call.short), call)
        return await self._explain(call, self.people.principal(identity), encodable(reason))

    async def _explain(self, call: Call, principal: str, reason: str, event: tuple[str, str] | None = None) -> Answer:
        """The answer to a reason that comes after a no. Once it was said that none came, none does."""
        late = refuse(InvalidConfirmation(fact(Refusal.REASON_LATE, short=call.short)), call)
        if not _unexplained(call, principal) or self._age(call.decided_at) >= self.limits.late_reason_s:
            return late

        def seal(_: datetime) -> Change:
            told = call.evolve(reason=reason, due_at=None)
            entry = _entry(told, Event.REASON, principal, reason=reason)
            return Change(told, entries=(entry,), posts=edits(told), handled=event)

        told = await self._swap(call, seal, overdue=False if call.awaits_reason else None)
        return Answer(Came.REJECTED, fact(Told.REASON_ADDED, short=call.short), told) if told else late

    # -- withdraw, undeliverable, settle --------------------------------------------------------------------

    async def withdraw(self, target: str, identity: str) -> Call:
        """End a waiting call on behalf of the one who asked, or an operator.

        Raises CallUnknown, NotApprover (on record), or AlreadyDecided / ConfirmationExpired when it is over.
        """
        call = await self._known(target)
        principal = self.people.principal(identity)
        if not self.access.may_withdraw(principal, call):
            refusal = NotApprover(fact(Refusal.WITHDRAW, short=call.short))
            entry = _entry(call, Event.REFUSED, principal, wanted="withdraw", identity=identity, code=refusal.code)
            await self.store.commit(Unit(None, lambda _: Change(entries=(entry,))))
            raise refusal
        return await self._end(call, Trigger.WITHDRAW, principal)

    async def undeliverable(self, ref: str) -> Call:
        """End a waiting call that every surface refused to show. Raises as `withdraw`."""
        return await self._end(await self._known(ref), Trigger.UNDELIVERABLE, "service", fact(Unfit.SURFACES))

    async def _end(self, call: Call, trigger: Trigger, by: str, unfit: Fact | None = None) -> Call:
        why = kept(unfit) if unfit else None
        for _ in range(_TRIES):
            if call.state is not State.AWAITING:
                raise too_late(call)

            def seal(now: datetime, call: Call = call) -> Change:
                ended = self._decided(call, trigger, by, now, error=why)
                return Change(ended, entries=(_entry(ended, Event(ended.status), by, why=why),), posts=edits(ended))

            if ended := await self._swap(call, seal):
                return ended
            call = await self._fresh(call)
        raise Unavailable

    async def settle(self, call: Call, *, unseen: bool = False) -> Call | None:
        """End what is overdue by the store's clock: expired, lapsed, or lost with its lease. None where it isn't.

        `unseen` says that no surface ever showed the card. For a rejection it is the wait for its reason that ends.
        """
        if call.due_at is None:
            return None
        if call.awaits_reason:
            return await self._swap(call, lambda _: _left_unexplained(call), overdue=True)

        def seal(now: datetime) -> Change:
            ended = self._overdue(call, now, unseen=unseen)
            return Change(ended, entries=(_entry(ended, Event(ended.status), "service"),), posts=edits(ended))

        return await self._swap(call, seal, overdue=True)

    def _overdue(self, call: Call, now: datetime, *, unseen: bool) -> Call:
        if call.state is State.AWAITING:
            error = str(Unfit.UNSEEN) if unseen else None
            return self._decided(call, Trigger.EXPIRE, "service", now, error=error)
        if call.claim is None:
            return _finished(call, Trigger.LAPSE, Result.LAPSED, now)
        return _finished(call, Trigger.FAIL, Result.UNKNOWN, now)

    async def orphaned(self, call: Call) -> Call | None:
        """End a claimed call whose claimant is known to be dead, without waiting for its lease: `unknown`."""

        def seal(now: datetime) -> Change:
            ended = _finished(call, Trigger.FAIL, Result.UNKNOWN, now)
            return Change(ended, entries=(_entry(ended, Event.UNKNOWN, "service"),), posts=edits(ended))

        return await self._swap(call, seal, overdue=None)

    # -- claim, finish --------------------------------------------------------------------------------------

    async def claim(self, target: str, owner: str, secret: str) -> Lease:
        """The one permission to run an approved or allowed call; the same again for the same secret's hash.

        `secret` is the SHA-256 (hex) of a secret that the claimant keeps. Raises CallUnknown, Tampered,
        AlreadyDecided (claimed by another, or not to be claimed), or InvalidConfirmation where something changed.
        """
        call = await self._known(target)
        for _ in range(_TRIES):
            if held := _held(call, owner, secret):
                return held
            if leased := await self._take(call, owner, lambda call, now: self._leased(call, owner, secret, now)):
                reach("gate.claimed")
                return Lease(leased, owner, leased.claim.until if leased.claim else leased.deadline)
            call = await self._fresh(call)
        raise Unavailable

    async def release(self, target: str, owner: str) -> Call:
        """Claim and finish in one commit: for a caller that runs it and doesn't report. Raises as `claim`."""

        def released(call: Call, now: datetime) -> Call:
            leased = self._leased(call, owner, "", now)
            return _finished(leased, Trigger.COMPLETE, Result.RELEASED, now)

        call = await self._known(target)
        for _ in range(_TRIES):
            if call.state is not State.EXECUTING or call.claim is not None:
                raise _unclaimable(call)
            if taken := await self._take(call, owner, released):
                return taken
            call = await self._fresh(call)
        raise Unavailable

    async def _take(self, call: Call, owner: str, take: Callable[[Call, datetime], Call]) -> Call | None:
        """The call taken as `take` says, in time and fit to run; None where somebody, or the clock, was quicker.

        Raises Tampered or InvalidConfirmation where it isn't fit: it is refused then, on record.
        """
        unfit = await self._unfit_to_run_stored(call)

        def seal(now: datetime) -> Change:
            taken = _refused(call, unfit, now) if unfit else take(call, now)
            event = Event.REFUSED if unfit else Event.RELEASED if taken.result else Event.CLAIMED
            entry = _entry(taken, event, owner, why=kept(unfit) if unfit else None)
            return Change(taken, entries=(entry,), posts=edits(taken) if taken.ended else ())

        taken = await self._swap(call, seal)
        if taken is not None and unfit:
            raise _unfit_error(call, unfit)
        return taken

    async def finish(self, target: str, secret: str, ran: Ran) -> Call:
        """Record how a claimed call ended; a late report amends `unknown` and `timed_out`.

        `secret` is what `claim` was given the hash of. Raises CallUnknown, NotApprover for another's call,
        AlreadyDecided where it ended another way.
        """
        return await self._finish(await self._known(target), secret, ran)

    async def finish_own(self, lease: Lease, ran: Ran) -> Call:
        """`finish` for a lease that this process took itself; the call is as it was then, or the swap tells."""
        return await self._finish(lease.call, self._secret, ran)

    async def _finish(self, call: Call, secret: str, ran: Ran) -> Call:
        for _ in range(_TRIES):
            if call.claim is None or not _same(call.claim.secret_hash, secret_hash(secret)):
                raise NotApprover(fact(Refusal.FINISH, short=call.short))
            if call.result is ran.result:
                return call
            if call.ended and call.result not in {Result.UNKNOWN, Result.TIMED_OUT}:
                raise too_late(call)
            owner = call.claim.owner

            def seal(now: datetime, call: Call = call, owner: str = owner) -> Change:
                ended = _reported(call, ran, now)
                return Change(ended, entries=(_entry(ended, Event(ended.status), owner),), posts=edits(ended))

            if ended := await self._swap(call, seal, overdue=None):
                reach("gate.finished")
                return ended
            call = await self._fresh(call)
        raise Unavailable

    async def _unfit_to_run_stored(self, call: Call) -> Fact | None:
        """Why a call whose decision is in the store may not run now, if so: its seals come first."""
        if broken := await self._broken(call):
            return broken
        # `due_at` isn't sealed, the decision's time is: nobody gains time to claim by moving the former.
        if self._age(call.decided_at) > self.limits.claim_caller_s:
            return fact(Unfit.LATE)
        try:
            verdict = self._judged_now(call)
        except PolicyUnusable:
            return fact(Unfit.POLICY_ERROR)
        if call.decision is Decision.ALLOWED and self.terms.mode is Mode.ENFORCE and verdict.action is not Action.ALLOW:
            return fact(Unfit.POLICY_ASKS, why=verdict.message or verdict.why)
        return await self._unfit_to_run(call, verdict)

    async def _broken(self, call: Call) -> Fact | None:
        """Which seal of the stored call doesn't hold, if any."""
        if not seals.row_holds(self.keys, call):
            return fact(Unfit.ROW)
        if not seals.decision_holds(self.keys, call):
            return fact(Unfit.DECISION)
        if call.decision is Decision.APPROVED and not seals.votes_hold(
            self.keys, call, await self.store.votes(call.ref)
        ):
            return fact(Unfit.VOTES)
        return None

    async def _unfit_to_run(self, call: Call, verdict: Verdict) -> Fact | None:
        """Why the call may not run now, if so: the policy, the allowlist, what changed meanwhile."""
        if verdict.action is Action.DENY:
            return fact(Unfit.POLICY, why=verdict.message or verdict.why)
        if call.runs is Runs.CALLER:
            return None
        info = self.executor.info(call.tools, call.tool)
        if info is None or (info.executor, info.definition) != (call.executor, call.definition):
            return fact(Unfit.TOOL)
        changed = await self.executor.still_holds(call)
        return fact(Unfit.CHANGED, why=changed) if changed else None

    # -- shared ---------------------------------------------------------------------------------------------

    def _decided(
        self,
        call: Call,
        trigger: Trigger,
        by: str,
        now: datetime,
        reason: str | None = None,
        *,
        error: str | None = None,
    ) -> Call:
        """The call with its decision on it, sealed; whoever runs it next sets `due_at`."""
        decided = advance(call, trigger, decided_at=now, decided_by=by, reason=reason, error=error, due_at=None)
        return decided.evolve(decision_mac=self.keys.seal(Purpose.DECISION, seals.decision_bytes(decided)))

    def _ready(self, decided: Call, now: datetime) -> Call:
        """A decided call that may run: leased if this service runs it, else open to its claimant for a while."""
        if decided.runs is Runs.SERVICE:
            return self._leased(decided, self.owner, self._secret_hash, now)
        return decided.evolve(due_at=now + timedelta(seconds=self.limits.claim_caller_s))

    def _leased(self, call: Call, owner: str, secret: str, now: datetime) -> Call:
        limit_s = call.verdict.execution_s if call.runs is Runs.SERVICE else self.limits.caller_execution_s
        until = now + timedelta(seconds=limit_s + self.limits.lease_grace_s)
        return advance(call, Trigger.CLAIM, claim=Claim(owner, secret, until), due_at=until)

    def _lease_of(self, call: Call) -> Lease | None:
        return Lease(call, self.owner, call.claim.until) if call.claim and call.state is State.EXECUTING else None

    def _sealed_vote(
        self, reply: Reply, call: Call, principal: str, now: datetime, *, approve: bool, reason: str | None
    ) -> Vote:
        said = seals.vote_bytes(call.ref, call.digest, approve=approve, principal=principal, at=now)
        mac = self.keys.seal(Purpose.VOTE, said)
        return Vote(call.ref, principal, approve, reason, reply.surface, reply.pressed_at, now, mac)

    async def _note(self, reply: Reply, call: Call, event: Event, answer: Answer) -> Answer:
        """Put a reply that decided nothing on record, and answer it."""
        code = answer.error.code if answer.error else None

        def seal(now: datetime) -> Change:
            del now
            entry = _entry(call, event, self.people.principal(reply.identity), **_how(reply), code=code)
            return Change(entries=(entry,), handled=reply.event)

        await self.store.commit(Unit(None, seal))
        return answer

    async def _swap(
        self, call: Call, seal: Callable[[datetime], Change], *, overdue: bool | None = False
    ) -> Call | None:
        """The one conditional write: the call as sealed, told to all, or None where its condition didn't hold."""
        change = await self.store.commit(Unit(Expect(call.ref, call.version, overdue=overdue), seal))
        if change is None or change.call is None:
            return None
        self._tell(change.call)
        return change.call

    async def _fresh(self, call: Call) -> Call:
        """The call as it is after a lost swap; if it was lost to the clock, it is ended first."""
        if call.due_at is not None and call.due_at <= self.clock.now():
            await self.settle(call)
        return await self._known(call.ref)

    async def _known(self, target: str) -> Call:
        call = await self.find(target)
        if call is None:
            raise unknown_call(target)
        return call

    def _judged_now(self, call: Call) -> Verdict:
        return self.terms.verdict(self.policies, _question(call, call.arguments, call))

    def _age(self, at: datetime | None) -> float:
        """Seconds since then."""
        return (self.clock.now() - at).total_seconds() if at else math.inf

    def _tell(self, call: Call) -> None:
        for observer in self.observers:
            observer.changed(call)


def _question(asked: Ask | Call, args: Mapping[str, Any], found: Preparation | Call) -> PolicyCall:
    """What the policy is asked. ``found`` says where the call runs, and how."""
    seen, is_command = judged(asked.runs, args)
    return PolicyCall(
        asked.tools,
        asked.tool,
        seen,
        found.cwd,
        requester=asked.requester,
        origin=asked.origin,
        is_command=is_command,
        isolated=asked.runs is Runs.SERVICE and ISOLATED in found.preconditions,
    )


def secret_hash(secret: str) -> str:
    """SHA-256 of a claimant's secret, in hex: all that the store ever sees of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _speakable(reply: Reply) -> Reply:
    """The reply with nothing in it that the record couldn't hold."""
    if reply.text.isascii() and (reply.reason is None or reply.reason.isascii()):
        return reply
    reason = None if reply.reason is None else encodable(reply.reason)

    def moved(index: int) -> int:
        return len(encodable(reply.text[:index]))

    spans = tuple(Span(moved(span.start), moved(span.end), span.kind) for span in reply.spans)
    return replace(reply, text=encodable(reply.text), reason=reason, spans=spans)


def _read(reply: Reply, known_refs: Collection[str] = ()) -> list[Reading]:
    """Read the words of a reply, with their formatting, in the language that is known."""
    return read(reply.text, known_refs=known_refs, language=reply.language, spans=reply.spans)


def _typed_as_ref(word: str) -> bool:
    """Whether a word may be a ref and holds a digit. Without a digit, `please` could be a ref: L reads as 1."""
    return any(map(str.isdigit, word)) and as_short(word) is not None


def _aside(reply: Reply, call: Call, reading: Reading, risk: Risk) -> Answer | None:
    """What to answer to a reply that can't decide a critical call: a reaction, or a text that doesn't name it."""
    if risk is not Risk.CRITICAL:
        return None
    if reply.kind is Kind.REACTION:
        return Answer(Came.UNCLEAR, fact(Told.NO_REACTION, short=call.short), call)
    if reply.kind is Kind.TEXT and reading.target is None:
        return Answer(Came.UNCLEAR, fact(Told.NAME_IT, short=call.short), call)
    return None


def _unexplained(call: Call, principal: str) -> bool:
    """Whether that person rejected the call, and it isn't known why."""
    return call.decision is Decision.REJECTED and call.decided_by == principal and not call.reason


def _explains(reading: Reading, call: Call, principal: str) -> bool:
    """Whether it is one's own no once more, with a reason now."""
    return reading.verdict is Says.REJECT and bool(reading.reason) and _unexplained(call, principal)


def _left_unexplained(call: Call) -> Change:
    """The end of the wait for a reason: its cards are true as they are, whoever asked is told."""
    told = call.evolve(reason="", due_at=None)
    return Change(told, entries=(_entry(told, Event.NO_REASON, "service"),), posts=_notices(told))


def _unclaimable(call: Call) -> SaysoError:
    if call.state is State.AWAITING:
        return InvalidConfirmation(fact(Refusal.CLAIM, short=call.short, status=call.status.value))
    if call.claim is not None:
        return AlreadyDecided(fact(Refusal.CLAIMED, short=call.short))
    return too_late(call)


def _unfit_error(call: Call, unfit: Fact) -> SaysoError:
    told = fact(Refusal.NOT_RUN, short=call.short, how=Decision.APPROVED.value, error=unfit)
    return Tampered(told) if unfit.what in BROKEN else InvalidConfirmation(told)


def _refused(call: Call, unfit: Fact, now: datetime) -> Call:
    return _finished(call, Trigger.REFUSE, Result.REFUSED, now, error=kept(unfit))


def _finished(call: Call, trigger: Trigger, result: Result, now: datetime, **told: Any) -> Call:
    return advance(call, trigger, result=result, finished_at=now, due_at=None, **told)


def _reported(call: Call, ran: Ran, now: datetime) -> Call:
    """The call as its run ended: completed, failed, refused before the tool began, or amended by a late report."""
    if call.state is State.ERROR:
        trigger = Trigger.AMEND
    elif ran.result is Result.REFUSED:
        trigger = Trigger.REFUSE
    else:
        trigger = Trigger.COMPLETE if ran.result in {Result.SUCCEEDED, Result.RELEASED} else Trigger.FAIL
    started = ran.result is not Result.REFUSED
    return _finished(call, trigger, ran.result, now, started=started, output=ran.output, error=ran.error)


def edits(call: Call) -> tuple[Post, ...]:
    """The outbox rows that make every card of a call true again, and tell the conversation how it ended."""
    cards = tuple(Post(call.ref, route, PostKind.EDIT) for route in call.routes)
    return (*cards, *_notices(call))


def _notices(call: Call) -> tuple[Post, ...]:
    told = call.ended and call.runs is Runs.SERVICE and is_chat(call.origin)
    return (Post(call.ref, call.origin, PostKind.NOTICE),) if told else ()


def _claimant(call: Call) -> str | None:
    """Who claimed the call in the commit that decided it, if somebody did."""
    return call.claim.owner if call.claim else None


def _held(call: Call, owner: str, secret: str) -> Lease | None:
    """The lease that this claimant holds already; None where nobody does. Raises for one that can't be had."""
    if call.state is not State.EXECUTING:
        raise _unclaimable(call)
    if call.claim is None:
        return None
    if call.claim.owner != owner or not _same(call.claim.secret_hash, secret):
        raise AlreadyDecided(fact(Refusal.CLAIMED, short=call.short))
    return Lease(call, owner, call.claim.until)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _entry(call: Call, event: Event, actor: str, **data: object) -> Entry:
    return Entry(call.ref, event, actor, {name: value for name, value in data.items() if value is not None})


def _how(reply: Reply) -> dict[str, object]:
    pressed = reply.pressed_at.isoformat() if reply.pressed_at else None
    return {
        "surface": reply.surface,
        "kind": reply.kind.value,
        "identity": reply.identity,
        "pressed_at": pressed,
    }
