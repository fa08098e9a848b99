"""The operators that test a text: ``matches``, a regular expression in RE2 syntax, and ``credential``.

Before RE2 is called, the text is searched for a literal that every match must hold, because a plain search is many
times faster. This literal is known only for a plain sequence: a pattern without alternatives, groups, sets, flags or
repeated literals. Every match of a plain sequence holds all of its literals. The escapes come from the RE2 syntax page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from posixpath import commonprefix
from typing import Any

from hitl.policy import values
from hitl.policy.operators.base import FLAG, TEXT, BadValue, Condition, ConditionUse, Operator, Test, flag, over_values
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.policy.wording import say

MAX_SUBJECT = 1_000_000
#: Characters. For a longer text, ``credential`` answers UNSURE. The texts that it is meant for, such as the query of a
#: web search, are shorter.
_MAX_MASKED = 10_000
_CREDENTIAL_COST = 40
_PATTERN_COST = 2  # units of the call's budget (MAX_WORK) for testing one value; ``eq`` takes 1 unit
_MAX_LITERALS = 16
_LITERAL = r"[A-Za-z0-9 _/:;,@%=&~<>\"'!#\-]|\\[!-/:-@\[-^`{-~]"
_VARYING = r"(?:\\[bBdDsSwW]|\.)[*+?]?|[\^$]"
_sequence = re.compile(rf"(?:{_VARYING}|{_LITERAL})*").fullmatch
_part = re.compile(rf"({_VARYING})|({_LITERAL})").findall


def pattern(value: Any) -> Any:
    """Return the compiled regular expression. Raises BadValue if RE2 doesn't accept it."""
    if not isinstance(value, str) or not value:
        raise BadValue(say("fault.takes.regex"))
    try:
        import re2  # noqa: PLC0415 - a native library; loaded with the first regular expression
    except ImportError as error:
        raise BadValue(say("fault.regex.missing")) from error
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(value, options)
    except re2.error as error:
        reason = error.args[0]
        shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise BadValue(say("fault.regex", why=shown)) from error


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
    """Return a function that searches a text for several RE2 patterns together, and returns the indexes of the patterns
    that it finds.

    The search is faster than an ordinary RE2 search, even for a single pattern.
    """
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
    """Return a literal that every match of the pattern holds, or '' if the pattern isn't a plain sequence."""
    if _sequence(pattern) is None:
        return ""
    runs = "".join("\0" if varying else literal[-1] for varying, literal in _part(pattern)).split("\0")
    return max(runs, key=len)


def any_required(patterns: Iterable[str]) -> Callable[[str], object] | None:
    """Return a function that searches a text for the required literals of the patterns, before RE2 is called.

    If the function finds nothing, none of the patterns matches the text. Return None if a pattern has no required
    literal, or if the search would be slow. A search for many literals is fast only if all begin with the same
    characters, because ``re`` looks for these first.
    """
    wanted = {required(pattern) for pattern in patterns}
    if "" in wanted or (len(wanted) > _MAX_LITERALS and not commonprefix(list(wanted))):
        return None
    return re.compile("|".join(re.escape(one) for one in sorted(wanted))).search


def is_encodable(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8, which RE2 needs. A text with a lone surrogate can't."""
    return text.isascii() or not re.search("[\ud800-\udfff]", text)


def _build_credential(condition: Condition, use: ConditionUse) -> Test:
    """Compile ``credential``, which tests whether a text holds a secret in a format that cards mask."""
    wanted: bool = condition.value

    def judge(value: Any) -> int:
        from hitl.cards.redaction import mask  # noqa: PLC0415 - takes 12 ms, and few calls need it

        subject = value if isinstance(value, str) else values.text(value)
        if len(subject) > _MAX_MASKED:
            return UNSURE
        return YES if (mask(subject, code=True) != subject) == wanted else NO

    return over_values(condition.key, judge, use, _CREDENTIAL_COST)


OPERATORS: Mapping[str, Operator] = {
    "credential": Operator(flag, _build_credential, say("takes.flag"), FLAG),
    "matches": Operator(pattern, _build_matches, say("takes.regex"), TEXT),
}
