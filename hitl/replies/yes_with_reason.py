"""A yes with its reason behind it: read only where a call's rules demand one, and never past a condition."""

import re

from hitl.cards.wording import say
from hitl.replies.explain import ONLY_A_REMARK
from hitl.replies.model import Meaning, Reading
from hitl.replies.reader import read, verdict

#: The word for "because" in each language that a card asks for a reason in (`card.how.because`).
_BECAUSE = re.compile(r"[\s,]+(?:because|weil)\s+", re.IGNORECASE)
_BEFORE_BECAUSE = " \t\r\n,;:-\u2013\u2014"
#: What the reader says of a message that it can't read whole, but in which it found no doubt of any kind.
_ONLY_UNKNOWN_WORDS = say("reading.word.words", said="")
_NO_DOUBT = (_ONLY_UNKNOWN_WORDS, ONLY_A_REMARK)


def reasoned_yes(text: str) -> Reading | None:
    """`approve K7Q2MX because it was announced` as an approval with a reason, or None for anything less clear.

    What stands before the first "because" must be a yes that is understood whole. In the rest, words that nobody
    knows are fine; a question, a condition, a change, a hedge or a no anywhere is not.
    """
    head, *rest = _BECAUSE.split(text, maxsplit=1)
    if not rest or not rest[0].strip() or not verdict(read(text)).why.startswith(_ONLY_UNKNOWN_WORDS):
        return None
    said = verdict(read(head.rstrip(_BEFORE_BECAUSE)))
    return Reading(Meaning.APPROVE, rest[0].strip(), said.target) if said.verdict is Meaning.APPROVE else None


def is_reason(text: str) -> bool:
    """Whether the answer to "why yes?" may be one, and completes the yes.

    Words that nobody knows are fine, and so is a remark ("all good"). A question, a condition, a change, a hedge, a
    "wait" or a no anywhere is not: who says so thinks again.
    """
    said = verdict(read(text))
    return said.verdict is Meaning.APPROVE or said.why.startswith(_NO_DOUBT)
