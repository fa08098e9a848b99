"""Cards as text for a terminal: with a coloured bar on the left on a TTY, as plain lines elsewhere. All functions are
pure.

A bar on the left works in every font, at every width from 40 columns, and without colour. The parts of a Card contain
visible text only, so nothing in them can move the cursor or change a colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex
from msgspec import Struct
from wcwidth import wcswidth

from hitl.call import Risk
from hitl.cards.card import Card, Way, card
from hitl.cards.lines import Moment, clock, time_left
from hitl.cards.lines import plain as plainly
from hitl.cards.shown import PartKind
from hitl.cards.wording import IN_ENGLISH
from hitl.people.names import NOBODY
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from hitl.call import Call
    from hitl.cards.shown import Part
    from hitl.cards.wording import Wording
    from hitl.people.names import Names

_COLOURS: Mapping[Risk, str] = {Risk.CRITICAL: "31", Risk.HIGH: "33", Risk.MEDIUM: "93", Risk.LOW: "32"}
_BOLD, _FAINT, _WARNING = "1", "2", "33"
_WIDEST = 88
_NARROWEST = 40
_TAB = 4
_CLUSTER = regex.compile(r"\X")
#: Matches a colour (an escape sequence), or one grapheme cluster.
_PAINTED = regex.compile(r"\x1b\[[0-9;]*m|\X")
_BAR = "┃"
_INDENT = "  "
#: The bar before each line of a block, such as the lines of a long command.
_FRAME = "│ "


def box(
    call: Call,
    names: Names = NOBODY,
    *,
    width: int,
    colour: bool,
    reader: str = "",
    wording: Wording = IN_ENGLISH,
) -> str:
    """Return the card of a pending call with a bar on its left. The card begins with the risk.

    The card is `width` columns wide, but at least 40 and at most 88.
    """
    shown = card(call, names, Way.KEYS, reader=reader, wording=wording)
    inner = max(_NARROWEST, min(width, _WIDEST)) - 2
    paint = _painter(_COLOURS[shown.risk], colour=colour)
    title = _title(shown, wording)
    blank = " " * max(1, inner - wcswidth(title) - len(shown.short))
    first = f"{paint(_BAR)} {_painter(f'1;{_COLOURS[shown.risk]}', colour=colour)(title)}{blank}"
    lines = [f"{first}{_painter(_FAINT, colour=colour)(shown.short)}"]
    for part in _parts(shown, wording):
        style = _painter(part.style, colour=colour)
        lines += [f"{paint(_BAR)} {style(text)}" if text else paint(_BAR) for text in _rows(part, inner)]
    return "\n".join(lines)


def plain(call: Call, names: Names = NOBODY, *, reader: str = "", wording: Wording = IN_ENGLISH) -> str:
    """Return the card as plain lines, for pipes and screen readers."""
    shown = card(call, names, Way.WORDS, reader=reader, wording=wording)
    title = _title(shown, wording)
    body = (f"  {part.indent}{part.text}".rstrip(" ") for part in _parts(shown, wording))
    return "\n".join([f"{title} [{shown.short}]", *body])


def _title(shown: Card, wording: Wording) -> str:
    if shown.asks:
        return wording.say("terminal.question")
    return wording.say("terminal.title", risk=wording.say(f"terminal.risk.{shown.risk.value}"))


def fitted(text: str, width: int) -> str:
    """Return text for a TTY, in lines of at most `width` columns. Each line takes exactly one row of the screen.

    Plain lines are broken between words. A line with colours is laid out already, so it is only broken where it is too
    wide. Tabs become blanks, because a terminal's own tab stops would make a line wider than we count.
    """
    return "\n".join(piece for line in text.split("\n") for piece in _pieces(line, width))


def _pieces(line: str, width: int) -> Iterator[str]:
    if "\x1b" not in line:
        return _wrap(line.expandtabs(_TAB), width)
    return iter((_broken_painted(line, width),))


def _broken_painted(line: str, width: int) -> str:
    """Return a line with colours, with a line feed before each character that doesn't fit into the row."""
    found, used = [], 0
    for piece in _PAINTED.finditer(line):
        blanks = piece[0] == "\t"
        text = " " * (_TAB - used % _TAB) if blanks else piece[0]
        wide = 0 if text.startswith("\x1b") else max(0, wcswidth(text))
        if used + wide > width and used:
            found.append("\n")
            used = 0
        found.append(text)
        used += wide
    return "".join(found)


def ended(
    call: Call,
    names: Names = NOBODY,
    *,
    colour: bool,
    width: int = 0,
    reader: str = "",
    wording: Wording = IN_ENGLISH,
) -> str:
    """Return the lines of a decided card: the outcome and the action, then who decided, when and why.

    A line that is wider than `width` columns is broken. If `width` is 0, no line is broken.
    """
    shown = card(call, names, Way.KEYS, reader=reader, wording=wording)
    sign = wording.say(f"terminal.sign.{shown.end_sign}")
    first = f"{sign} {plainly(shown.end, _clock)} [{shown.short}]"
    why, faint = plainly(shown.end_why, _clock), _painter(_FAINT, colour=colour)
    rest = [f"{_INDENT}{piece}" for piece in _broken(why, width - len(_INDENT))] if why else []
    return "\n".join([*_broken(first, width), *map(faint, rest)])


def _broken(text: str, width: int) -> Iterator[str]:
    return _wrap(text, width) if width > 0 else iter((text,))


def countdown(call: Call | None, more: int, now: datetime, width: int, wording: Wording = IN_ENGLISH) -> str:
    """Return the bottom line: the request that the keys act on, the time that is left, and the keys.

    `more` is the number of other pending requests. In a narrow window, the names of the keys are shortened first. Then
    the number of other requests is left out, and last the keys. The line never names the key to approve without the key
    to reject.
    """
    if call is None:
        return ""
    facts = {"short": call.short, "left": time_left(call.deadline - now, wording)}
    told = [
        wording.say(form, **facts, count=more, keys=wording.say(keys))
        for forms in ([_COUNTED, _PLAIN] if more else [_PLAIN])
        for form, keys in zip(forms, _QUESTION if is_question(call) else _KEYS, strict=True)
    ]
    told.append(wording.say("terminal.left", **facts, keys="").rstrip(" "))
    return next((text for text in told if wcswidth(text) <= width), told[-1])


#: The catalogue keys of the bottom line's variants, from the widest to the narrowest: first without the number of other
#: requests, then with it.
_PLAIN = ("terminal.left", "terminal.left", "terminal.narrow", "terminal.left", "terminal.narrow")
_COUNTED = (
    *("terminal.left.more", "terminal.left.more", "terminal.narrow.more"),
    *("terminal.left.more", "terminal.narrow.more"),
)
#: For each variant of the bottom line, the catalogue key of the text that names the keyboard keys.
_KEYS = (
    *("terminal.keys", "terminal.keys.short", "terminal.keys.narrow"),
    *("terminal.keys.shortest", "terminal.keys.shortest"),
)
_QUESTION = (
    *("terminal.keys.question", "terminal.keys.question.short", "terminal.keys.question.short"),
    *("terminal.keys.question.shortest", "terminal.keys.question.shortest"),
)


class _Line(Struct, frozen=True):
    """A line of a card: its text, its indentation, and its style."""

    text: str
    indent: str = ""
    style: str = ""
    #: If the line is broken, the rows after the first get this further indentation, so that they don't look like
    #: separate lines.
    hang: str = ""


def _parts(shown: Card, wording: Wording) -> Iterator[_Line]:
    """Return the lines of a card. Every line of text from an agent is indented; only the service's own text starts
    right after the bar.
    """
    yield _Line(f"{shown.headline}{':' if shown.parts else ''}", style=_BOLD)
    yield from _thing(shown.parts)
    yield from (_Line(text) for text in (shown.below, shown.place) if text)
    if shown.note:
        yield _Line(shown.note, _INDENT, hang=_INDENT)
    if shown.rule:
        yield _Line(shown.rule)
    yield _Line(plainly(shown.stakes, _clock))
    yield from (_Line(wording.say("card.warning", note=warning), style=_WARNING) for warning in shown.warnings)
    yield _Line(plainly(shown.approvers, _clock), style=_FAINT)
    if shown.how:
        yield _Line(plainly(shown.how, _clock), style=_FAINT)


def thing(parts: Sequence[Part], width: int) -> Iterator[str]:
    """Yield the rows of a request's parts without colours, broken at `width` columns.

    If `width` is 0, no line is broken.
    """
    return (row for part in _thing(parts) for row in _rows(part, width))


def _thing(parts: Sequence[Part]) -> Iterator[_Line]:
    """Yield the lines of the request. A short value follows its name in the same line; anything else is on separate
    lines.

    Each line of a block has a bar before it, so that it doesn't look like an argument. Two kinds of blocks have no bar:
    a first block of one line, such as a command, and a diff, whose lines begin with signs.
    """
    blocks = {PartKind.CODE, PartKind.DIFF, PartKind.OURS}
    codes = [part.text for part in parts if part.kind is PartKind.CODE]
    one_line = len(codes) == 1 and "\n" not in codes[0] and parts[0].kind is PartKind.CODE
    before = None
    for part in parts:
        if part.kind in blocks and before not in blocks:
            yield _Line("")
        if part.kind is PartKind.OURS:
            yield _Line(part.text, style=_FAINT)
        elif part.kind is PartKind.CODE and not one_line:
            yield from (_Line(line, f"{_INDENT}{_FRAME}", _BOLD) for line in part.text.split("\n"))
        elif part.kind in blocks:
            yield from (_Line(line, _INDENT, _style(part.kind, line), _INDENT) for line in part.text.split("\n"))
        else:
            name = f"{part.name}: " if part.name else ""
            yield _Line(f"{name}{part.text}", _INDENT, hang=_INDENT)
        before = part.kind
        if part is parts[-1] and part.kind in blocks:
            yield _Line("")


def _rows(part: _Line, width: int) -> Iterator[str]:
    """Yield a line as rows of at most `width` columns. If `width` is 0, the line isn't broken."""
    text, room = part.text.expandtabs(_TAB), width - len(part.indent)
    if width <= 0 or wcswidth(text) <= room:
        yield f"{part.indent}{text}".rstrip(" ")
        return
    for number, piece in enumerate(_wrap(text, room - len(part.hang))):
        yield f"{part.indent}{part.hang if number else ''}{piece}".rstrip(" ")


def _style(kind: PartKind, line: str) -> str:
    if kind is PartKind.DIFF:
        return {"+": "32", "-": "31"}.get(line[:1], "")
    return _BOLD


def _clock(moment: Moment) -> str:
    return clock(moment, local=True)


def _wrap(text: str, width: int) -> Iterator[str]:
    """Split a text into pieces of at most `width` columns. Words stay whole if they fit, and nothing is dropped."""
    while wcswidth(text) > width:
        cut = _fitting(text, width)
        space = text.rfind(" ", cut // 2, cut)
        cut = space + 1 if space > 0 else cut
        yield text[:cut].rstrip(" ") or " "
        text = text[cut:]
    yield text


def _fitting(text: str, width: int) -> int:
    """Return the number of characters at the start of the text that fit into `width` columns.

    The result is at least one grapheme cluster.
    """
    used = 0
    for cluster in _CLUSTER.finditer(text):
        used += wcswidth(cluster[0])
        if used > width:
            return cluster.start() or cluster.end()
    return len(text)


def _painter(style: str, *, colour: bool) -> Callable[[str], str]:
    """Return a function that adds a style to text, or returns the text unchanged without `colour`."""
    return (lambda text: f"\x1b[{style}m{text}\x1b[0m") if colour and style else str
