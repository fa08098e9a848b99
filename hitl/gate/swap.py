"""The one conditional write, what is written with it, and what is overdue by the clock of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Call, Decision, Entry, Event, Post, PostKind, Reply, Result, Runs, State
from hitl.cards.card import OUTPUT_CHARS
from hitl.cards.text import encodable
from hitl.errors import Tampered
from hitl.gate.moves import sealed_decision, with_decision, with_result
from hitl.gate.response import Answer, unknown_call
from hitl.lifecycle import Trigger
from hitl.outcomes import Unfit, fact, unkept
from hitl.ports import Change, Expect, Unit, adding
from hitl.proof.keyring import as_short
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from hitl.gate.context import GateContext

#: Decisions after which a card shows how its call ended.
_ON_CARDS = frozenset({Decision.APPROVED, Decision.REJECTED, Decision.EXPIRED, Decision.WITHDRAWN})
#: So often a write is tried that somebody else was quicker with.
TRIES = 20


async def find(gate: GateContext, target: str) -> Call | None:
    """Implement `Gate.find`."""
    target = encodable(target)
    if short := as_short(target):
        return await gate.store.by_short(short)
    return await gate.store.get(target)


async def known(gate: GateContext, target: str) -> Call:
    """The call as `find` finds it. Raises CallUnknown."""
    call = await find(gate, target)
    if call is None:
        raise unknown_call(target)
    return call


async def swap(
    gate: GateContext, call: Call, seal: Callable[[datetime], Change], *, overdue: bool | None = False
) -> Call | None:
    """The one conditional write: the call as sealed, told to all, or None where its condition didn't hold.

    Raises Tampered, on record, where the call's chain tells that this was done before: its row is an older one.
    """
    try:
        change = await gate.store.commit(Unit(Expect(call.ref, call.version, overdue=overdue), seal))
    except Tampered:
        raise await tampered(gate, call, "service") from None
    if change is None or change.call is None:
        return None
    tell(gate, change.call)
    return change.call


async def close(
    gate: GateContext, call: Call, seal: Callable[[datetime], Change], *, overdue: bool | None = True
) -> Call | None:
    """`swap` for an end that nobody chose. A call whose row is an older one is ended too, and the record says why."""

    def as_tampered(now: datetime) -> Change:
        ended = seal(now)
        return replace(ended, entries=[replace(entry, event=Event.TAMPERED) for entry in ended.entries])

    try:
        return await swap(gate, call, seal, overdue=overdue)
    except Tampered:
        return await swap(gate, call, as_tampered, overdue=overdue)


async def tampered(gate: GateContext, call: Call, actor: str) -> Tampered:
    """The error for a call that isn't as it was sealed, or that its chain contradicts, once that is on record."""
    await gate.store.commit(adding(Change(entries=(entry_of(call, Event.TAMPERED, actor),))))
    return Tampered()


async def fresh(gate: GateContext, call: Call) -> Call:
    """The call as it is after a lost swap; if it was lost to the clock, it is ended first."""
    if call.due_at is not None and call.due_at <= gate.clock.now():
        await settle(gate, call)
    return await known(gate, call.ref)


async def settle(gate: GateContext, call: Call, *, unseen: bool = False) -> Call | None:
    """Implement `Gate.settle`."""
    if call.due_at is None:
        return None
    if call.awaits_reason:
        return await swap(gate, call, lambda _: left_unexplained(gate, call), overdue=True)

    def seal(now: datetime) -> Change:
        ended = _overdue(gate, call, now, unseen=unseen)
        return Change(ended, entries=(entry_of(ended, Event(ended.status), "service"),), posts=edits(gate, ended))

    return await close(gate, call, seal)


def _overdue(gate: GateContext, call: Call, now: datetime, *, unseen: bool) -> Call:
    if call.state is State.AWAITING:
        error = str(Unfit.UNSEEN) if unseen else None
        return with_decision(gate, call, Trigger.EXPIRE, "service", now, error=error)
    if call.claim is None:
        return with_result(gate, call, Trigger.LAPSE, Result.LAPSED, now)
    return with_result(gate, call, Trigger.FAIL, Result.UNKNOWN, now)


async def note(gate: GateContext, reply: Reply, call: Call, event: Event, answer: Answer) -> Answer:
    """Put a reply that decided nothing on record, and answer it."""
    code = answer.error.code if answer.error else None
    entry = entry_of(call, event, gate.people.principal(reply.identity), **arrival(reply), code=code)
    await gate.store.commit(adding(Change(entries=(entry,), handled=reply.event)))
    return answer


def tell(gate: GateContext, call: Call) -> None:
    """Tell the observers what became of a call."""
    gate.rejections.heard(call)
    for observer in gate.observers:
        observer.changed(call)


def left_unexplained(gate: GateContext, call: Call) -> Change:
    """End the wait for a reason: cards no longer ask for one. The requester is notified if no card shows the end."""
    told = sealed_decision(gate, call.evolve(reason="", due_at=None))
    return Change(told, entries=(entry_of(told, Event.NO_REASON, "service"),), posts=edits(gate, told))


def edits(gate: GateContext, call: Call) -> tuple[Post, ...]:
    """The outbox rows that make every card of a call true again, and tell the conversation how it ended."""
    cards = tuple(Post(call.ref, route, PostKind.EDIT) for route in call.routes)
    return (*cards, *_notices(gate, call))


def _notices(gate: GateContext, call: Call) -> tuple[Post, ...]:
    """Notify the conversation that asked how a call ended, unless its card there shows the same.

    A rejection with a reason makes one notice, when the reason is known.
    """
    asked_in_chat = call.ended and call.runs is Runs.SERVICE and gate.people.is_chat(call.origin)
    if not asked_in_chat or call.awaits_reason:
        return ()
    explained = call.decision is Decision.REJECTED and bool(call.reason)
    told = explained or not _card_tells(call)
    return (Post(call.ref, call.origin, PostKind.NOTICE),) if told else ()


def _card_tells(call: Call) -> bool:
    """Whether a card stands where the call was asked, and shows its end whole."""
    seen = call.origin in call.routes and call.decision in _ON_CARDS and unkept(call.error or "") != fact(Unfit.UNSEEN)
    return seen and len(call.output or "") <= OUTPUT_CHARS


def entry_of(call: Call, event: Event, actor: str, /, **data: object) -> Entry:
    """A line of the record about a call, with what is known beside it."""
    return Entry(call.ref, event, actor, {name: value for name, value in data.items() if value is not None})


def arrival(reply: Reply) -> dict[str, object]:
    """What the record says of how a reply came: by whom, where, and in which event."""
    pressed = reply.pressed_at.isoformat() if reply.pressed_at else None
    return {
        "surface": reply.surface,
        "conversation": reply.conversation,
        "kind": reply.kind.value,
        "identity": reply.identity,
        "pressed_at": pressed,
        "message": reply.answers,
        "event": ":".join(reply.event) if reply.event else None,
    }


def claimant(call: Call) -> str | None:
    """Who claimed the call in the commit that decided it, if somebody did."""
    return call.claim.owner if call.claim else None
