"""Cards and answers as Telegram messages: pure functions from calls to HTML and keyboards.

Bot API, "HTML style": only `&lt;`, `&gt;`, `&amp;`, `&quot;` and numeric entities are known, so `html.escape` is
safe; nothing nests inside `pre`. A text is at most 4,096 UTF-16 units after its entities are parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from hitl.cards import Card, card
from hitl.model import Verb
from hitl.text import cut_middle, encodable
from hitl.tokens import ButtonData, Keyring
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hitl.model import Call

#: Bot API, sendMessage: 4096 characters after entities parsing; counted in UTF-16 units, which never under-counts.
LONGEST = 4096
_SMALL = 300

Keyboard = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A message to be: HTML, the same as plain text, and a row of buttons (label, data)."""

    html: str
    plain: str
    buttons: Keyboard = ()


def card_message(call: Call, keys: Keyring, place: str, *, refreshed: bool = False) -> Message:
    """The card of a call as it is now, for one chat (`place`). Buttons only while it waits.

    `refreshed` adds that presses made while the bot was away are lost and should be repeated.
    """
    shown = card(call)
    parts = list(_parts(shown))
    if refreshed and shown.open:
        parts.append(_Part(say("card.refreshed"), "i"))
    parts = _fitting(parts)
    html = "\n".join(part.html for part in parts)
    plain = _cut("\n".join(part.plain for part in parts), LONGEST)
    return Message(html, plain, keyboard(call, keys, place) if shown.open else ())


def keyboard(call: Call, keys: Keyring, place: str) -> Keyboard:
    """Approve, Reject and Details, each sealed for this call, deadline and chat."""
    labels = ((Verb.APPROVE, "button.approve"), (Verb.REJECT, "button.reject"), (Verb.DETAILS, "button.details"))
    return tuple((say(label), _data(call, keys, verb, place)) for verb, label in labels)


def plain_message(text: str) -> Message:
    """A sentence of ours, cut in the middle where no message can hold it; what it quotes can't be live."""
    cut = _cut(encodable(text), LONGEST)
    return Message(escape(cut), cut)


def question(text: str, person: int) -> Message:
    """A sentence of ours that asks one person, by user id: its first sign mentions them.

    A selective reply field opens only for those who are mentioned, or whose message it answers.
    """
    sign, _, rest = text.partition(" ")
    return Message(f'<a href="tg://user?id={person}">{escape(sign)}</a> {escape(rest)}', text)


def length(text: str) -> int:
    """UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def _cut(text: str, units: int) -> str:
    """The text in at most so many UTF-16 units, cut in the middle once, so that the count in it is true."""
    limit = len(text)
    cut = text
    while (over := length(cut) - units) > 0:
        limit = min(limit, len(cut)) - max(1, over // 2)
        cut = cut_middle(text, limit).text
    return cut


@dataclass(frozen=True, slots=True)
class _Part:
    """A line or block of a message, and the element that it stands in."""

    text: str
    tag: str = ""
    markup: str | None = None

    @property
    def html(self) -> str:
        if self.markup is not None:
            return self.markup
        text = escape(self.text)
        return f"<{self.tag}>{text}</{self.tag}>" if self.tag and text else text

    @property
    def plain(self) -> str:
        """Where there is no markup, a block is marked line by line: nothing in it may pose as a line of ours."""
        return self.text if self.tag != "pre" else "\n".join(f"│ {line}" for line in self.text.split("\n"))


def _data(call: Call, keys: Keyring, verb: Verb, place: str) -> str:
    return ButtonData.sealed(keys, verb, call.ref, digest=call.digest, deadline=call.deadline, place=place).pack()


def _parts(shown: Card) -> Iterator[_Part]:
    yield _Part(f"{shown.title} · {shown.short}", "b")
    yield _Part(shown.sentence)
    yield _Part(shown.why, "i")
    for name, value in shown.arguments:
        yield _Part(f"{name}:")
        yield _Part(value, "pre")
    if shown.preview:
        yield _Part(shown.preview, "pre")
    yield from (_Part(warning) for warning in shown.warnings)
    if shown.note:
        yield _Part(shown.note)
    yield _Part(f"{shown.who} · {shown.mark}")
    if shown.open:
        yield _Part(shown.ends, markup=_countdown(shown))
        yield _Part(f"→ {shown.how}")
    else:
        yield _Part(f"{_sign(shown)} {shown.outcome}", "b")
    if not shown.open and shown.output:
        yield _Part(cut_middle(shown.output, _SMALL).text, "pre")


def _sign(shown: Card) -> str:
    return say("sign.done" if shown.done else "sign.over")


def _countdown(shown: Card) -> str:
    """Bot API 9.5 `tg-time`: clients that know it count down, others show the time of day inside."""
    moment = f'<tg-time unix="{int(shown.deadline.timestamp())}" format="r">{escape(shown.ends_at)}</tg-time>'
    return say("card.ends", time=moment)


def _fitting(parts: list[_Part]) -> list[_Part]:
    """The same parts, the longest blocks cut until the whole fits into one message.

    A card fits as it is while it waits; what may not is one with an outcome, which nobody decides on any more.
    """
    fitting = list(parts)
    while (over := sum(length(part.text) + 1 for part in fitting) - LONGEST) > 0:
        longest = max(range(len(parts)), key=lambda index: length(fitting[index].text))
        was = length(fitting[longest].text)
        cut = _cut(parts[longest].text, max(was - over, was // 2))
        if length(cut) >= was:
            break
        fitting[longest] = _Part(cut, parts[longest].tag)
    return fitting
