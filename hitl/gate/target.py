"""Finds the one call that a reply is about, or the answer to a reply that doesn't name exactly one call.

Four things can point to a call: the message that the reply answers, the reply's thread, the latest message before the
reply, and the words of the reply. `survey` reads the store, and then `aim` decides without any input or output.

Text that points to no call decides only in a private conversation or in a card's own thread, and only under two
conditions. Exactly one card there is pending. The latest message there, not counting the sender's own messages, is that
card or a message from Sayso about that card. Without this rule, a "yes" to another question could approve a call. In
all other cases Sayso asks which call is meant, or stays silent.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from hitl import replies
from hitl.call import Call, Decision, Reply
from hitl.cards.card import headline
from hitl.gate.response import NOTHING, Answer, Came, refuse, unknown_call
from hitl.gate.swap import find
from hitl.outcomes import Refusal, Told, fact
from hitl.proof.keyring import as_short
from hitl.proof.seals import bound_holds
from hitl.replies import Meaning as Says
from hitl.replies import Reading

if TYPE_CHECKING:
    from collections.abc import Collection

    from hitl.gate.context import GateContext

_WORD = re.compile(r"\w+")
#: At most this many words of a reply are looked up as refs.
_NAMED = 8


class Pointed(Struct, frozen=True):
    """The call that a message from Sayso is about.

    `place` is the route of the card, or None if the message isn't a card. `asks` is the identity of the person whom the
    message asks for a reason, or '' if it asks nobody.
    """

    ref: str
    place: str | None = None
    asks: str = ""


class Scene(Struct, frozen=True):
    """All data except the words of a reply that help to find its call: the sender, the answered message and so on."""

    #: The principal who replied.
    principal: str
    #: The ref or short ref to which the reply points by a button, a command or the answered message, or None.
    aimed: str | None = None
    #: The call with the ref in `aimed`, or None if there is no such call.
    answered: Call | None = None
    #: The pending calls that belong to this conversation and that the reply may be about, oldest first.
    open: tuple[Call, ...] = ()
    #: The ref of the call that the latest message in this conversation is about, not counting the replier's own
    #: messages. It is None if that message isn't known, or is about no call.
    follows: str | None = None
    #: Whether words that point to no call may decide in this conversation.
    private: bool = False
    #: Whether the words are meant for Sayso rather than for other people in the conversation.
    addressed: bool = False
    #: The call in `follows`, if it has ended and belongs to this conversation, or None.
    last: Call | None = None
    #: Whether there is still time to add a reason to a rejection of `last`.
    explainable: bool = False


async def pointed_at(gate: GateContext, message: str) -> Pointed | None:
    """Return the call of a message from Sayso, or None if it is about no call. `message` is the message's id.

    The words of the message never identify the call, because they may repeat a text that somebody typed.
    """
    known = await gate.store.by_message(message)
    if known is not None:
        return Pointed(*known)
    bound = await gate.store.bound(message)
    return Pointed(bound.ref, asks=bound.asks) if bound and bound_holds(gate.keys, bound) else None


async def survey(gate: GateContext, reply: Reply) -> tuple[Scene, str]:
    """Return the `Scene` of a reply, and the conversation whose calls the reply may decide.

    For an answer to a card, it is the conversation of the card. For any other reply, it is the reply's conversation.
    """
    pointed = await pointed_at(gate, reply.answers) if reply.answers else None
    place = (pointed.place if pointed else None) or reply.conversation
    aimed = reply.target or (pointed.ref if pointed else None)
    principal = gate.people.principal(reply.identity)
    last = await gate.store.get(reply.follows) if reply.follows else None
    over = last if last is not None and last.ended and gate.people.belongs(last, place) else None
    scene = Scene(
        principal,
        aimed,
        await find(gate, aimed) if aimed else None,
        await _open(gate, reply, place, principal),
        reply.follows,
        private=reply.private and (pointed is not None or reply.answers is None),
        addressed=reply.addressed,
        last=over,
        explainable=over is not None and gate.age(over.decided_at) < gate.limits.late_reason_s,
    )
    return scene, place


async def _open(gate: GateContext, reply: Reply, place: str, principal: str) -> tuple[Call, ...]:
    """Return those pending calls of the conversation `place` that the words of this person may be about.

    Unless the conversation is private, a call that was asked for in another conversation is returned only if the person
    is its approver.
    """
    standing = await gate.store.standing(place, reply.thread)
    if reply.private:
        return tuple(standing)
    return tuple(call for call in standing if call.origin == place or gate.access.is_approver(principal, call))


def aim(scene: Scene, reading: Reading, named: Call | None) -> tuple[Call | None, Answer]:
    """Return the one call that a reply is about, or None and the answer to give instead.

    `named` is the call with the ref `reading.target`. If the reply points to one call and its words name another call,
    it decides neither call.
    """
    unclear = reading.verdict is Says.UNCLEAR
    if reading.target and scene.aimed and (named is None or scene.answered is None or named.ref != scene.answered.ref):
        shown = scene.answered.short if scene.answered else scene.aimed
        return None, Answer(Came.UNCLEAR, fact(Told.TWO_TARGETS, target=shown))
    if target := reading.target or scene.aimed:
        found = named if reading.target else scene.answered
        return found, NOTHING if found is None and unclear else refuse(unknown_call(target))
    return _aim_unaddressed(scene, reading, unclear=unclear)


def _aim_unaddressed(scene: Scene, reading: Reading, *, unclear: bool) -> tuple[Call | None, Answer]:
    """Return the call that words without a target mean, or None and the answer to give.

    Such words can mean a call only in a private conversation (`scene.private`). If one card in it is pending, they may
    mean that card (see `_about`). If no card is pending, words that are a clear yes or no may mean the call that was
    just decided (see `_just_lost`). `unclear` says that the words are neither a yes nor a no.
    """
    if scene.private and len(scene.open) == 1 and _about(scene, scene.open[0], unclear=unclear):
        return scene.open[0], NOTHING
    if scene.private and not scene.open and not unclear and (lost := _just_lost(scene, reading)):
        return lost, NOTHING
    asks_back = not unclear or (scene.private and scene.addressed and scene.open)
    return None, _pointing(scene, unclear=unclear) if asks_back else NOTHING


def _about(scene: Scene, call: Call, *, unclear: bool) -> bool:
    """Return whether the words may be about `call`, whose card is the only pending card in the conversation.

    They may be about the call if the latest message from anybody but the sender is about it. Unclear words that are
    addressed to Sayso may be about the call in any case, because unclear words decide nothing.
    """
    return scene.follows == call.ref or (unclear and scene.addressed)


def _pointing(scene: Scene, *, unclear: bool) -> Answer:
    """Return the answer to words without a target that decide nothing.

    The answer names the pending calls of the conversation, if there are any.
    """
    if not scene.open:
        return Answer(Came.NOT_A_REPLY, fact(Refusal.NOTHING_WAITS)) if scene.addressed else NOTHING
    came = Came.WHICH if scene.private and not unclear else Came.NOT_A_REPLY
    if len(scene.open) == 1:
        return Answer(came, fact(Told.POINT, short=scene.open[0].short), scene.open[0])
    return Answer(came, fact(Told.WHICH, shorts=", ".join(call.short for call in scene.open)))


def _just_lost(scene: Scene, reading: Reading) -> Call | None:
    """Return the call of the latest message before the reply, if somebody else has decided it or its time has ended.

    If the person themselves decided the call, return None, because people know their own decisions. But if the reply
    adds a reason to that person's rejection, return the call.
    """
    last = scene.last
    if last is None:
        return None
    explained = scene.explainable and explains(reading, last, scene.principal)
    return last if last.decided_by != scene.principal or explained else None


async def named_refs(gate: GateContext, reply: Reply, scene: Scene) -> set[str]:
    """Return the refs that the words may name, as the person typed them.

    These are the short refs of the pending calls of this conversation, and of the call that the reply answers. If a
    typed word is the ref of any other call, it is one of them too. The other call may belong to another conversation,
    or be decided. The gate checks later whether the person may decide it in this conversation (`barred`).
    """
    known = {call.short for call in (*scene.open, scene.answered) if call is not None}
    typed = (word for word in dict.fromkeys(_WORD.findall(reply.text)) if _typed_as_ref(word))
    for word in itertools.islice(typed, _NAMED):
        if word not in known and await find(gate, word):
            known.add(word)
    return known


def typed_refs(text: str, known: Collection[str]) -> set[str]:
    """Return those refs among `known` (see `named_refs`) that a text holds, as `as_short` writes them."""
    shorts = {as_short(ref) for ref in known}
    typed = {as_short(word) for word in _WORD.findall(text) if _typed_as_ref(word)}
    return {ref for ref in typed & shorts if ref is not None}


async def each_by_name(gate: GateContext, scene: Scene) -> Answer:
    """Return the answer to words that mean all calls, such as "yes to all": a list of calls.

    The list holds the calls that the person may decide. Each of these calls must then be decided by its own ref.
    """
    calls = [call for call in scene.open if gate.access.is_approver(scene.principal, call)]
    if not calls:
        return Answer(Came.UNCLEAR, fact(Refusal.NOTHING_WAITS)) if scene.addressed or scene.aimed else NOTHING
    for call in calls:
        await gate.ready_to_list(call)
    lines = tuple(fact(Told.ALL_LINE, short=call.short, headline=headline(call, gate.names)) for call in calls)
    return Answer(Came.WHICH, fact(Told.ALL, count=len(calls), calls=lines))


def _typed_as_ref(word: str) -> bool:
    """Return whether a word may be a ref and holds a digit.

    Without a digit, `please` could be a ref, because L is read as 1.
    """
    return any(map(str.isdigit, word)) and as_short(word) is not None


def read_words(reply: Reply, known_refs: Collection[str]) -> list[Reading]:
    """Return the readings of a reply's words: approvals, rejections or unclear, one for each call that they name.

    The readings also depend on the formatting of the words, and on the reply's language if it is known.
    """
    return replies.read(reply.text, known_refs=known_refs, language=reply.language, spans=reply.spans)


def unexplained(call: Call, principal: str) -> bool:
    """Return whether this person rejected the call and has given no reason yet."""
    return call.decision is Decision.REJECTED and call.decided_by == principal and not call.reason


def explains(reading: Reading, call: Call, principal: str) -> bool:
    """Return whether the reply repeats the person's own rejection, now with a reason."""
    return reading.verdict is Says.REJECT and bool(reading.reason) and unexplained(call, principal)
