"""Makes the preview of a change to a file, for a card: a unified diff, within a bound.

The format is that of `diff -u` (POSIX diff, "Diff -u Output Format", with GNU's mark for a missing last line feed).
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl.cards.redaction import mask_key_lines
from hitl.cards.text import cut_middle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: At most this many characters of a preview are kept.
PREVIEW_KEPT = 16_000
# The highest number of lines that are compared line by line, because the time may grow with its square. In a longer
# text, everything between the shared start and the shared end counts as changed.
_COMPARED = 2_000
#: Up to this many lines, and this many pairs of an old line and an equal new line, a comparison takes about ten
#: milliseconds at worst. Other cards can wait that long.
_QUICK_LINES, _QUICK_PAIRS = 400, 4_000
_HUNK = re.compile(r"@@ -[0-9]+(?:,(?P<old>[0-9]+))? \+[0-9]+(?:,(?P<new>[0-9]+))? @@")
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


def change(path: str, old: str | None, new: str, *, closely: bool = True) -> FileChange:
    """Return the change from one text to another. `old` is None if there is no file yet.

    Without `closely`, everything between the shared start and the shared end counts as changed, as in a long text.
    Only a line feed ends a line, so another line break can't hide a part of a line. The lines of private keys are
    masked, because a diff may show a part of a key without the key's first line.
    """
    before = old or ""
    few = closely and max(_lines(before), _lines(new)) <= _COMPARED
    lines, removed, added = _compared(before, new) if few else _replaced(before, new)
    names = ["--- /dev/null" if old is None else f"--- {path}", f"+++ {path}"] if lines else []
    return FileChange(cut_middle("\n".join([*names, *lines]), PREVIEW_KEPT).text, added, removed)


def is_quick(edits: Sequence[tuple[str, str]]) -> bool:
    """Return whether all these pairs of an old and a new text together can be compared closely at once."""
    if sum(text.count("\n") + 1 for pair in edits for text in pair) > _QUICK_LINES:
        return False
    counted = ((Counter(lines_of(old)), Counter(lines_of(new))) for old, new in edits)
    return sum(count * after[line] for before, after in counted for line, count in before.items()) <= _QUICK_PAIRS


def is_diff(preview: str) -> bool:
    """Return whether a preview is a unified diff."""
    return preview.startswith(("--- ", "@@ -"))


def sides(diff: str) -> tuple[str, str]:
    """Return the old lines and the new lines of a unified diff. The lines that both texts have are in both.

    After a cut, a hunk has fewer lines than its header says. After a cut, a line that looks like a header counts as a
    line of the text, so that no line of the text is left out.
    """
    old: list[str] = []
    new: list[str] = []
    lines = diff.split("\n")
    at, left = 0, (0, 0)
    while at < len(lines):
        line = lines[at]
        if hunk := _HUNK.match(line):
            left = (int(hunk["old"] or 1), int(hunk["new"] or 1))
        elif left == (0, 0) and _is_header(lines[at : at + 3]):
            at += 1
        elif not line.startswith("\\"):
            # A line without a sign is our count of the text that was cut.
            removed, added = not line.startswith("+"), not line.startswith("-")
            text = line[1:] if line[:1] in {"-", "+", " "} else line
            old += [text] * removed
            new += [text] * added
            left = (left[0] - removed, left[1] - added)
        at += 1
    return "\n".join(old), "\n".join(new)


def _is_header(lines: Sequence[str]) -> bool:
    """Return whether these are the two lines that name a file, and the first line of a hunk."""
    return (
        len(lines) == 3  # noqa: PLR2004 - the three lines
        and lines[0].startswith("--- ")
        and lines[1].startswith("+++ ")
        and _HUNK.match(lines[2]) is not None
    )


def lines_of(text: str) -> list[str]:
    """Return the lines, each with its line feed. The last line may have no line feed."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _compared(old: str, new: str) -> tuple[list[str], int, int]:
    """Return the lines of a unified diff after its header, and how many of them remove a line and add one.

    The real lines are compared, and keys are shown masked.
    """
    hunks = list(_hunks(old, new))
    marks = [line[:1] for line in hunks]
    lines = [line[:-1] if line.endswith("\n") else line + _UNENDED for line in hunks]
    return lines, marks.count("-"), marks.count("+")


def _hunks(old: str, new: str) -> Iterator[str]:
    shown, shown_new = lines_of(mask_key_lines(old)), lines_of(mask_key_lines(new))
    for group in difflib.SequenceMatcher(None, lines_of(old), lines_of(new)).get_grouped_opcodes():
        (_, start, _, start_new, _), (_, _, end, _, end_new) = group[0], group[-1]
        yield f"@@ -{_span(start, end - start)} +{_span(start_new, end_new - start_new)} @@\n"
        for tag, start, end, start_new, end_new in group:
            if tag == "equal":
                yield from (f" {line}" for line in shown[start:end])
            else:
                yield from (f"-{line}" for line in shown[start:end])
                yield from (f"+{line}" for line in shown_new[start_new:end_new])


def _replaced(old: str, new: str) -> tuple[list[str], int, int]:
    """Return the same lines and numbers as `_compared`, but with one change: everything between the shared start and
    the shared end.

    No list of lines is made, because a megabyte may have half a million of them.
    """
    if old == new:
        return [], 0, 0
    start = old.rfind("\n", 0, _shared_start(old, new)) + 1
    shared = _shared_end(old[start:], new[start:])
    sides = [(text, start, len(text) - shared) for text in (old, new)]
    line = old.count("\n", 0, start)
    removed, added = (_lines(text[start:end]) for text, start, end in sides)
    signed = (_signed(sign, _shown(*side)) for sign, side in zip("-+", sides, strict=True))
    return [f"@@ -{_span(line, removed)} +{_span(line, added)} @@", *filter(None, signed)], removed, added


def _shown(text: str, start: int, end: int) -> str:
    """Return a part of a text that begins and ends with whole lines, with the lines of keys masked."""
    masked = mask_key_lines(text)
    if masked == text:
        return text[start:end]
    line = text.count("\n", 0, start)
    return "".join(lines_of(masked)[line : line + _lines(text[start:end])])


def _signed(sign: str, text: str) -> str:
    """Return whole lines with a sign before each, without a line feed at the end, or ""."""
    if not text:
        return ""
    return sign + text.removesuffix("\n").replace("\n", f"\n{sign}") + _UNENDED * (not text.endswith("\n"))


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _span(start: int, length: int) -> str:
    """Return a range of lines in POSIX's form.

    A range of one line has no length. An empty range names the line before it.
    """
    return f"{start + 1}" if length == 1 else f"{start + bool(length)},{length}"


def _shared_start(one: str, other: str) -> int:
    """Return the number of equal characters at the start of both texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_end(one: str, other: str) -> int:
    """Return the number of characters in the equal lines at the end of both texts.

    Both texts must begin at the start of a line.
    """
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    whole = all(low == len(text) or text[len(text) - low - 1] == "\n" for text in (one, other))
    return low if whole else len(one) - ((one.find("\n", len(one) - low) + 1) or len(one))
