"""Which tokens name a call: a short ref, a whole one, or another id."""

import re

from hitl.replies.spelling import fold

_SHORT = re.compile(r"(?=.*[0-9])(?=.*[a-zA-Z])[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{6}")
_WHOLE = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_LIKE_AN_ID = re.compile(r"(?=.*[0-9_])(?=.*[A-Za-z])[A-Za-z0-9_-]{4,64}")
_MEASURE = re.compile(
    r"\d+([.,]\d+)?(st|nd|rd|th|am|pm|[kmgt]i?b?|px|ms|secs?|mins?|hrs?|hours?|days?|weeks?|months?|years?"
    r"|[hdwsx]|usd|eur|gbp"
    r"|percent|times|euros?|dollars?|bucks|cents|people|items?|rows?|users?|uhr|euro)|\d{1,2}h\d{2}|v\d+"
    r"|[a-z]+-?\d{4}|\d+[ap]",
    re.IGNORECASE,
)
#: What every id holds; most words end here, at the price of one search.
_NO_WORD = re.compile("[0-9_]")
LONGEST_BARE_NUMBER = 2


def is_target(word: str, known_refs: frozenset[str] = frozenset()) -> bool:
    """Tell whether a word names a call by its looks, or because it is a ref that is known to be open.

    A short ref is 6 characters of Crockford's base 32 with a digit and a letter (all digits only if known, or with
    `#`: they may be an amount). Times, sizes and ordinals ("10am", "2nd") are no ids.
    """
    if not word.isascii():
        return False
    if known_refs and fold(word) in known_refs:
        return True
    if not _NO_WORD.search(word) or _MEASURE.fullmatch(word):
        return False
    return is_ref(word) or bool(_LIKE_AN_ID.fullmatch(word))


def is_ref(word: str) -> bool:
    """Tell whether a word has the form of our own refs, short or whole."""
    return bool(_SHORT.fullmatch(word) or _WHOLE.fullmatch(word))
