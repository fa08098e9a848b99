"""What a text holds: ``matches``, a regular expression in RE2 syntax.

What a pattern can't match without is looked for first: a plain search is many times quicker than a call of RE2. Only
patterns are read for it that are a plain sequence: no alternatives, groups, sets, flags or repeated literals. Of such a
sequence every run of literals stands in whatever it matches. Escapes are those of the RE2 syntax page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from posixpath import commonprefix
from typing import Any

from hitl.policy import values
from hitl.policy.operators.base import TEXT, BadValue, Condition, ConditionUse, Operator, Test, over_values
from hitl.policy.three_valued import NO, UNSURE, YES

MAX_SUBJECT = 1_000_000
_PATTERN_COST = 2  # of one judgement, beside an equality
_MAX_LITERALS = 16
_LITERAL = r"[A-Za-z0-9 _/:;,@%=&~<>\"'!#\-]|\\[!-/:-@\[-^`{-~]"
_VARYING = r"(?:\\[bBdDsSwW]|\.)[*+?]?|[\^$]"
_sequence = re.compile(rf"(?:{_VARYING}|{_LITERAL})*").fullmatch
_part = re.compile(rf"({_VARYING})|({_LITERAL})").findall


def pattern(value: Any) -> Any:
    """The compiled regular expression. Raises BadValue if RE2 takes none of that form."""
    if not isinstance(value, str) or not value:
        raise BadValue("takes a regular expression (RE2 syntax)")
    try:
        import re2  # noqa: PLC0415 - a native library; loaded with the first regular expression
    except ImportError as error:
        raise BadValue("needs google-re2, which is not installed") from error
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(value, options)
    except re2.error as error:
        reason = error.args[0]
        shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise BadValue(f"is not a regular expression that RE2 takes: {shown}") from error


def _build_matches(condition: Condition, use: ConditionUse) -> Test:
    match, literal = pattern_set([condition.value.pattern]), required(condition.value.pattern)
    other = use.other(condition.key)

    def judge(value: Any) -> int:
        subject = value if isinstance(value, str) else values.text(value)
        if len(subject) > MAX_SUBJECT or not is_encodable(subject):
            return UNSURE
        answer = YES if literal in subject and match(subject) else NO
        if value is subject or use.textual or values.number(value) is not None:
            return answer
        return min(answer, UNSURE) if use.loosen else max(answer, other)

    return over_values(condition.key, judge, use, _PATTERN_COST)


def pattern_set(patterns: Sequence[str]) -> Callable[[str], list[int] | None]:
    """A search for several RE2 patterns at once: the places of those found. Faster than one search, also for one."""
    import re2  # noqa: PLC0415 - a native library, loaded with the first pattern

    options = re2.Options()
    options.log_errors = False
    options.max_mem = max(8 << 20, min(len(patterns), 256) << 20)
    found = re2.Set.SearchSet(options)
    for pattern in patterns:
        found.Add(pattern)
    found.Compile()
    match: Callable[[str], list[int] | None] = found.Match
    return match


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


def is_encodable(text: str) -> bool:
    """Whether a text has an encoding in UTF-8, which RE2 needs: it holds no lone surrogate."""
    return text.isascii() or not re.search("[\ud800-\udfff]", text)


OPERATORS: Mapping[str, Operator] = {
    "matches": Operator(
        pattern, _build_matches, "a regular expression in RE2 syntax, found anywhere in the text", TEXT
    ),
}
