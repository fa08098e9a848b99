"""What a card shows of a change to a file, before it is made: a unified diff, within a bound."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from hitl.text import cut_middle

#: Characters of a preview that are kept.
PREVIEW_KEPT = 16_000
# Comparing is quadratic at worst; between longer texts only what both ends share is told apart.
_COMPARED = 2_000


@dataclass(frozen=True, slots=True)
class Change:
    """How a text changes: the unified diff, cut in the middle if it is long, and the lines added and
    removed.
    """

    diff: str
    added: int
    removed: int


def change(path: str, old: str, new: str) -> Change:
    """The change from one text to another. Lines end at line feeds only, so that no other break hides one."""
    before, after = old.split("\n"), new.split("\n")
    lines = _compared(path, before, after) if max(len(before), len(after)) <= _COMPARED else None
    lines = lines or _replaced(path, before, after)
    marks = [line[:1] for line in lines[2:]]
    return Change(cut_middle("\n".join(lines), PREVIEW_KEPT).text, marks.count("+"), marks.count("-"))


def _compared(path: str, before: list[str], after: list[str]) -> list[str]:
    return list(difflib.unified_diff(before, after, path, path, lineterm=""))


def _replaced(path: str, before: list[str], after: list[str]) -> list[str]:
    """Everything between the lines that both texts start and end with, as removed and added."""
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone and not come:
        return []
    spans = f"@@ -{start + 1},{len(gone)} +{start + 1},{len(come)} @@"
    return [
        f"--- {path}",
        f"+++ {path}",
        spans,
        *(f"-{line}" for line in gone),
        *(f"+{line}" for line in come),
    ]


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines both lists start with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
