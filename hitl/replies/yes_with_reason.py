"""Reads a yes that is followed by its reason. This is needed only if a call's rules demand a reason for an approval."""

import re

from hitl.outcomes import Doubt
from hitl.replies.model import Meaning, Reading
from hitl.replies.reader import read, verdict

#: The words for "because" in each language in which a card can ask for a reason (`card.how.because`).
_BECAUSE = re.compile(r"[\s,]+(?:because|weil)\s+", re.IGNORECASE)
_BEFORE_BECAUSE = " \t\r\n,;:-\u2013\u2014"
#: A text that is unclear because of one of these doubts may still be a reason: unknown words, or a remark.
_MAY_BE_A_REASON = (Doubt.WORD, Doubt.REMARK)


def reasoned_yes(text: str) -> Reading | None:
    """Return the approval and its reason, for words such as `approve K7Q2MX because it was announced`.

    Else return None. The words before the first "because" must be a yes that is understood whole. The words after it
    may be unknown, but they must hold no question, condition, change of mind, hedge or no.
    """
    head, *rest = _BECAUSE.split(text, maxsplit=1)
    if not rest or not rest[0].strip() or verdict(read(text)).doubt != Doubt.WORD:
        return None
    said = verdict(read(head.rstrip(_BEFORE_BECAUSE)))
    return Reading(Meaning.APPROVE, rest[0].strip(), said.target) if said.verdict is Meaning.APPROVE else None


def is_reason(text: str) -> bool:
    """Return whether words may be a reason for a yes, after Sayso asked the person for one.

    Unknown words and remarks ("all good") may be a reason. Words with a question, a condition, a change of mind, a
    hedge, a "wait" or a no aren't a reason, because a person who writes them is reconsidering.
    """
    said = verdict(read(text))
    return said.verdict is Meaning.APPROVE or said.doubt in _MAY_BE_A_REASON
