"""Which call a text is about, if it is about just one; else what to answer instead."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from hitl.answers import NOTHING, Answer, Came, refuse, unknown_call
from hitl.cards import card
from hitl.gate.swap import find
from hitl.model import Call, Decision, Reply
from hitl.outcomes import Refusal, Told, fact
from hitl.people import belongs
from hitl.replies import Reading, read
from hitl.replies import Verdict as Says
from hitl.tokens import as_short

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hitl.gate.gate import Gate

_WORD = re.compile(r"\w+")
#: So many refs in a reply's words are looked up.
_NAMED = 8


async def named_refs(gate: Gate, reply: Reply, here: Sequence[Call]) -> set[str]:
    """Return the refs that the words may name, as they were typed.

    Those are the calls that are pending here, the call that the reply answers, and every other call of which a
    word is the ref: it may be asked elsewhere, or be decided. Whether it may be decided here is judged later.
    """
    refs = {name for call in here for name in (call.short, call.ref)}
    known = {call.short for call in here}
    if reply.target and reply.target not in refs and (answered := await find(gate, reply.target)):
        known.add(answered.short)
    typed = (word for word in dict.fromkeys(_WORD.findall(reply.text)) if _typed_as_ref(word))
    for word in itertools.islice(typed, _NAMED):
        if word not in known and await find(gate, word):
            known.add(word)
    return known


def each_by_name(gate: Gate, reply: Reply, here: Sequence[Call]) -> Answer:
    """The answer to one word for all: each call by its name, to be said one by one, for one who may decide."""
    principal = gate.people.principal(reply.identity)
    calls = [call for call in here if gate.access.is_approver(principal, call)]
    if not calls:
        return Answer(Came.UNCLEAR, fact(Refusal.NOTHING_WAITS))
    lines = tuple(fact(Told.ALL_LINE, short=call.short, sentence=card(call).sentence) for call in calls)
    return Answer(Came.WHICH, fact(Told.ALL, count=len(calls), calls=lines))


async def aim(gate: Gate, reply: Reply, reading: Reading, here: Sequence[Call]) -> tuple[Call | None, Answer]:
    """The one call that a text is about; or what to answer instead."""
    if reading.target and reply.target:
        named, meant = await find(gate, reading.target), await find(gate, reply.target)
        if named is None or meant is None or named.ref != meant.ref:
            shown = meant.short if meant else reply.target
            return None, Answer(Came.UNCLEAR, fact(Told.TWO_TARGETS, target=shown))
        return named, NOTHING
    if aimed := reading.target or reply.target:
        found = await find(gate, aimed)
        if found is None and reading.verdict is Says.UNCLEAR:
            return None, NOTHING
        return found, refuse(unknown_call(aimed))
    return await _aim_unaddressed(gate, reply, reading, here)


async def _aim_unaddressed(
    gate: Gate, reply: Reply, reading: Reading, here: Sequence[Call]
) -> tuple[Call | None, Answer]:
    clear = reading.verdict is not Says.UNCLEAR
    if clear and reply.private and not here and (lost := await _just_lost(gate, reply, reading)):
        return lost, NOTHING
    if not here or not reply.private:
        return None, Answer(Came.NOT_A_REPLY, fact(Refusal.NOTHING_WAITS) if clear else None)
    if len(here) > 1:
        shorts = ", ".join(call.short for call in here)
        return None, Answer(Came.WHICH if clear else Came.NOT_A_REPLY, fact(Told.WHICH, shorts=shorts))
    if clear and reply.follows != here[0].ref:
        return None, Answer(Came.WHICH, fact(Told.POINT, short=here[0].short), here[0])
    return here[0], NOTHING


async def _just_lost(gate: Gate, reply: Reply, reading: Reading) -> Call | None:
    """The call that was the talk here until somebody else, or the clock, decided it.

    One's own decision is no news, but a no said once more with its reason is.
    """
    last = await gate.store.get(reply.follows) if reply.follows else None
    if last is None or not last.ended or not belongs(last, reply.conversation):
        return None
    principal = gate.people.principal(reply.identity)
    explained = explains(reading, last, principal) and gate.age(last.decided_at) < gate.limits.late_reason_s
    return last if last.decided_by != principal or explained else None


def _typed_as_ref(word: str) -> bool:
    """Whether a word may be a ref and holds a digit. Without a digit, `please` could be a ref: L reads as 1."""
    return any(map(str.isdigit, word)) and as_short(word) is not None


def read_words(reply: Reply, known_refs: Collection[str]) -> list[Reading]:
    """Read the words of a reply, with their formatting, in the language that is known."""
    return read(reply.text, known_refs=known_refs, language=reply.language, spans=reply.spans)


def unexplained(call: Call, principal: str) -> bool:
    """Whether that person rejected the call, and it isn't known why."""
    return call.decision is Decision.REJECTED and call.decided_by == principal and not call.reason


def explains(reading: Reading, call: Call, principal: str) -> bool:
    """Whether it is one's own no once more, with a reason now."""
    return reading.verdict is Says.REJECT and bool(reading.reason) and unexplained(call, principal)
