"""Which call a reply is about, if it is about just one; else what to answer instead.

Everything that points to a call meets here: the message that a reply answers, the thread it was said in, what was said
there last, and the words. `survey` asks the store, `aim` decides and asks nobody.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl import replies
from hitl.call import Call, Decision, Reply
from hitl.cards.card import headline
from hitl.gate.response import NOTHING, Answer, Came, refuse, unknown_call
from hitl.gate.swap import find
from hitl.outcomes import Refusal, Told, fact
from hitl.proof.keyring import as_short
from hitl.proof.seals import bound_holds
from hitl.replies import Reading
from hitl.replies import Verdict as Says

if TYPE_CHECKING:
    from collections.abc import Collection

    from hitl.gate.gate import Gate

_WORD = re.compile(r"\w+")
#: So many refs in a reply's words are looked up.
_NAMED = 8


@dataclass(frozen=True, slots=True)
class Pointed:
    """The call that a message of ours is about.

    `place` is where its card stands, None where the message is no card. `asks` is the identity of the person whom the
    message asks for a reason, '' if it asks nobody.
    """

    ref: str
    place: str | None = None
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a reply was made, as far as it tells which call is meant. The words of the reply are no part of it."""

    #: Who replied.
    principal: str
    #: What the reply points to: a ref, a short ref, or None.
    aimed: str | None = None
    #: The call that it points to, None where it points to none that is known.
    answered: Call | None = None
    #: The waiting calls whose cards stand there and which the person's words may be meant for, oldest first.
    open: tuple[Call, ...] = ()
    #: The ref that the latest message of anyone else there is about, None if that is about no call, or unknown.
    follows: str | None = None
    #: Whether words that point to nothing may decide there.
    private: bool = False
    #: Whether the words are for us rather than for other people there.
    addressed: bool = False
    #: The call that is `follows`, where it is over and its card stands there.
    last: Call | None = None
    #: Whether a reason may still be added to a rejection of `last`.
    explainable: bool = False


async def pointed_at(gate: Gate, message: str) -> Pointed | None:
    """The call that a message of ours is about, by the message's id among all chats; None for any other message.

    Its words never tell: they may repeat what somebody typed.
    """
    known = await gate.store.by_message(message)
    if known is not None:
        return Pointed(*known)
    bound = await gate.store.bound(message)
    return Pointed(bound.ref, asks=bound.asks) if bound and bound_holds(gate.keys, bound) else None


async def survey(gate: Gate, reply: Reply) -> tuple[Scene, str]:
    """The scene of a reply, and the conversation in which it counts: where the card stands that it answers."""
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


async def _open(gate: Gate, reply: Reply, place: str, principal: str) -> tuple[Call, ...]:
    """Where people talk to each other, a card that was only sent there concerns none but its approvers."""
    standing = await gate.store.standing(place, reply.thread)
    if reply.private:
        return tuple(standing)
    return tuple(call for call in standing if call.origin == place or gate.access.is_approver(principal, call))


def aim(scene: Scene, reading: Reading, named: Call | None) -> tuple[Call | None, Answer]:
    """The one call that a reply is about; or what to answer instead. `named` is the call of `reading.target`."""
    unclear = reading.verdict is Says.UNCLEAR
    if reading.target and scene.aimed and (named is None or scene.answered is None or named.ref != scene.answered.ref):
        shown = scene.answered.short if scene.answered else scene.aimed
        return None, Answer(Came.UNCLEAR, fact(Told.TWO_TARGETS, target=shown))
    if target := reading.target or scene.aimed:
        found = named if reading.target else scene.answered
        return found, NOTHING if found is None and unclear else refuse(unknown_call(target))
    return _aim_unaddressed(scene, reading, unclear=unclear)


def _aim_unaddressed(scene: Scene, reading: Reading, *, unclear: bool) -> tuple[Call | None, Answer]:
    """Words that point to nothing mean the only card there, if the latest message of anyone else is about it."""
    if scene.private and len(scene.open) == 1 and _about(scene, scene.open[0], unclear=unclear):
        return scene.open[0], NOTHING
    if scene.private and not scene.open and not unclear and (lost := _just_lost(scene, reading)):
        return lost, NOTHING
    asks_back = not unclear or (scene.private and scene.addressed and scene.open)
    return None, _pointing(scene, unclear=unclear) if asks_back else NOTHING


def _about(scene: Scene, call: Call, *, unclear: bool) -> bool:
    """Whether words may be about the only card there. Those that decide nothing may be, if they are for us."""
    return scene.follows == call.ref or (unclear and scene.addressed)


def _pointing(scene: Scene, *, unclear: bool) -> Answer:
    """What to answer to words that point to no card. It is about a call if only one can be meant."""
    if not scene.open:
        return Answer(Came.NOT_A_REPLY, fact(Refusal.NOTHING_WAITS)) if scene.addressed else NOTHING
    came = Came.WHICH if scene.private and not unclear else Came.NOT_A_REPLY
    if len(scene.open) == 1:
        return Answer(came, fact(Told.POINT, short=scene.open[0].short), scene.open[0])
    return Answer(came, fact(Told.WHICH, shorts=", ".join(call.short for call in scene.open)))


def _just_lost(scene: Scene, reading: Reading) -> Call | None:
    """The call that was the talk there until somebody else, or the clock, decided it.

    One's own decision is no news, but a no said once more with its reason is.
    """
    last = scene.last
    if last is None:
        return None
    explained = scene.explainable and explains(reading, last, scene.principal)
    return last if last.decided_by != scene.principal or explained else None


async def named_refs(gate: Gate, reply: Reply, scene: Scene) -> set[str]:
    """Return the refs that the words may name, as they were typed.

    Those are the calls that are pending here, the call that the reply answers, and every other call of which a
    word is the ref: it may be asked elsewhere, or be decided. Whether it may be decided here is judged later.
    """
    known = {call.short for call in (*scene.open, scene.answered) if call is not None}
    typed = (word for word in dict.fromkeys(_WORD.findall(reply.text)) if _typed_as_ref(word))
    for word in itertools.islice(typed, _NAMED):
        if word not in known and await find(gate, word):
            known.add(word)
    return known


def typed_refs(text: str, known: Collection[str]) -> set[str]:
    """Return those of the known refs, as `named_refs` returns them, that a text holds, in their usual form."""
    shorts = {as_short(ref) for ref in known}
    typed = {as_short(word) for word in _WORD.findall(text) if _typed_as_ref(word)}
    return {ref for ref in typed & shorts if ref is not None}


def each_by_name(gate: Gate, scene: Scene) -> Answer:
    """The answer to one word for all: each call by its name, to be said one by one, for one who may decide."""
    calls = [call for call in scene.open if gate.access.is_approver(scene.principal, call)]
    if not calls:
        return Answer(Came.UNCLEAR, fact(Refusal.NOTHING_WAITS)) if scene.addressed or scene.aimed else NOTHING
    lines = tuple(fact(Told.ALL_LINE, short=call.short, headline=headline(call, gate.names)) for call in calls)
    return Answer(Came.WHICH, fact(Told.ALL, count=len(calls), calls=lines))


def _typed_as_ref(word: str) -> bool:
    """Whether a word may be a ref and holds a digit. Without a digit, `please` could be a ref: L reads as 1."""
    return any(map(str.isdigit, word)) and as_short(word) is not None


def read_words(reply: Reply, known_refs: Collection[str]) -> list[Reading]:
    """Read the words of a reply, with their formatting, in the language that is known."""
    return replies.read(reply.text, known_refs=known_refs, language=reply.language, spans=reply.spans)


def unexplained(call: Call, principal: str) -> bool:
    """Whether that person rejected the call, and it isn't known why."""
    return call.decision is Decision.REJECTED and call.decided_by == principal and not call.reason


def explains(reading: Reading, call: Call, principal: str) -> bool:
    """Whether it is one's own no once more, with a reason now."""
    return reading.verdict is Says.REJECT and bool(reading.reason) and unexplained(call, principal)
