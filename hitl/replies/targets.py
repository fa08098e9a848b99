"""Recognises words that name a call: a short ref, a whole ref, or an id of another system."""

import re

from hitl.replies.spelling import fold

_SHORT = re.compile(r"(?=.*[0-9])(?=.*[a-zA-Z])[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{6}")
_WHOLE = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
#: The ids of other systems whose formats Sayso reads, such as `confirm_123`.
_OF_OTHERS = re.compile(r"(?:confirm|conf|call|req|request|run|task|deny|approve|reject)_\d+", re.IGNORECASE)
#: A word or a unit with a number ("after5", "10days"). It counts as a ref only if an open call has that ref.
_MEASURE = re.compile(r"(?=.*[ae])(?:[a-z]{4,5}\d{1,2}|\d{1,2}[a-z]{4,5})", re.IGNORECASE)
#: A digit or an underscore. A word without either isn't a ref, unless it is the known ref of an open call. The search
#: excludes most words quickly.
_NO_WORD = re.compile("[0-9_]")


def is_target(word: str, known_refs: frozenset[str] = frozenset()) -> bool:
    """Return whether a word names a call: it is the ref of an open call, or has the form of a ref or of another id.

    A short ref has 6 characters of Crockford's base 32. Unless it belongs to an open call, it must hold a digit and a
    letter. Numbers and times are never refs, because cards have no numbers.
    """
    if not word.isascii():
        return False
    if known_refs and fold(word) in known_refs:
        return True
    if not _NO_WORD.search(word) or _MEASURE.fullmatch(word):
        return False
    return is_ref(word) or bool(_OF_OTHERS.fullmatch(word))


def is_ref(word: str) -> bool:
    """Return whether a word has the form of a ref of Sayso, short or whole."""
    return bool(_SHORT.fullmatch(word) or _WHOLE.fullmatch(word))
