"""Cards and answers as Telegram messages: pure functions from calls to HTML and keyboards.

Telegram makes links, mentions, commands and hashtags of plain words, but for those in `code` or `pre` (Bot API,
"MessageEntity"); what it could make such of stands there. "HTML style": only `&lt;`, `&gt;`, `&amp;`, `&quot;` and
numeric entities are known, so `html.escape` is safe; nothing nests inside `pre` and `code`. A text is at most 4,096
UTF-16 units after its entities are parsed.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from hitl.cards import Card, card, outcome_for_agent
from hitl.model import Verb
from hitl.text import cut_middle, encodable
from hitl.tokens import ButtonData, Keyring
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hitl.model import Call

#: Bot API, sendMessage: 4096 characters after entities parsing; counted in UTF-16 units, which never under-counts.
LONGEST = 4096
_SMALL = 300
#: Of more entities in a message Telegram keeps none ("Limits"). A line with several live words is code as a whole.
_MOST_ENTITIES = 100
_MOST_IN_LINE = 3
#: Blanks, numbers as long as a bank card's, and words.
_TOKENS = re.compile(r"\s+|\d(?:[ -]?\d){12,}|\S+")
#: At least what TDLib's `find_*` functions find: addresses, mentions, hashtags, cashtags, commands, card numbers.
_ALIVE = re.compile(r"://|[^\s.]\.\w|[@#$]\w|(?<![\w/])/\w|\d(?:[ -]?\d){12}")
_OUR_COMMANDS = re.compile(r"/(?:pending|show|approve|reject|cancel|status|whoami|help|start)[:,.]?")

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
    return _message(_fitting(parts), keyboard(call, keys, place) if shown.open else ())


def _message(parts: Sequence[_Part], buttons: Keyboard = ()) -> Message:
    html = "\n".join(part.html for part in parts)
    return Message(html, _cut("\n".join(part.plain for part in parts), LONGEST), buttons)


def keyboard(call: Call, keys: Keyring, place: str) -> Keyboard:
    """Approve, Reject and Details, each sealed for this call, deadline and chat."""
    labels = ((Verb.APPROVE, "button.approve"), (Verb.REJECT, "button.reject"), (Verb.DETAILS, "button.details"))
    return tuple((say(label), _data(call, keys, verb, place)) for verb, label in labels)


def plain_message(text: str) -> Message:
    """A sentence of ours, cut in the middle where no message can hold it; what it quotes can't be live."""
    cut = _cut(encodable(text), LONGEST)
    html = "\n".join(map(inert, cut.split("\n")))
    return Message(html if html.count("<code>") < _MOST_ENTITIES else _Part(cut, "pre").html, cut)


def whole_message(text: str) -> Message:
    """A text that is shown as it is, in one block."""
    return Message(_Part(text, "pre").html, text)


def notice_message(call: Call) -> Message:
    """How a call ended, for the conversation that asked, and what the tool printed."""
    output = card(call).output
    parts = [_Part(outcome_for_agent(call)), *([_Part(output, "pre")] if output else [])]
    return _message(_fitting(parts))


def inert(line: str, tag: str = "") -> str:
    """HTML in which nothing of a line comes alive: what would stands as code. The rest is in the element `tag`."""
    found = [(alive, "".join(words)) for alive, words in itertools.groupby(_TOKENS.findall(line), _comes_alive)]
    if sum(alive for alive, _ in found) > _MOST_IN_LINE:
        return _element(line, "code")
    return "".join(_element(text, "code" if alive else tag) for alive, text in found)


def _comes_alive(word: str) -> bool:
    return _ALIVE.search(word) is not None and _OUR_COMMANDS.fullmatch(word) is None


def _element(text: str, tag: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>" if tag and not text.isspace() else escape(text)


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
        if self.tag == "pre":
            return _element(self.text, "pre") if self.text else ""
        return inert(self.text, self.tag)

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
