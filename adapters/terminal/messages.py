"""Cards as text for a terminal: in a box with colour on a TTY, plain lines anywhere else. Pure functions.

The parts that a Card holds are visible text already, so nothing in them can move the cursor or change a colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex
from wcwidth import wcswidth

from hitl.cards import Card, card
from hitl.model import Risk
from hitl.text import one_line
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from hitl.model import Call

_COLOURS: Mapping[Risk, str] = {Risk.CRITICAL: "31", Risk.HIGH: "33", Risk.MEDIUM: "93", Risk.LOW: "32"}
_WIDEST = 88
_NARROWEST = 40
_TAB = 4
_CLUSTER = regex.compile(r"\X")


def box(call: Call, *, width: int, colour: bool) -> str:
    """The card of a waiting call in a frame, at most `width` columns wide."""
    shown = card(call)
    inner = max(_NARROWEST, min(width, _WIDEST)) - 4
    paint = _painter(shown.risk) if colour else _plain
    short = f" {shown.short} "
    title = f" {_clip(shown.title, inner - len(short) - 3)} "
    rule = "─" * (inner - wcswidth(title) - len(short))
    lines = [paint(f"╭─{title}{rule}{short}─╮")]
    lines += [_row(line, inner, paint, colour=colour) for line in _body(shown, inner)]
    foot = f" {_clip(shown.ends, inner - 2)} "
    lines.append(paint("╰─" + foot + "─" * (inner + 1 - wcswidth(foot)) + "╯"))
    return "\n".join(lines)


def plain(call: Call) -> str:
    """The card as plain lines, for pipes and screen readers."""
    shown = card(call)
    body = (line.text and f"  {line.text}" for line in _parts(shown))
    return "\n".join([f"{shown.title} [{shown.short}]", *body, f"  {shown.ends}"])


def wrapped(text: str, width: int) -> str:
    """Text for a TTY, broken between words where it is wider than the screen."""
    return "\n".join(piece for line in text.split("\n") for piece in _wrap(line, width))


def ended(call: Call, *, colour: bool) -> str:
    """The one line that a card becomes when it is over."""
    shown = card(call)
    text = f"{shown.short} {one_line(call.tool, 60)}: {shown.outcome}"
    return f"\x1b[2m{text}\x1b[0m" if colour else text


def countdown(calls: list[Call], now: datetime, width: int) -> str:
    """What the bottom line says while calls wait: how long is left, of the one that ends first, and the keys.

    No window is so narrow that it names the key to approve and cuts off the one to deny.
    """
    if not calls:
        return ""
    first = min(calls, key=lambda call: call.deadline)
    seconds = max(0, int((first.deadline - now).total_seconds()))
    told = [_left(first, f"{seconds // 60}:{seconds % 60:02d}", len(calls) - 1, keys) for keys in _keys()]
    return next((text for text in told if wcswidth(text) <= width), told[-1])


def _left(first: Call, left: str, more: int, keys: str) -> str:
    if more:
        return say("terminal.left.more", left=left, short=first.short, count=more, keys=keys)
    return say("terminal.left", left=left, short=first.short, keys=keys)


def _keys() -> tuple[str, ...]:
    """Ways to name the keys, the longest first; the card says how to answer, too."""
    return say("terminal.keys"), say("terminal.keys.short"), ""


class _Line:
    """A line of a card: its text, and whether it is a diff line."""

    __slots__ = ("diff", "faint", "text")

    def __init__(self, text: str, *, diff: bool = False, faint: bool = False) -> None:
        self.text, self.diff, self.faint = text, diff, faint


def _parts(shown: Card) -> Iterator[_Line]:
    yield _Line(shown.sentence)
    yield _Line(shown.why, faint=True)
    yield _Line("")
    for name, value in shown.arguments:
        first, *more = value.split("\n")
        yield _Line(f"{name}: {first}")
        yield from (_Line(f"{' ' * len(name)}  {line}") for line in more)
    if shown.preview:
        yield _Line("")
        yield from (_Line(line, diff=True) for line in shown.preview.split("\n"))
    yield _Line("")
    yield from (_Line(warning) for warning in shown.warnings)
    if shown.note:
        yield _Line(shown.note)
    yield _Line(f"{shown.who} · {say('card.mark', mark=shown.mark)}", faint=True)
    yield _Line(f"→ {shown.how}")


def _body(shown: Card, inner: int) -> Iterator[_Line]:
    for part in _parts(shown):
        for piece in _wrap(part.text.expandtabs(_TAB), inner):
            yield _Line(piece, diff=part.diff, faint=part.faint)


def _row(line: _Line, inner: int, paint: _Paint, *, colour: bool) -> str:
    pad = " " * max(0, inner - wcswidth(line.text))
    text = _shade(line) if colour else line.text
    return f"{paint('│')} {text}{pad} {paint('│')}"


def _shade(line: _Line) -> str:
    if line.faint:
        return f"\x1b[2m{line.text}\x1b[0m"
    if line.diff and line.text.startswith(("+", "-")):
        return f"\x1b[{'32' if line.text[0] == '+' else '31'}m{line.text}\x1b[0m"
    return line.text


def _wrap(text: str, width: int) -> Iterator[str]:
    """Pieces of at most `width` columns: words kept whole where they fit, nothing dropped."""
    while wcswidth(text) > width:
        cut = _fitting(text, width)
        space = text.rfind(" ", cut // 2, cut)
        cut = space + 1 if space > 0 else cut
        yield text[:cut].rstrip(" ") or " "
        text = text[cut:]
    yield text


def _fitting(text: str, width: int) -> int:
    """How many characters fit into so many columns, at least one cluster of them."""
    used = 0
    for cluster in _CLUSTER.finditer(text):
        used += wcswidth(cluster[0])
        if used > width:
            return cluster.start() or cluster.end()
    return len(text)


def _clip(text: str, width: int) -> str:
    return text if wcswidth(text) <= width else text[: _fitting(text, width - 1)] + "…"


def _painter(risk: Risk) -> _Paint:
    return lambda text: f"\x1b[{_COLOURS[risk]}m{text}\x1b[0m"


def _plain(text: str) -> str:
    return text


if TYPE_CHECKING:
    from collections.abc import Callable

    _Paint = Callable[[str], str]
