"""Makes the preview of a change to a file, for a card: a unified diff of limited length.

The format is that of `diff -u` (POSIX diff, "Diff -u Output Format"). A missing last line feed is marked as GNU diff
marks it.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from hitl.cards.redaction import mask_key_lines
from hitl.cards.text import cut_middle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The highest number of characters of a preview. Longer previews are cut in the middle.
PREVIEW_KEPT = 16_000
# The highest number of lines that are compared line by line, because the time may grow with the square of this number.
# In a longer text, everything between the equal start and the equal end counts as changed.
_COMPARED = 2_000
#: A comparison takes at most about ten milliseconds if there are at most this many lines, and at most this many pairs
#: of an old line and an equal new line. Other cards can wait for ten milliseconds.
_QUICK_LINES, _QUICK_PAIRS = 400, 4_000
_HUNK = re.compile(r"@@ -[0-9]+(?:,(?P<old>[0-9]+))? \+[0-9]+(?:,(?P<new>[0-9]+))? @@")
_UNENDED = "\n\\ No newline at end of file"


class FileChange(Struct, frozen=True):
    """A change of a text: its unified diff, and the numbers of added and removed lines."""

    #: The unified diff, cut in the middle if it is long.
    diff: str
    #: The number of lines that the change adds.
    added: int
    #: The number of lines that the change removes.
    removed: int


def change(path: str, old: str | None, new: str, *, closely: bool = True) -> FileChange:
    """Return the change from the old to the new text of a file. `old` is None if the file is new.

    With `closely`, the texts are compared line by line, if they aren't too long. Otherwise everything between their
    equal start and their equal end counts as changed. Only a line feed ends a line: other line breaks, such as a
    carriage return, stay inside their line. The lines of private keys are masked here. A diff may show a part of a key
    without the key's first line, and no later step would recognise that part.
    """
    before = old or ""
    few = closely and max(_lines(before), _lines(new)) <= _COMPARED
    lines, removed, added = _compared(before, new) if few else _replaced(before, new)
    names = ["--- /dev/null" if old is None else f"--- {path}", f"+++ {path}"] if lines else []
    return FileChange(cut_middle("\n".join([*names, *lines]), PREVIEW_KEPT).text, added, removed)


def is_quick(edits: Sequence[tuple[str, str]]) -> bool:
    """Return whether comparing all these pairs of an old and a new text takes only about ten milliseconds."""
    if sum(text.count("\n") + 1 for pair in edits for text in pair) > _QUICK_LINES:
        return False
    counted = ((Counter(lines_of(old)), Counter(lines_of(new))) for old, new in edits)
    return sum(count * after[line] for before, after in counted for line, count in before.items()) <= _QUICK_PAIRS


def is_diff(preview: str) -> bool:
    """Return whether a preview is a unified diff."""
    return preview.startswith(("--- ", "@@ -"))


def sides(diff: str) -> tuple[str, str]:
    """Return the old text and the new text of a unified diff. Unchanged lines are in both texts.

    If the diff was cut, a hunk has fewer lines than its header says. In such a hunk, a line that looks like a header
    counts as a line of the text, so that no line of the text is lost.
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
            # A line without `+`, `-` or a blank at its beginning is the note about the missing lines of a cut diff. It
            # counts as a line of both texts.
            removed, added = not line.startswith("+"), not line.startswith("-")
            text = line[1:] if line[:1] in {"-", "+", " "} else line
            old += [text] * removed
            new += [text] * added
            left = (left[0] - removed, left[1] - added)
        at += 1
    return "\n".join(old), "\n".join(new)


def _is_header(lines: Sequence[str]) -> bool:
    """Return whether these are the two lines that name the files of a diff, and the first line of a hunk."""
    return (
        len(lines) == 3  # noqa: PLR2004 - the number of lines in a header
        and lines[0].startswith("--- ")
        and lines[1].startswith("+++ ")
        and _HUNK.match(lines[2]) is not None
    )


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with its line feed. The last line may be without one."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def _compared(old: str, new: str) -> tuple[list[str], int, int]:
    """Return the unified diff of two texts as lines, without its header, and how many lines it removes and adds.

    The lines are compared unmasked. The returned lines have the lines of private keys masked.
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
    """Return lines and numbers as `_compared` does, for a change that is one block.

    The block is everything between the equal start and the equal end of the texts. No list of all lines is made,
    because a megabyte may have half a million lines.
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
    """Return the part of a text between two indexes of characters, with the lines of private keys masked.

    The part must consist of whole lines.
    """
    masked = mask_key_lines(text)
    if masked == text:
        return text[start:end]
    line = text.count("\n", 0, start)
    return "".join(lines_of(masked)[line : line + _lines(text[start:end])])


def _signed(sign: str, text: str) -> str:
    """Return the lines of a text, each with a sign in front, and no line feed at the end.

    Return "" for an empty text.
    """
    if not text:
        return ""
    return sign + text.removesuffix("\n").replace("\n", f"\n{sign}") + _UNENDED * (not text.endswith("\n"))


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _span(start: int, length: int) -> str:
    """Return a range of lines in the form that POSIX defines for `@@` lines.

    For example, lines 3 to 5 are `3,3`, and line 3 alone is `3`. An empty range names the line before it: `2,0`.
    """
    return f"{start + 1}" if length == 1 else f"{start + bool(length)},{length}"


def _shared_start(one: str, other: str) -> int:
    """Return the number of characters in the equal start of both texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_end(one: str, other: str) -> int:
    """Return the number of characters in the equal last lines of both texts.

    Each text must begin at the beginning of a line.
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
