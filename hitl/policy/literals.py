"""What a regular expression cannot match without: a plain search for it is many times quicker than a call of RE2.

Only patterns are read that are a plain sequence: no alternatives, groups, sets, flags or repeated literals. Of such a
sequence every run of literals stands in whatever it matches. Escapes are those of the RE2 syntax page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from posixpath import commonprefix

_MAX_LITERALS = 16
_LITERAL = r"[A-Za-z0-9 _/:;,@%=&~<>\"'!#\-]|\\[!-/:-@\[-^`{-~]"
_VARYING = r"(?:\\[bBdDsSwW]|\.)[*+?]?|[\^$]"
_sequence = re.compile(rf"(?:{_VARYING}|{_LITERAL})*").fullmatch
_part = re.compile(rf"({_VARYING})|({_LITERAL})").findall


def required(pattern: str) -> str:
    """A text that everything the pattern matches holds; empty if none is plain to see."""
    if _sequence(pattern) is None:
        return ""
    runs = "".join("\0" if varying else literal[-1] for varying, literal in _part(pattern)).split("\0")
    return max(runs, key=len)


def any_required(patterns: Iterable[str]) -> Callable[[str], object] | None:
    """A search without which none of the patterns is found; None if it would not be sure, or not be quick.

    Many texts are quick to search for only if they begin alike: then ``re`` looks for that beginning first.
    """
    wanted = {required(pattern) for pattern in patterns}
    if "" in wanted or (len(wanted) > _MAX_LITERALS and not commonprefix(list(wanted))):
        return None
    return re.compile("|".join(re.escape(one) for one in sorted(wanted))).search
