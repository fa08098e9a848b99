"""Decides replies from every surface: finds the person, the call and the meaning, and checks permission and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl import replies
from hitl.call import Call, Event, PromptKind, Reply, ReplyKind, State, Verb
from hitl.cards.text import encodable
from hitl.errors import InvalidConfirmation, Tampered, Unavailable
from hitl.gate.moves import sealed_decision
from hitl.gate.questions import answered_in_words, unanswered, vote_answer, words_on_question
from hitl.gate.response import NOTHING, Answer, Came, refuse, too_late, unknown_call
from hitl.gate.swap import TRIES, edits, entry_of, find, fresh, note, swap
from hitl.gate.target import Scene, aim, each_by_name, explains, named_refs, read_words, survey, unexplained
from hitl.gate.votes import barred, leave_open, set_aside, vote_disowned, vote_no, vote_yes
from hitl.outcomes import Doubt, Fact, Refusal, Told, fact, noted
from hitl.ports import Change
from hitl.proof import seals
from hitl.question import choice, is_question
from hitl.records import replace
from hitl.replies import ALL, Reading, Span, unclear
from hitl.replies import Meaning as Says

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime
    from typing import TypeAlias

    from hitl.gate.context import GateContext

    #: A function that handles one kind of vote and returns the gate's answer. It returns None if somebody else changed
    #: the call first. In that case the call is read again and the reply is handled once more.
    Step: TypeAlias = Callable[[GateContext, Reply, Call, str, Reading], Awaitable[Answer | None]]

_VERBS = {Verb.APPROVE: Says.APPROVE, Verb.REJECT: Says.REJECT}


async def decide(gate: GateContext, reply: Reply) -> tuple[Answer, ...]:
    """Handle a reply, and return the answers. `Gate.decide` states the contract."""
    reply = _speakable(reply)
    if reply.kind in {ReplyKind.TEXT, ReplyKind.REACTION}:
        return await _decide_text(gate, reply)
    call = await find(gate, reply.target or "")
    if call is None:
        return (refuse(unknown_call(reply.target or "")),)
    if reply.verb is Verb.DETAILS:
        return (await _details(gate, reply, call),)
    reading = _reading(reply, call)
    if reading is None:
        return (await barred(gate, reply, call, call.verdict, approve=False) or refuse(InvalidConfirmation(), call),)
    return (await _vote(gate, reply, call, reading),)


def _reading(reply: Reply, call: Call) -> Reading | None:
    """Return the approval, rejection or answer that a button, a command or an API decision means.

    Return None if this call has no such button.
    """
    if is_question(call) and (chosen := choice(call, reply.verb)):
        return Reading(Says.APPROVE, chosen)
    return Reading(_VERBS[reply.verb], reply.reason or None) if reply.verb in _VERBS else None


async def _decide_text(gate: GateContext, reply: Reply) -> tuple[Answer, ...]:
    scene, place = await survey(gate, reply)
    reply = replace(reply, conversation=place)
    known = await named_refs(gate, reply, scene)
    readings = read_words(reply, known)
    asked = await words_on_question(gate, reply, scene, readings, known)
    if isinstance(asked, Call):
        reading = await answered_in_words(gate, reply, asked)
        asked = reading if isinstance(reading, Answer) else await _vote(gate, reply, asked, reading)
    if asked is not None:
        return (asked,)
    if any(reading.target == ALL for reading in readings):
        return (await each_by_name(gate, scene) if scene.private or scene.aimed else NOTHING,)
    if len(readings) > 1 and all(reading.target for reading in readings):
        return tuple([await _decide_reading(gate, reply, reading, scene) for reading in readings])
    return (await _decide_reading(gate, reply, replies.verdict(readings), scene),)


async def _decide_reading(gate: GateContext, reply: Reply, reading: Reading, scene: Scene) -> Answer:
    named = await find(gate, reading.target) if reading.target else None
    call, problem = aim(scene, reading, named)
    if call is None:
        return problem
    if is_question(call):
        return await unanswered(gate, reply, call)
    if reading.verdict is Says.UNCLEAR and call.verdict.require_reason and replies.unformatted(reply.spans):
        reading = replies.reasoned_yes(reply.text) or reading
    if not reading.reason:
        reading = _compared(reply, call, reading)
    if reading.verdict is Says.UNCLEAR:
        told = _unclear(gate, reply, call, reading)
        return await note(gate, reply, call, Event.UNCLEAR, Answer(Came.UNCLEAR, told, call))
    return await _vote(gate, reply, call, reading)


def _compared(reply: Reply, call: Call, reading: Reading) -> Reading:
    """Return the reading, or an unclear reading if the reply's words about an action don't fit the card's action."""
    sentence = "" if noted(call.sentence) else call.sentence
    title = f"{call.tools} {call.tool} {sentence}"
    if reading.verdict is Says.APPROVE and (
        word := replies.another(reply.text, title, call.args.decode("utf-8", "replace"))
    ):
        return unclear(Doubt.ANOTHER, word)
    if reading.verdict is Says.REJECT and replies.says_the_action(reply.text, title):
        return unclear(Doubt.BOTH)
    return reading


def _unclear(gate: GateContext, reply: Reply, call: Call, reading: Reading) -> Fact:
    """Return the answer to a reply that wasn't understood.

    The answer quotes the reply only if the reply's sender is an approver of the call. Other people may reply to Sayso's
    answer, so the answer must not hold the words of a person who may not decide. Only an approver or the requester of
    the call gets its short ref.
    """
    principal = gate.people.principal(reply.identity)
    if gate.access.is_approver(principal, call):
        return fact(Told.UNCLEAR, short=call.short, why=reading.why)
    why = fact(reading.doubt, said="…") if reading.why and reading.why.particulars else reading.why
    if gate.access.asked(principal, call):
        return fact(Told.UNCLEAR, short=call.short, why=why)
    return fact(Told.UNCLEAR_OTHER, why=why)


async def _vote(gate: GateContext, reply: Reply, call: Call, reading: Reading) -> Answer:
    principal = gate.people.principal(reply.identity)
    await gate.ready(call)
    try:
        for _ in range(TRIES):
            if answer := await _before(gate, reply, call, principal, reading):
                return answer
            if answer := await _step(gate, call, reading)(gate, reply, call, principal, reading):
                return answer
            call = await fresh(gate, call)
    except Tampered as error:
        return refuse(error, call)
    raise Unavailable


def _step(gate: GateContext, call: Call, reading: Reading) -> Step:
    """Return the function that handles this approval, rejection or answer to a question."""
    if reading.verdict is not Says.APPROVE:
        return vote_no
    if not gate.access.may_still_ask(call.requester, call.origin, gate.clock.now()):
        return vote_disowned
    return vote_answer if is_question(call) else vote_yes


async def _before(gate: GateContext, reply: Reply, call: Call, principal: str, reading: Reading) -> Answer | None:
    """Return the answer to an approval or rejection that can't count under any policy, or None if it may count."""
    approve = reading.verdict is Says.APPROVE
    if answer := await barred(gate, reply, call, call.verdict, approve=approve):
        return answer
    if call.state is not State.AWAITING and explains(reading, call, principal):
        return await _explain(gate, call, principal, str(reading.reason), reply.event)
    if call.state is not State.AWAITING:
        return await note(gate, reply, call, Event.LATE, refuse(too_late(call), call))
    # No MAC covers `due_at`, because it changes during a call's life. While a call is pending, `due_at` equals the
    # deadline, which the MAC covers. Any other value means that somebody edited the row.
    if not seals.row_holds(gate.keys, call) or call.due_at != call.deadline:
        return await note(gate, reply, call, Event.TAMPERED, refuse(Tampered(), call))
    if aside := set_aside(reply, call, reading, call.verdict.risk):
        return await note(gate, reply, call, Event.HELD, aside)
    return None


async def add_reason(gate: GateContext, target: str, identity: str, reason: str) -> Answer:
    """Add a reason to the person's own rejection. `Gate.add_reason` states the contract."""
    call = await find(gate, target)
    if call is None:
        return refuse(unknown_call(target))
    if not reason.strip():
        return Answer(Came.UNCLEAR, fact(Told.NO_WORDS, short=call.short), call)
    try:
        return await _explain(gate, call, gate.people.principal(identity), encodable(reason))
    except Tampered as error:
        return refuse(error, call)


async def _explain(
    gate: GateContext, call: Call, principal: str, reason: str, event: tuple[str, str] | None = None
) -> Answer:
    """Add a reason to the person's own earlier rejection, and return the answer.

    A reason can be added for `late_reason_s` seconds after the rejection, and only if the rejection has no reason yet.
    """
    late = refuse(InvalidConfirmation(fact(Refusal.REASON_LATE, short=call.short)), call)
    if not unexplained(call, principal) or gate.age(call.decided_at) >= gate.limits.late_reason_s:
        return late

    def seal(_: datetime) -> Change:
        told = sealed_decision(gate, call.evolve(reason=reason, due_at=None))
        entry = entry_of(told, Event.REASON, principal, reason=reason, event=":".join(event) if event else None)
        return Change(told, entries=(entry,), posts=edits(gate, told), handled=event)

    told = await swap(gate, call, seal, overdue=False if call.awaits_reason else None)
    return Answer(Came.REJECTED, fact(Told.REASON_ADDED, short=call.short), told) if told else late


async def peek(gate: GateContext, reply: Reply) -> Answer:
    """Return the answer to a reply that asks for details. `Gate.peek` states the contract."""
    call = await find(gate, reply.target or "")
    return refuse(unknown_call(reply.target or "")) if call is None else await _peek(gate, reply, call)


async def _peek(gate: GateContext, reply: Reply, call: Call) -> Answer:
    if answer := await barred(gate, reply, call, call.verdict, approve=False):
        return answer
    await gate.ready(call)
    return Answer(Came.DETAILS, call=call)


async def _details(gate: GateContext, reply: Reply, call: Call) -> Answer:
    answer = await _peek(gate, reply, call)
    if answer.came is Came.DETAILS and not call.ended:
        await leave_open(gate, reply, call, gate.people.principal(reply.identity), PromptKind.VIEWED)
    return answer


def _speakable(reply: Reply) -> Reply:
    """Return the reply with lone surrogates escaped, because UTF-8 can't store them.

    Escapes are longer than the characters, so the spans are moved to cover the same text.
    """
    if reply.text.isascii() and (reply.reason is None or reply.reason.isascii()):
        return reply
    reason = None if reply.reason is None else encodable(reply.reason)

    def moved(index: int) -> int:
        return len(encodable(reply.text[:index]))

    spans = tuple(Span(moved(span.start), moved(span.end), span.kind) for span in reply.spans)
    return replace(reply, text=encodable(reply.text), reason=reason, spans=spans)
