"""Writes changes of calls by swaps (conditional writes), with the rows that belong to a change, and ends overdue calls.

Each change of a stored call is one UPDATE whose condition is the version that the gate read (and, for most changes,
that `due_at` hasn't passed). If several people decide at the same time, the first UPDATE raises the version. All other
UPDATEs then match no row. Their callers read the call again, and find it decided. Votes, audit lines and outbox rows
are written in the same commit as the UPDATE, so none of them exists without the change that it belongs to.
"""

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
#: The highest number of attempts at a write, if another write comes first each time.
TRIES = 20


async def find(gate: GateContext, target: str) -> Call | None:
    """Return the call with this ref or short ref, or None. `Gate.find` states the contract."""
    target = encodable(target)
    if short := as_short(target):
        return await gate.store.by_short(short)
    return await gate.store.get(target)


async def known(gate: GateContext, target: str) -> Call:
    """Return the call with this ref or short ref. Raises CallUnknown."""
    call = await find(gate, target)
    if call is None:
        raise unknown_call(target)
    return call


async def swap(
    gate: GateContext, call: Call, seal: Callable[[datetime], Change], *, overdue: bool | None = False
) -> Call | None:
    """Make the conditional write, and return the new call.

    `seal` makes the change from the time of the write (see `Unit`). Return None, with nothing written, if the call
    changed since it was read or if the test of `due_at` fails (`overdue`, see `Expect`). Raises Tampered, and records
    it, if the call's hash chain already holds this step: a decision, a claim or a result. In that case somebody
    replaced the row with an older copy.
    """
    try:
        change = await gate.store.commit(Unit(Expect(call.ref, call.version, overdue=overdue), seal))
    except Tampered:
        raise await tampered(gate, call, "service") from None
    return change.call if change else None


async def close(
    gate: GateContext, call: Call, seal: Callable[[datetime], Change], *, overdue: bool | None = True
) -> Call | None:
    """End a call with a swap, because its time has ended or because the process that ran it died.

    If an older copy replaced the row, the call is ended as well, and its audit lines have the event `tampered`.
    """

    def as_tampered(now: datetime) -> Change:
        ended = seal(now)
        return replace(ended, entries=[replace(entry, event=Event.TAMPERED) for entry in ended.entries])

    try:
        return await swap(gate, call, seal, overdue=overdue)
    except Tampered:
        return await swap(gate, call, as_tampered, overdue=overdue)


async def tampered(gate: GateContext, call: Call, actor: str) -> Tampered:
    """Record that a call fails its integrity check or contradicts its chain, and return the error."""
    await gate.store.commit(adding(Change(entries=(entry_of(call, Event.TAMPERED, actor),))))
    return Tampered()


async def fresh(gate: GateContext, call: Call) -> Call:
    """Return the stored call after a swap failed. If the call is overdue, end it first."""
    if call.due_at is not None and call.due_at <= gate.clock.now():
        await settle(gate, call)
    return await known(gate, call.ref)


async def settle(gate: GateContext, call: Call, *, unseen: bool = False) -> Call | None:
    """End a call that is overdue. `Gate.settle` states the contract."""
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
    """Record a reply that decided nothing, and return its answer."""
    principal = gate.people.principal(reply.identity)
    code = answer.error.code if answer.error else None
    entry = entry_of(call, event, principal, **arrival(reply), code=code)
    # An event of a chat is always recorded: its line says that the event was handled. Any other reply comes from a
    # program, which may repeat it without end. Unclear words of an approver are always recorded.
    counts = event is Event.UNCLEAR and gate.access.is_approver(principal, call)
    if event in {Event.REFUSED, Event.UNCLEAR} and reply.event is None and not counts:
        await note_refusal(gate, entry, reply.verb)
        return answer
    await gate.store.commit(adding(Change(entries=(entry,), handled=reply.event)))
    return answer


async def note_refusal(gate: GateContext, refused: Entry, wanted: object) -> None:
    """Record a refused attempt: the first one, and after that at most one a minute.

    Attempts of one actor on one call are counted together if they have the same event and the same `wanted`. Every line
    is a durable write, so an attempt that is repeated without end would delay everybody. The next line counts the
    attempts that weren't recorded (`unrecorded`).
    """
    unrecorded = gate.refusals.held_back((refused.ref, refused.event, refused.actor, wanted))
    if unrecorded is not None:
        more = {"unrecorded": unrecorded} if unrecorded else {}
        entry = replace(refused, data={**refused.data, **more})
        await gate.store.commit(adding(Change(entries=(entry,))))


def left_unexplained(gate: GateContext, call: Call) -> Change:
    """Return the change that ends the wait for a reason. It edits the cards so that they no longer ask for a reason.

    The requester is notified if no card shows how the call ended.
    """
    told = sealed_decision(gate, call.evolve(reason="", due_at=None))
    return Change(told, entries=(entry_of(told, Event.NO_REASON, "service"),), posts=edits(gate, told))


def edits(gate: GateContext, call: Call) -> tuple[Post, ...]:
    """Return the outbox rows that update every card of a call and, after its end, notify the conversation."""
    cards = tuple(Post(call.ref, route, PostKind.EDIT) for route in call.routes)
    return (*cards, *_notices(gate, call))


def _notices(gate: GateContext, call: Call) -> tuple[Post, ...]:
    """Return the notice about a call's end for the conversation of the request, as a tuple of one row or none.

    There is no notice if a card in that conversation shows the outcome and the output. A rejection with a reason always
    gets a notice. While a reason may still come, no notice is sent.
    """
    asked_in_chat = call.ended and call.runs is Runs.SERVICE and gate.people.is_chat(call.origin)
    if not asked_in_chat or call.awaits_reason:
        return ()
    explained = call.decision is Decision.REJECTED and bool(call.reason)
    told = explained or not _card_tells(call)
    return (Post(call.ref, call.origin, PostKind.NOTICE),) if told else ()


def _card_tells(call: Call) -> bool:
    """Return whether a card in the conversation of the request shows the outcome and the whole output."""
    seen = call.origin in call.routes and call.decision in _ON_CARDS and unkept(call.error or "") != fact(Unfit.UNSEEN)
    return seen and len(call.output or "") <= OUTPUT_CHARS


def entry_of(call: Call, event: Event, actor: str, /, **data: object) -> Entry:
    """Return a line for the audit record about a call. It holds the values of `data` that aren't None."""
    return Entry(call.ref, event, actor, {name: value for name, value in data.items() if value is not None})


def arrival(reply: Reply) -> dict[str, object]:
    """Return the data about a reply for the audit record: its sender, conversation, message, time, event and so on."""
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
    """Return the owner of the call's claim, or None if nobody has claimed the call."""
    return call.claim.owner if call.claim else None
