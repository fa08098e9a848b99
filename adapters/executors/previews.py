"""Makes the preview of a change to a file, for a card: a unified diff, within a bound.

The format is that of `diff -u` (POSIX diff, "Diff -u Output Format", with GNU's mark for a missing last line feed).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from hitl.cards.text import cut_middle

#: The most characters of a preview that are kept.
PREVIEW_KEPT = 16_000
# The most lines that are compared line by line, because that takes quadratic time at worst. In a longer text,
# everything between the shared start and the shared end counts as changed.
_COMPARED = 2_000
_UNENDED = "\n\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The difference between two texts."""

    #: The unified diff, cut in the middle if it is long.
    diff: str
    #: The number of lines that the change adds.
    added: int
    #: The number of lines that the change removes.
    removed: int


def change(path: str, old: str | None, new: str) -> FileChange:
    """Return the change from one text to another. `old` is None if there is no file yet.

    Only a line feed ends a line, so another line break can't hide a part of a line.
    """
    before, after = lines_of(old or ""), lines_of(new)
    few = max(len(before), len(after)) <= _COMPARED
    hunks = list(difflib.unified_diff(before, after))[2:] if few else _replaced(before, after)
    marks = [line[:1] for line in hunks]
    names = ["--- /dev/null" if old is None else f"--- {path}", f"+++ {path}"] if hunks else []
    diff = "\n".join([*names, *(line[:-1] if line.endswith("\n") else line + _UNENDED for line in hunks)])
    return FileChange(cut_middle(diff, PREVIEW_KEPT).text, marks.count("+"), marks.count("-"))


def lines_of(text: str) -> list[str]:
    """Return the lines, each with its line feed. The last line may have no line feed."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _replaced(before: list[str], after: list[str]) -> list[str]:
    """Return the lines that differ between a shared start and a shared end: first the removed, then the added lines."""
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone and not come:
        return []
    spans = f"@@ -{_span(start, len(gone))} +{_span(start, len(come))} @@\n"
    return [spans, *(f"-{line}" for line in gone), *(f"+{line}" for line in come)]


def _span(start: int, length: int) -> str:
    """Return a range of lines in POSIX's form.

    A range of one line has no length. An empty range names the line before it.
    """
    return f"{start + 1}" if length == 1 else f"{start + bool(length)},{length}"


def _shared(one: list[str], other: list[str]) -> int:
    """Return the number of equal lines at the start of both lists."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
