r"""Makes texts from agents, tools and people safe to show: they can't hide anything, or change the look of other text.

A person must see all that they approve. So a character is written as an escape, such as `\u{202e}`, if it is invisible,
reorders its neighbours, moves the cursor, or piles up on a letter. The classes of such characters come from the Unicode
Standard: the general categories C and Z, Default_Ignorable_Code_Point (UAX 44), and more combining marks than living
scripts put on one letter. Long texts are cut in the middle, between grapheme clusters (UAX 29), and the missing
characters are counted.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from msgspec import Struct

from hitl.cards.wording import IN_ENGLISH
from hitl.patterns import lazily

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from hitl.cards.wording import Wording

#: The number of combining marks that stay on one letter. Vietnamese, Hebrew and Tibetan need up to four.
MARKS_KEPT = 4

# The characters to escape: categories C and Z, except the space, the line feed and the tab; characters that fonts
# ignore; and two characters that look like a blank or a box. The emoji variation selector has its own rule below.
_UNSEEN = r"[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc]--[ \n\t\ufe0f]]"
# The emoji variation selector U+FE0F is escaped, except right after a picture, and between a keycap's character and its
# frame (UTS 51).
_STRAY_SELECTOR = r"\ufe0f(?<![\p{Extended_Pictographic}--\p{C}]\ufe0f)(?<![0-9#*]\ufe0f(?=\u20e3))"
_MARKS = r"(?P<marks>[\p{M}--\p{Default_Ignorable_Code_Point}]+)"
_UNSAFE = lazily(rf"(?V1){_UNSEEN}|{_STRAY_SELECTOR}|{_MARKS}", library="regex")
_NO_BASE = lazily(rf"(?V1){_UNSEEN}|[ \n\t]", library="regex")
_LINE_BREAK = lazily(r"\r\n|\r|\n")
_ESCAPE = lazily(r"\\u\{[0-9a-f]{1,6}\}")
_ESCAPE_LENGTH = 10
_CLUSTER = lazily(r"\X", library="regex")
# The number of characters before a cut that are searched for a place where a cluster surely begins. Clusters of real
# text are far shorter.
_LOOK_BACK = 1000
# The number of characters that are made visible at each end of a long text, because one line shows only its two ends.
_EDGE = 5000

_BLANKS_KEPT = 30
# `re` would search a long run of blanks in quadratic time.
_MANY_BREAKS = lazily(r"(?:[ \t]*\n){4,}", library="regex")
_MANY_BLANKS = lazily(rf"[ \t]{{{_BLANKS_KEPT + 1},}}", library="regex")
_MANY_ESCAPES = lazily(r"(\\(?:u\{[0-9a-f]{1,6}\}|[rnt]))\1{8,}", library="regex")
_PLAIN_VALUE = lazily(r"[\p{L}\p{N}./_~@-]+(?: [\p{L}\p{N}./_~@-]+){0,2}", library="regex")
_QUOTATION_MARKS = lazily('[“”"]')

_NAMED = {"\r": r"\r", "\n": r"\n", "\t": r"\t"}
_ONE_LINE = str.maketrans({"\n": r"\n", "\t": r"\t"})
_RETURNS = str.maketrans({"\n": "⏎", "\t": " "})


class Cut(Struct, frozen=True):
    """A text that may be cut. `left_out` is the number of characters that are missing from it."""

    text: str
    left_out: int


def visible(text: str, *, keep_newlines: bool = True) -> str:
    r"""Return the text with an escape for each character that is invisible or changes the look of its neighbours.

    Line feeds and tabs stay, but if `keep_newlines` is false they are written `\n` and `\t`. The first four combining
    marks on a letter stay. Further marks are escaped or, if there are many, replaced by their number.
    """
    if _harmless(text):
        return text
    shown = str(_UNSAFE.sub(_escaped, text))
    return shown if keep_newlines else shown.translate(_ONE_LINE)


def _harmless(text: str) -> bool:
    """Return whether the text is printable ASCII on one line. Most texts are, and they need no further checks."""
    return text.isascii() and text.isprintable()


def encodable(text: str) -> str:
    r"""Return the text with lone surrogates written as `\ud800`, because UTF-8, and so the store, can't hold them."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def hidden(text: str) -> int:
    """Return the number of characters that `visible` would escape, for a warning.

    Line breaks (LF, CR LF) and tabs aren't counted.
    """
    if _harmless(text):
        return 0
    return sum(_count(match) for match in _UNSAFE.finditer(text.replace("\r\n", "\n")))


def one_line(text: str, limit: int = 200) -> str:
    """Return the visible text on one line of at most `limit` characters.

    The sign `⏎` replaces each line break, and a text that is too long is cut in the middle.
    """
    if _harmless(text):
        return _cut(text, limit, _in_signs).text
    if (between := len(text) - 2 * _EDGE) > 0:
        head, tail = _in_one_line(text[:_EDGE]), _in_one_line(text[-_EDGE:])
        # The ends may have become shorter, because many marks on one letter become a short count. If they are too short
        # to fill the line, the whole text is made visible below.
        if min(len(head), len(tail)) > limit:
            return _cut(head + tail, limit, lambda count: _in_signs(count + between)).text
    return _cut(_in_one_line(text), limit, _in_signs).text


def _in_one_line(text: str) -> str:
    return visible(_LINE_BREAK.sub("\n", text)).translate(_RETURNS)


def cut_middle(text: str, limit: int, wording: Wording = IN_ENGLISH) -> Cut:
    """Return the text in at most `limit` characters: its start, the number of missing characters, and its end.

    No grapheme cluster and no escape is split, so the result may be a little shorter. If `limit` is too short for the
    number itself, the result is longer than `limit`.
    """
    return _cut(text, limit, lambda count: wording.say("card.left_out", count=count))


def _cut(text: str, limit: int, told: Callable[[int], str]) -> Cut:
    if len(text) <= limit:
        return Cut(text, 0)
    room = max(limit - len(told(len(text))), 0)
    start = _boundaries(text, (room + 1) // 2)[0]
    end = _boundaries(text, len(text) - room // 2)[1]
    return Cut(text[:start] + told(end - start) + text[end:], end - start)


def _in_signs(count: int) -> str:
    """Return the note `…[+120]…` for missing characters. It has no words, so it can be read in every language."""
    return IN_ENGLISH.say("card.left_out.short", count=count)


def split_middle(text: str, limit: int) -> tuple[str, str, int]:
    """Return the start and the end of a text, and the number of the characters between them.

    Start and end have at most `limit` characters together. The start is shortened to the end of a line, and the end to
    the beginning of a line. A part that would lose half of its characters or more isn't shortened.
    """
    if len(text) <= limit:
        return text, "", 0
    start = _boundaries(text, (limit + 1) // 2)[0]
    end = _boundaries(text, len(text) - limit // 2)[1]
    if (line_end := text.rfind("\n", start // 2, start)) > 0:
        start = line_end
    if (line_start := text.find("\n", end, (len(text) + end) // 2) + 1) > 0:
        end = line_start
    return text[:start], text[end:], end - start


def folded(text: str) -> str:
    r"""Return a visible text with a count in place of each long run that could push other text out of sight.

    Such a run is more than 3 line breaks, more than 30 blanks, or more than 8 times the same escape. For example, 600
    line feeds become `[⏎ x600]`. The counts have no words, because the folded text is stored once for readers of all
    languages.
    """
    if _harmless(text) and " " * (_BLANKS_KEPT + 1) not in text:
        return text
    text = _MANY_BREAKS.sub(lambda run: f"\n{_in_catalogue('card.breaks', _count_of(run[0]))}\n", text)
    text = _MANY_BLANKS.sub(lambda run: _in_catalogue("card.blanks", _count_of(run[0], " \t")), text)
    return str(_MANY_ESCAPES.sub(_once, text))


def _once(run: re.Match[str]) -> str:
    r"""Return the text for a run of the same escape: the escape once, and its count, such as `\u{200b}[x12]`."""
    return f"{run[1]}{_in_catalogue('card.times', len(run[0]) // len(run[1]))}"


def _count_of(run: str, characters: str = "\n") -> int:
    return sum(run.count(character) for character in characters)


def quoted(text: str, limit: int = 60, *, always: bool = False) -> str:
    """Return a value on one line, for use in a sentence: in quotation marks unless it is plain.

    A plain value has only letters, digits, `. / - _ ~ @` and at most two blanks. With `always`, a plain value is quoted
    too. Quotation marks inside a quoted value are escaped, so that the value can't seem to end early.
    """
    line = one_line(text, limit)
    if not always and _PLAIN_VALUE.fullmatch(line):
        return line
    return f"“{_QUOTATION_MARKS.sub(lambda mark: _escape(mark[0]), line)}”"


def _in_catalogue(key: str, count: int) -> str:
    return IN_ENGLISH.say(key, count=count)


def _escaped(match: re.Match[str]) -> str:
    marks = match["marks"]
    if marks is None:
        return _escape(match[0])
    kept = _kept(match)
    dropped = marks[kept:]
    if len(dropped) > MARKS_KEPT:
        return marks[:kept] + _in_catalogue("card.marks_left_out", len(dropped))
    return marks[:kept] + "".join(map(_escape, dropped))


def _escape(character: str) -> str:
    return _NAMED.get(character) or f"\\u{{{ord(character):x}}}"


def _count(match: re.Match[str]) -> int:
    return 1 if match["marks"] is None else len(match["marks"][_kept(match) :])


def _kept(match: re.Match[str]) -> int:
    """Return how many combining marks at the beginning of a run stay. The other marks are escaped or counted.

    The number is 0 if the run is at the start of the text, after a blank, or after an escaped character. Such marks
    would change the look of a character that isn't part of the text, or of Sayso's own escape.
    """
    before = match.string[match.start() - 1 : match.start()] if match.start() else ""
    return 0 if not before or _NO_BASE.match(before) else MARKS_KEPT


def _boundaries(text: str, place: int) -> tuple[int, int]:
    """Return the two indexes nearest to `place` at which the text may be cut.

    The first is at or before `place`, the second at or after it.
    """
    before, after = _cluster_around(text, place)
    for escape in _ESCAPE.finditer(text, max(place - _ESCAPE_LENGTH, 0), place + _ESCAPE_LENGTH):
        if escape.start() < place < escape.end():
            return escape.start(), escape.end()
    return before, after


def _cluster_around(text: str, place: int) -> tuple[int, int]:
    before = after = _surely_a_boundary(text, place)
    for end in _cluster_ends(text, before):
        if after >= place:
            break
        before, after = after, end
    return (after, after) if after == place else (before, after)


def _cluster_ends(text: str, start: int) -> Iterator[int]:
    return (cluster.end() for cluster in _CLUSTER.finditer(text, start))


def _surely_a_boundary(text: str, place: int) -> int:
    """Return an index at or before `place` at which a cluster surely begins: an ASCII character other than a line feed.

    A line feed may belong to the carriage return before it. Only the `_LOOK_BACK` characters before `place` are
    searched. If none of them is such a character, return the index of the first of them.
    """
    earliest = max(place - _LOOK_BACK, 0)
    back = range(min(place, len(text) - 1), earliest, -1)
    ascii_places = (at for at in back if text[at].isascii() and text[at] != "\n")
    return next(itertools.chain(ascii_places, [earliest]))
