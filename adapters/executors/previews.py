"""What a card shows of a change to a file, before it is made: a unified diff, within a bound.

The form is that of `diff -u` (POSIX diff, "Diff -u Output Format", and GNU's mark for a missing last line feed).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from hitl.cards.text import cut_middle

#: Characters of a preview that are kept.
PREVIEW_KEPT = 16_000
# Comparing is quadratic at worst; between longer texts only what both ends share is told apart.
_COMPARED = 2_000
_UNENDED = "\n\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class FileChange:
    """How a text changes: the unified diff, cut in the middle if it is long, and the lines added and
    removed.
    """

    diff: str
    added: int
    removed: int


def change(path: str, old: str | None, new: str) -> FileChange:
    """The change from one text to another; `old` None is a file that isn't there.

    Lines end at line feeds only, so that no other break hides one.
    """
    before, after = lines_of(old or ""), lines_of(new)
    few = max(len(before), len(after)) <= _COMPARED
    hunks = list(difflib.unified_diff(before, after))[2:] if few else _replaced(before, after)
    marks = [line[:1] for line in hunks]
    names = ["--- /dev/null" if old is None else f"--- {path}", f"+++ {path}"] if hunks else []
    diff = "\n".join([*names, *(line[:-1] if line.endswith("\n") else line + _UNENDED for line in hunks)])
    return FileChange(cut_middle(diff, PREVIEW_KEPT).text, marks.count("+"), marks.count("-"))


def lines_of(text: str) -> list[str]:
    """Return the lines, each with the line feed that ends it; the last may have none."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _replaced(before: list[str], after: list[str]) -> list[str]:
    """Everything between the lines that both texts start and end with, as removed and added."""
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone and not come:
        return []
    spans = f"@@ -{_span(start, len(gone))} +{_span(start, len(come))} @@\n"
    return [spans, *(f"-{line}" for line in gone), *(f"+{line}" for line in come)]


def _span(start: int, length: int) -> str:
    """A range as POSIX has it: no length where it is one line, the line before where it is none."""
    return f"{start + 1}" if length == 1 else f"{start + bool(length)},{length}"


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines both lists start with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
