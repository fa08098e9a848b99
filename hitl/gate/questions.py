"""Handles answers to questions. A question is a call of the tool `ask_human`, by which an agent asks people something.

An answer approves the call and becomes its result. One commit writes both, so a crash can't come between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl import replies
from hitl.call import Call, Event, Reply, ReplyKind, Result, Risk, Verdict
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.gate.moves import with_decision, with_lease, with_result
from hitl.gate.response import Answer, Came
from hitl.gate.swap import arrival, edits, entry_of, find, note, swap
from hitl.gate.target import typed_refs
from hitl.gate.votes import sealed_vote
from hitl.lifecycle import Trigger
from hitl.outcomes import Fact, Told, fact
from hitl.ports import Change
from hitl.question import LONGEST_ANSWER, answer_in, are_meant, is_question, options, without_ref
from hitl.records import replace
from hitl.replies import Meaning, Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from hitl.gate.context import GateContext
    from hitl.gate.target import Scene


def as_question(verdict: Verdict) -> Verdict:
    """Return the verdict for a question: the policy's verdict, but with low risk and without a demand for a reason.

    A policy can deny a question, name its approvers and limit its time. But an answer runs nothing, so nobody must
    confirm it or give a reason.
    """
    return replace(verdict, risk=Risk.LOW, require_reason=False)


async def words_on_question(
    gate: GateContext, reply: Reply, scene: Scene, readings: Sequence[Reading], known: Collection[str]
) -> Call | Answer | None:
    """Return the question that the words of a reply answer, or None if the words answer no question.

    Return the gate's answer instead if it isn't clear which question is meant. Words that point to a question are about
    that question. Words that point to no call answer an open question only if such words could also decide a call
    (see `hitl.gate.target`), and only if they look like an answer. `known` are the refs that the words may name.
    """
    if reply.kind is not ReplyKind.TEXT:
        return None
    named = typed_refs(reply.text, known)
    if scene.aimed:
        about = scene.answered
        others = about is None or bool(named - {about.short})
        return None if others or about is None or not is_question(about) else about
    if named:
        about = await find(gate, named.pop()) if len(named) == 1 else None
        return about if about is not None and is_question(about) else None
    return _unaddressed(gate, reply, scene, readings)


def _unaddressed(gate: GateContext, reply: Reply, scene: Scene, readings: Sequence[Reading]) -> Call | Answer | None:
    """Return the open question that words without a target answer, or None.

    Return the gate's answer instead if it isn't clear which question is meant.
    """
    open_here = [call for call in scene.open if is_question(call)]
    if not scene.private or not any(_may_be_meant(gate, reply, scene, call, readings) for call in open_here):
        return None
    if len(scene.open) > 1:
        return Answer(Came.WHICH, fact(Told.WHICH, shorts=", ".join(call.short for call in scene.open)))
    (call,) = scene.open
    if scene.follows != call.ref:
        return Answer(Came.NOT_A_REPLY, fact(Told.POINT_ANSWER, short=call.short), call)
    return call


def _may_be_meant(gate: GateContext, reply: Reply, scene: Scene, call: Call, readings: Sequence[Reading]) -> bool:
    """Return True if this person may answer the question and the words look like an answer to it, else False.

    If the question offers no options, a counter-question, a condition or a "wait" doesn't look like an answer.
    """
    if not gate.access.may_answer(scene.principal, call):
        return False
    if options(call):
        return answer_in(call, reply.text) is not None
    return replies.verdict(list(readings)).verdict is not Meaning.UNCLEAR or replies.is_reason(reply.text)


async def answered_in_words(gate: GateContext, reply: Reply, call: Call) -> Reading | Answer:
    """Return an approval (`Reading`) whose reason is the words of the reply, without the question's ref.

    If the words are struck out, hidden or quoted, they are no answer. Record the reply, and return the gate's answer to
    it.
    """
    if not are_meant(reply.spans):
        return await unanswered(gate, reply, call)
    return Reading(Meaning.APPROVE, without_ref(reply.text, call.short) or None)


async def unanswered(gate: GateContext, reply: Reply, call: Call) -> Answer:
    """Record a reply that didn't answer the question, and return the gate's answer.

    If the person may answer the question, the gate's answer explains how.
    """
    may = gate.access.may_answer(gate.people.principal(reply.identity), call)
    told = _how(call) if may else fact(Told.QUESTION_OTHER)
    return await note(gate, reply, call, Event.UNCLEAR, Answer(Came.UNCLEAR, told, call))


def _how(call: Call) -> Fact:
    offered = tuple(one_line(mask(one)) for one in options(call))
    if offered:
        numbered = tuple(fact(Told.OPTION, number=at, option=one) for at, one in enumerate(offered, start=1))
        return fact(Told.CHOOSE, short=call.short, options=numbered)
    return fact(Told.ANSWER_HOW, short=call.short, most=LONGEST_ANSWER)


async def vote_answer(gate: GateContext, reply: Reply, call: Call, principal: str, reading: Reading) -> Answer | None:
    """Store a person's answer to a question, with texts that look like secrets masked, and return the gate's answer.

    Return None if the call was changed, or its time ended, before the write.
    """
    if not reading.reason:
        if options(call):
            return await unanswered(gate, reply, call)
        needed = Answer(Came.REASON_NEEDED, fact(Told.ANSWER_NEEDED, short=call.short), call)
        return await note(gate, reply, call, Event.HELD, needed)
    given = answer_in(call, reading.reason)
    if given is None:
        return await unanswered(gate, reply, call)
    words = mask(given)

    def seal(now: datetime) -> Change:
        vote = sealed_vote(gate, reply, call, principal, now, risk=call.verdict.risk, reason=words)
        decided = with_decision(gate, call, Trigger.APPROVE, principal, now, words)
        leased = with_lease(gate, decided, gate.owner, "", now)
        ended = with_result(gate, leased, Trigger.COMPLETE, Result.SUCCEEDED, now, output=words)
        said = {**arrival(reply), "reason": words, "claimed_by": gate.owner, "policy_asked": call.verdict.policy}
        entries = (entry_of(ended, Event.APPROVED, principal, **said), entry_of(ended, Event.SUCCEEDED, "service"))
        return Change(ended, (vote,), entries, edits(gate, ended), handled=reply.event)

    ended = await swap(gate, call, seal)
    if ended is None:
        return None
    told = Told.ANSWERED if words == given else Told.ANSWERED_MASKED
    return Answer(Came.APPROVED, fact(told, short=call.short), ended)
