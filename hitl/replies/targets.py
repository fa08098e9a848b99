"""Which tokens name a call: a short ref, a whole one, or another id."""

import re

from hitl.replies.spelling import fold

_SHORT = re.compile(r"(?=.*[0-9])(?=.*[a-zA-Z])[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{6}")
_WHOLE = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
#: Ids of the systems whose formats we read, such as `confirm_123`.
_OF_OTHERS = re.compile(r"(?:confirm|conf|call|req|request|run|task|deny|approve|reject)_\d+", re.IGNORECASE)
#: A word or a unit with a number ("after5", "10days"); it is a ref only if such a call is open.
_MEASURE = re.compile(r"(?=.*[ae])(?:[a-z]{4,5}\d{1,2}|\d{1,2}[a-z]{4,5})", re.IGNORECASE)
#: What every ref holds that isn't known to be open; most words end here, at the price of one search.
_NO_WORD = re.compile("[0-9_]")


def is_target(word: str, known_refs: frozenset[str] = frozenset()) -> bool:
    """Tell whether a word names a call: the ref of an open one, or what has the form of a ref.

    A short ref is 6 characters of Crockford's base 32, and one that isn't known to be open must hold a digit and a
    letter. Numbers, times and words with an underscore are no refs: cards have no numbers.
    """
    if not word.isascii():
        return False
    if known_refs and fold(word) in known_refs:
        return True
    if not _NO_WORD.search(word) or _MEASURE.fullmatch(word):
        return False
    return is_ref(word) or bool(_OF_OTHERS.fullmatch(word))


def is_ref(word: str) -> bool:
    """Tell whether a word has the form of our own refs, short or whole."""
    return bool(_SHORT.fullmatch(word) or _WHOLE.fullmatch(word))
