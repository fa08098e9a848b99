"""What people see of a text, and what in it is alive: links, mentions, styles, emoji.

`mrkdwn` reads Slack's own markup as the apps do, with its three escapes (`&amp; &lt; &gt;`);
`plain` reads a plain_text object, in which only emoji codes mean anything. A control sequence
(`<@U1>`, `<!channel>`, `<url|label>`) works between backticks too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

# Names of emoji that people, and approvals, use; others stay codes in what is seen.
EMOJI: Final = {
    "+1": "\N{THUMBS UP SIGN}",
    "-1": "\N{THUMBS DOWN SIGN}",
    "thumbsup": "\N{THUMBS UP SIGN}",
    "thumbsdown": "\N{THUMBS DOWN SIGN}",
    "white_check_mark": "\N{WHITE HEAVY CHECK MARK}",
    "heavy_check_mark": "\N{HEAVY CHECK MARK}\N{VARIATION SELECTOR-16}",
    "x": "\N{CROSS MARK}",
    "no_entry": "\N{NO ENTRY}",
    "no_entry_sign": "\N{NO ENTRY SIGN}",
    "octagonal_sign": "\N{OCTAGONAL SIGN}",
    "ok_hand": "\N{OK HAND SIGN}",
    "ok": "\N{SQUARED OK}",
    "warning": "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}",
    "rotating_light": "\N{POLICE CARS REVOLVING LIGHT}",
    "eyes": "\N{EYES}",
    "heart": "\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}",
    "fire": "\N{FIRE}",
    "tada": "\N{PARTY POPPER}",
    "pray": "\N{PERSON WITH FOLDED HANDS}",
    "rocket": "\N{ROCKET}",
    "thinking_face": "\N{THINKING FACE}",
    "joy": "\N{FACE WITH TEARS OF JOY}",
    "smile": "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}",
    "wave": "\N{WAVING HAND SIGN}",
    "100": "\N{HUNDRED POINTS SYMBOL}",
    "hourglass_flowing_sand": "\N{HOURGLASS WITH FLOWING SAND}",
    "lock": "\N{LOCK}",
    "robot_face": "\N{ROBOT FACE}",
    "large_green_circle": "\N{LARGE GREEN CIRCLE}",
    "red_circle": "\N{LARGE RED CIRCLE}",
}
SKIN_TONES: Final = {f"skin-tone-{number}": chr(0x1F3F9 + number) for number in range(2, 7)}
BROADCASTS: Final = frozenset({"here", "channel", "everyone"})

_EMOJI_CODE: Final = re.compile(r":([a-z0-9_+'-]+)(?:::(skin-tone-[2-6]))?:")
_CONTROL: Final = re.compile(r"<([^<>\n]+)>")
_PRE: Final = re.compile(r"```(.+?)```", re.DOTALL)
_CODE: Final = re.compile(r"`([^`\n]+)`")
_BARE_URL: Final = re.compile(r"https?://[^\s<>|\x00\x01]+", re.IGNORECASE)
_QUOTE: Final = re.compile(r"^(?:>|&gt;) ?(.*)$", re.MULTILINE)
_STYLES: Final = {
    "bold": re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"),
    "italic": re.compile(r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)"),
    "strike": re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])"),
}
_SCHEME: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|mailto:|tel:)", re.IGNORECASE)
_SLOT: Final = re.compile(r"\x00(\d+)\x01")
_MARKDOWN_LINK: Final = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")
_ESCAPES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


@dataclass(frozen=True, slots=True)
class Mark:
    """Something alive in a text: its kind, the characters seen, and what it leads to or names.

    Kinds: link, user, channel, usergroup, broadcast, date, emoji, and the styles bold, italic,
    strike, code, pre, quote.
    """

    kind: str
    text: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """Characters as people see them, and what is alive among them."""

    text: str = ""
    marks: tuple[Mark, ...] = ()

    def of(self, *kinds: str) -> tuple[Mark, ...]:
        """Return the marks of these kinds."""
        return tuple(one for one in self.marks if one.kind in kinds)


def joined(parts: Iterable[Seen], between: str = "") -> Seen:
    """Return the parts as one."""
    found = list(parts)
    return Seen(between.join(one.text for one in found), tuple(mark for one in found for mark in one.marks))


def escape(text: str) -> str:
    """Return a text with Slack's three escapes, as the apps send what people type."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Return a text without them."""
    for written, meant in _ESCAPES:
        text = text.replace(written, meant)
    return text


def emoji_of(name: str) -> str:
    """Return an emoji by its name, with a skin tone if the name has one; ":name:" if it is unknown."""
    base, _, tone = name.partition("::")
    known = EMOJI.get(base)
    return known + SKIN_TONES.get(tone, "") if known else f":{name}:"


def plain(text: str, *, emoji: bool = True) -> Seen:
    """Read a plain_text object."""
    shelf = _Shelf(text)
    if emoji:
        shelf.take(_EMOJI_CODE, _emoji)
    return shelf.finish(str)


def mrkdwn(text: str, *, verbatim: bool = False) -> Seen:
    """Read Slack's markup; `verbatim` leaves bare addresses alone."""
    shelf = _Shelf(text)
    shelf.take(_CONTROL, _control)
    shelf.take(_PRE, partial(_styled, "pre"))
    shelf.take(_CODE, partial(_styled, "code"))
    if not verbatim:
        shelf.take(_BARE_URL, _address)
    shelf.take(_EMOJI_CODE, _emoji)
    for kind, pattern in _STYLES.items():
        shelf.take(pattern, partial(_styled, kind))
    shelf.take(_QUOTE, partial(_styled, "quote"))
    return shelf.finish(unescape)


def markdown(text: str) -> Seen:
    """Read a markdown block: its links, and everything that mrkdwn has too."""
    return mrkdwn(_MARKDOWN_LINK.sub(r"<\2|\1>", text))


class _Shelf:
    """A text in which what was understood is kept aside, in numbered slots."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}").replace("\x01", "\N{REPLACEMENT CHARACTER}")
        self._marks: list[Mark] = []

    def take(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Mark | None]) -> None:
        def keep(match: re.Match[str]) -> str:
            mark = read(match)
            if mark is None:
                return match[0]
            self._marks.append(mark)
            return f"\x00{len(self._marks) - 1}\x01"

        self._text = pattern.sub(keep, self._text)

    def finish(self, decode: Callable[[str], str]) -> Seen:
        marks = tuple(Mark(one.kind, self._fill(one.text, decode), one.target) for one in self._marks)
        return Seen(self._fill(self._text, decode), marks)

    def _fill(self, text: str, decode: Callable[[str], str]) -> str:
        pieces = _SLOT.split(text)
        pieces[::2] = [decode(one) for one in pieces[::2]]
        pieces[1::2] = [self._fill(self._marks[int(one)].text, decode) for one in pieces[1::2]]
        return "".join(pieces)


def _styled(kind: str, match: re.Match[str]) -> Mark:
    return Mark(kind, match[1])


def _emoji(match: re.Match[str]) -> Mark | None:
    name = f"{match[1]}::{match[2]}" if match[2] else match[1]
    return Mark("emoji", emoji_of(name), name) if match[1] in EMOJI else None


def _address(match: re.Match[str]) -> Mark:
    return Mark("link", match[0], unescape(match[0]))


def _control(match: re.Match[str]) -> Mark | None:
    target, _, label = match[1].partition("|")
    for sign, read in _CONTROLS.items():
        if target.startswith(sign):
            return read(target.removeprefix(sign), label)
    return Mark("link", label or target, unescape(target)) if _SCHEME.match(target) else None


def _user(target: str, label: str) -> Mark:
    return Mark("user", f"@{label or target}", target)


def _channel(target: str, label: str) -> Mark:
    return Mark("channel", f"#{label or target}", target)


def _group(target: str, label: str) -> Mark:
    return Mark("usergroup", label or f"@{target}", target)


def _date(target: str, label: str) -> Mark:
    return Mark("date", label or target, target.partition("^")[0])


def _special(target: str, label: str) -> Mark:
    return Mark("broadcast", f"@{target}", target) if target in BROADCASTS else Mark("special", label or target, target)


_CONTROLS: Final[dict[str, Callable[[str, str], Mark | None]]] = {
    "@": _user,
    "#": _channel,
    "!subteam^": _group,
    "!date^": _date,
    "!": _special,
}
