"""Expands braces as the Bash manual says: lists (``{a,b}``) and sequences (``{1..3}``), also nested and several in a
word.

The words are counted before they are made, because a short word may expand to 2^20 words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hitl.policy.shell.work import MAX_BRACES

# Characters that replace active braces and commas, and an unknown part, in the text that ``template`` returns. They are
# lone surrogates, which no line can hold.
OPEN, COMMA, CLOSE, UNKNOWN = "\ud800", "\ud801", "\ud802", "\ud803"

_MAX_NESTED, _MAX_MARKS = 16, 512
_MARKED = str.maketrans({"{": OPEN, ",": COMMA, "}": CLOSE})
_MARKS = re.compile(f"([{OPEN}{COMMA}{CLOSE}])")
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_SEQUENCE = re.compile(r"(-?\d{1,18}|[A-Za-z])\.\.(-?\d{1,18}|[A-Za-z])(?:\.\.(-?\d{1,18}))?")


class Group:
    """The alternatives inside one pair of braces. Each alternative is a sequence of texts and nested groups."""

    __slots__ = ("alternatives",)

    def __init__(self, alternatives: list[list[str | Group]]) -> None:
        self.alternatives = alternatives


def may_expand(text: str) -> bool:
    """Return whether a word's source text may hold a brace expansion."""
    return "{" in text and ("," in text or ".." in text)


def template(text: str) -> str:
    """Return unquoted text with ``OPEN``, ``COMMA`` and ``CLOSE`` in place of the braces and commas that a shell may
    expand.

    Those are the braces and commas that no backslash escapes. The result has no backslashes.
    """
    if "\\" not in text:
        return text.translate(_MARKED)
    parts = _ESCAPED.split(text)
    return "".join(part if at % 2 else part.translate(_MARKED) for at, part in enumerate(parts)).replace("\n", "")


def expand(text: str) -> list[str] | None:
    """Return the words to which a text from ``template`` expands, or None if it has too many words or nested braces."""
    if text.count(OPEN) + text.count(COMMA) > _MAX_MARKS:
        return None
    found = _parsed(text)
    if found is None or _count(found) > MAX_BRACES:
        return None
    return _built(found)


def _parsed(text: str) -> list[str | Group] | None:
    stack: list[list[list[str | Group]]] = [[[]]]
    for part in _MARKS.split(text):
        if part == OPEN:
            stack.append([[]])
            if len(stack) > _MAX_NESTED:
                return None
        elif part == COMMA and len(stack) > 1:
            stack[-1].append([])
        elif part == CLOSE and len(stack) > 1:
            alternatives = stack.pop()
            stack[-1][-1] += _closed(alternatives)
        elif part:
            stack[-1][-1].append(part.replace(COMMA, ",").replace(CLOSE, "}"))
    while len(stack) > 1:  # a brace without an end is a plain character, and so are the commas after it
        alternatives = stack.pop()
        stack[-1][-1] += ["{", *_joined(alternatives)]
    return stack[0][0]


def _closed(alternatives: list[list[str | Group]]) -> list[str | Group]:
    if len(alternatives) > 1:
        return [Group(alternatives)]
    only = alternatives[0]
    steps = _steps("".join(piece for piece in only if isinstance(piece, str))) if _is_text(only) else None
    return ["{", *only, "}"] if steps is None else [Group([[step] for step in steps])]


def _is_text(pieces: Iterable[str | Group]) -> bool:
    return all(isinstance(piece, str) for piece in pieces)


def _joined(alternatives: list[list[str | Group]]) -> list[str | Group]:
    found = list(alternatives[0])
    for alternative in alternatives[1:]:
        found += [",", *alternative]
    return found


def _steps(text: str) -> Sequence[str] | None:
    """Return the first MAX_BRACES + 1 words of a sequence such as ``1..3``, or None if the text isn't a sequence."""
    found = _SEQUENCE.fullmatch(text)
    if found is None:
        return None
    first, last, step = found.groups()
    letters = first.isalpha()
    if letters != last.isalpha():
        return None
    start, end = (ord(first), ord(last)) if letters else (int(first), int(last))
    by = max(abs(int(step or 1)), 1)
    numbers = range(start, end + 1, by) if start <= end else range(start, end - 1, -by)
    width = 0 if letters or not re.match(r"-?0\d|.*\.\.-?0\d", text) else max(len(first), len(last))
    return [chr(at) if letters else f"{at:0{width}d}" for at in numbers[: MAX_BRACES + 1]]


def _count(pieces: Sequence[str | Group]) -> int:
    count = 1
    for piece in pieces:
        if isinstance(piece, Group):
            count *= sum(_count(alternative) for alternative in piece.alternatives)
            if count > MAX_BRACES:
                return MAX_BRACES + 1
    return count


def _built(pieces: Sequence[str | Group]) -> list[str]:
    found = [""]
    for piece in pieces:
        tails = [piece] if isinstance(piece, str) else [end for one in piece.alternatives for end in _built(one)]
        found = [head + tail for head in found for tail in tails]
    return found
