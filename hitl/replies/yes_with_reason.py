"""Reads a yes that is followed by its reason. This is used only if a call's rules demand a reason for an approval."""

import re

from hitl.cards.wording import say
from hitl.replies.explain import ONLY_A_REMARK
from hitl.replies.model import Meaning, Reading
from hitl.replies.reader import read, verdict

#: The words for "because" in the languages in which a card can ask for a reason (`card.how.because`).
_BECAUSE = re.compile(r"[\s,]+(?:because|weil)\s+", re.IGNORECASE)
_BEFORE_BECAUSE = " \t\r\n,;:-\u2013\u2014"
#: `Reading.why` of a message with unknown words, in which the reader found no doubt of any kind.
_ONLY_UNKNOWN_WORDS = say("reading.word.words", said="")
_NO_DOUBT = (_ONLY_UNKNOWN_WORDS, ONLY_A_REMARK)


def reasoned_yes(text: str) -> Reading | None:
    """Read `approve K7Q2MX because it was announced` as an approval with a reason. Return None for anything less clear.

    The words before the first "because" must be a yes that is understood whole. The words after it may be unknown, but
    they must hold no question, condition, change, hedge or no.
    """
    head, *rest = _BECAUSE.split(text, maxsplit=1)
    if not rest or not rest[0].strip() or not verdict(read(text)).why.startswith(_ONLY_UNKNOWN_WORDS):
        return None
    said = verdict(read(head.rstrip(_BEFORE_BECAUSE)))
    return Reading(Meaning.APPROVE, rest[0].strip(), said.target) if said.verdict is Meaning.APPROVE else None


def is_reason(text: str) -> bool:
    """Return whether an answer to "why yes?" may be a reason, which completes the yes.

    Unknown words and remarks ("all good") may be a reason. Words with a question, a condition, a change, a hedge, a
    "wait" or a no aren't a reason, because a person who says so is thinking again.
    """
    said = verdict(read(text))
    return said.verdict is Meaning.APPROVE or said.why.startswith(_NO_DOUBT)
