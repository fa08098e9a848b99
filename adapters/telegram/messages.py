"""Cards and answers as Telegram messages: pure functions from calls to HTML and keyboards.

Telegram turns plain words into links, mentions, commands and hashtags, except inside `code` or `pre` (Bot API,
"MessageEntity"). So text that Telegram could turn into one of these is put into `code`. Telegram knows only the
entities `&lt;`, `&gt;`, `&amp;`, `&quot;` and numeric ones ("HTML style"); `html.escape` makes no other entities. An
element can't contain another element inside `pre` and `code`. A text is at most 4,096 UTF-16 units after its entities
are parsed.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hitl.call import CHOICES, Verb
from hitl.cards.card import OUTPUT_CHARS, Card, Way, card, outcome_for_agent, output_of
from hitl.cards.lines import Code, Moment, Who, in_utc, plain
from hitl.cards.shown import PartKind
from hitl.cards.text import cut_middle, encodable
from hitl.cards.wording import IN_ENGLISH
from hitl.people.names import NOBODY
from hitl.proof.keyring import ButtonData, Keyring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hitl.call import Call
    from hitl.cards.lines import Line, Segment
    from hitl.cards.shown import Part
    from hitl.cards.wording import Wording
    from hitl.people.names import Names

PLATFORM = "telegram"
#: The longest text of a message: 4096 characters after entities parsing (Bot API, sendMessage). We count UTF-16 units,
#: because a text never has fewer UTF-16 units than characters, so no text is too long.
LONGEST = 4096
#: If a message has more entities than this, Telegram drops all of them ("Limits"). So a line with several words that
#: could become links goes into one `code` element as a whole.
_MOST_ENTITIES = 100
_MOST_IN_LINE = 3
#: Matches blanks, numbers that are as long as a bank card's number, and words.
_TOKENS = re.compile(r"\s+|\d(?:[ -]?\d){12,}|\S+")
#: Matches at least the text that TDLib's `find_*` functions turn into links, mentions, hashtags, cashtags, commands or
#: card numbers.
_ALIVE = re.compile(r"://|[^\s.]\.\w|[@#$]\w|(?<![\w/])/\w|\d(?:[ -]?\d){12}")
_OUR_COMMANDS = re.compile(r"/(?:pending|sessions|show|approve|reject|withdraw|cancel|status|whoami|help|start)[:,.]?")


class Button(NamedTuple):
    """A button: its label, data, colour (Bot API 9.4, `style`, or '' for none), and whether it is alone in its row."""

    label: str
    data: str
    style: str = ""
    alone: bool = False


Keyboard: TypeAlias = "tuple[Button, ...]"


@dataclass(frozen=True, slots=True)
class Message:
    """A message before it is sent: HTML, the same text without markup, and a row of buttons."""

    html: str
    plain: str
    buttons: Keyboard = ()


def card_message(
    call: Call,
    keys: Keyring,
    place: str,
    names: Names = NOBODY,
    *,
    reader: str = "",
    refreshed: bool = False,
    wording: Wording = IN_ENGLISH,
) -> Message:
    """Return the card of a call in its current state, for one chat (`place`).

    The card has buttons only while the call is pending. `reader` is the principal of the one person who reads that
    chat, or '' in a group. With `refreshed`, the card says that presses were lost while the bot was away, and asks
    people to press again.
    """
    shown = card(call, names, Way.REPLY, reader=reader, platform=PLATFORM, wording=wording)
    told = _pending(shown, names, wording, refreshed=refreshed) if shown.open else _decided(shown, names, wording)
    return _message(list(told), wording, keyboard(call, shown, keys, place, wording) if shown.open else ())


def _message(parts: list[_Part], wording: Wording, buttons: Keyboard = ()) -> Message:
    fitting = _fitting(parts, wording)
    html = "\n".join(part.html for part in fitting)
    return Message(html, _cut("\n".join(part.plain for part in fitting), LONGEST, wording), buttons)


def keyboard(call: Call, shown: Card, keys: Keyring, place: str, wording: Wording = IN_ENGLISH) -> Keyboard:
    """Return the buttons Approve, Reject and Details. If only one person reads the card, leave out the buttons that
    this person may not press.

    The data of the buttons is valid only for this call, its deadline and this chat.

    Approve is green and Reject red. If one press isn't enough for an approval, the button Approve has no colour and its
    label ends in dots.
    """
    if shown.asks:
        return _answers(call, shown, keys, place, wording)
    labels = (
        (Verb.APPROVE, "button.approve.steps" if shown.steps else "button.approve", "" if shown.steps else "success"),
        (Verb.REJECT, "button.reject", "danger"),
        (Verb.DETAILS, "button.details", ""),
    )
    return tuple(
        Button(wording.say(label), _data(call, keys, verb, place), style)
        for verb, label, style in labels
        if shown.may(verb)
    )


def _answers(call: Call, shown: Card, keys: Keyring, place: str, wording: Wording) -> Keyboard:
    """Return the buttons of a question: one row for each option, or a single button for an answer in words.

    The buttons Decline and Details follow.
    """
    if not shown.may(Verb.APPROVE):
        told = []
    elif shown.choices:
        told = [
            Button(label, _data(call, keys, verb, place), alone=True)
            for verb, label in zip(CHOICES, shown.choices, strict=False)
        ]
    else:
        told = [Button(wording.say("button.answer"), _data(call, keys, Verb.APPROVE, place))]
    others = ((Verb.REJECT, "button.decline"), (Verb.DETAILS, "button.details"))
    return (
        *told,
        *(Button(wording.say(label), _data(call, keys, verb, place)) for verb, label in others if shown.may(verb)),
    )


def plain_message(text: str, wording: Wording = IN_ENGLISH) -> Message:
    """Return a sentence of the service as a message. If it is too long, its middle is cut out.

    No word of it can become a link, a mention or a command, except our own commands.
    """
    cut = _cut(encodable(text), LONGEST, wording)
    html = "\n".join(map(inert, cut.split("\n")))
    return Message(html if html.count("<code>") < _MOST_ENTITIES else _Part(cut, "pre").html, cut)


def whole_message(text: str) -> Message:
    """Return a text unchanged, in one block."""
    return Message(_Part(text, "pre").html, text)


def notice_message(call: Call, wording: Wording = IN_ENGLISH) -> Message:
    """Return the message that says how a call ended, with the tool's output. It is for the conversation that asked for
    the call.
    """
    output = output_of(call)
    parts = [_Part(outcome_for_agent(call, wording)), *([_Part(output, "pre")] if output else [])]
    return _message(parts, wording)


def inert(line: str, tag: str = "") -> str:
    """Return a line as HTML in which Telegram finds no link, and no command except our own commands.

    A word that Telegram could turn into a link or command is put into the element `code`; the other words are put into
    the element `tag`, if it is given.
    """
    found = [(alive, "".join(words)) for alive, words in itertools.groupby(_TOKENS.findall(line), _comes_alive)]
    if sum(alive for alive, _ in found) > _MOST_IN_LINE:
        return _element(line, "code")
    return "".join(_element(text, "code" if alive else tag) for alive, text in found)


def _comes_alive(word: str) -> bool:
    return _ALIVE.search(word) is not None and _OUR_COMMANDS.fullmatch(word) is None


def _element(text: str, tag: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>" if tag and not text.isspace() else escape(text)


def question(text: str, person: int) -> Message:
    """Return the message with a question to the person with this user id. The first word of `text` mentions that
    person.

    A selective reply field opens only for people who are mentioned, or whose message the question answers.
    """
    sign, _, rest = text.partition(" ")
    return Message(f'<a href="tg://user?id={person}">{escape(sign)}</a> {escape(rest)}', text)


def length(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def _cut(text: str, units: int, wording: Wording) -> str:
    """Return the text in at most `units` UTF-16 units. If it is too long, its middle is cut out.

    The text is cut again and again until it fits. Each time the whole text is cut, so that the stated number of missing
    characters is right.
    """
    limit = len(text)
    cut = text
    while (over := length(cut) - units) > 0:
        limit = min(limit, len(cut)) - max(1, over // 2)
        cut = cut_middle(text, limit, wording).text
    return cut


@dataclass(frozen=True, slots=True)
class _Part:
    """A line or block of a message, and its HTML element.

    If a line has links or times, `markup` is the whole HTML of the line. Telegram counts only the length of the text.
    """

    text: str
    tag: str = ""
    markup: str | None = None

    @property
    def html(self) -> str:
        if self.markup is not None:
            return self.markup
        if self.tag in {"pre", "diff"}:
            return _block(self.text, self.tag) if self.text else ""
        if self.tag == "blockquote":
            return f"<blockquote>{inert(self.text)}</blockquote>"
        return inert(self.text, self.tag)

    @property
    def plain(self) -> str:
        """Return the text without markup.

        Each line of a block begins with a bar, so that it can't look like a line of the service.
        """
        if self.tag in {"pre", "diff", "blockquote"}:
            return "\n".join(f"│ {line}" for line in self.text.split("\n"))
        return self.text


def _block(text: str, tag: str) -> str:
    if tag == "diff":
        return f'<pre><code class="language-diff">{escape(text)}</code></pre>'
    return _element(text, "pre")


def _data(call: Call, keys: Keyring, verb: Verb, place: str) -> str:
    return ButtonData.sealed(keys, verb, call.ref, digest=call.digest, deadline=call.deadline, place=place).pack()


def _pending(shown: Card, names: Names, wording: Wording, *, refreshed: bool) -> Iterator[_Part]:
    """Yield the parts of a pending card.

    The arguments follow the headline, because a phone's notice shows only the beginning.
    """
    yield _Part(f"{shown.sign} {shown.headline}{':' if shown.parts else ''}", "b")
    yield from _thing(shown.parts)
    yield from (_Part(text) for text in (shown.below, shown.place) if text)
    if shown.note:
        yield _Part(shown.note, "blockquote")
    if shown.rule:
        yield _Part(shown.rule)
    yield _lined(shown.stakes, names)
    yield from (_Part(wording.say("card.warning", note=warning)) for warning in shown.warnings)
    yield _Part("")
    yield _lined(shown.approvers, names)
    if shown.how:
        yield _lined(shown.how, names)
    if refreshed:
        yield _Part(wording.say("card.refreshed"), "i")


def _thing(parts: Sequence[Part]) -> Iterator[_Part]:
    """Yield the parts of the request. A short value follows its name in the same line; anything else is in a separate
    block.
    """
    for part in parts:
        if part.kind in {PartKind.CODE, PartKind.DIFF}:
            yield _Part(part.text, "diff" if part.kind is PartKind.DIFF else "pre")
        elif part.kind is PartKind.OURS or not part.name:
            yield _Part(part.text, "i")
        else:
            value = f" {inert(part.text, 'i' if part.kind is PartKind.EMPTY else '')}" if part.text else ""
            text = f"{part.name}: {part.text}".rstrip(" ")
            yield _Part(text, markup=f"{inert(f'{part.name}:', 'b')}{value}")


def _decided(shown: Card, names: Names, wording: Wording) -> Iterator[_Part]:
    """Yield the parts of an ended call's card: the outcome, then who decided, when and why, then the output."""
    yield _lined((wording.say(f"end.sign.{shown.end_sign}"), " ", *shown.end), NOBODY)
    yield _lined((*shown.end_why, wording.say("card.name", short=shown.short)), names)
    if shown.output:
        yield _Part(cut_middle(shown.output, OUTPUT_CHARS, wording).text, "pre")


def _lined(told: Line, names: Names) -> _Part:
    """Return a line in which people with a Telegram account are mentioned, and times are in the reader's time zone."""
    markup = "".join(_segment(segment, names) for segment in told)
    return _Part(plain(told, _time), markup=markup)


def _segment(segment: Segment, names: Names) -> str:
    if isinstance(segment, Who):
        account = names.account(segment.principal, PLATFORM)
        return f'<a href="tg://user?id={account}">{escape(segment.text)}</a>' if account else inert(segment.text)
    if isinstance(segment, Moment):
        form = "r" if segment.counts_down else "dt" if segment.dated else "t"
        return f'<tg-time unix="{int(segment.at.timestamp())}" format="{form}">{escape(_time(segment))}</tg-time>'
    if isinstance(segment, Code):
        return _element(segment.text, "code")
    return inert(segment, "") if isinstance(segment, str) else inert(segment.text, "b")


def _time(moment: Moment) -> str:
    """Return a time as text for clients that don't know `tg-time` (Bot API 9.5)."""
    return in_utc(moment)


def _fitting(parts: list[_Part], wording: Wording) -> list[_Part]:
    """Return the parts, with the middle of the longest texts cut out so that all parts fit into one message.

    The parts of a pending card always fit. Only the card of an ended call can be too long, and nobody decides by it any
    more.
    """
    fitting = list(parts)
    while (over := sum(length(part.text) + 1 for part in fitting) - LONGEST) > 0:
        longest = max(range(len(parts)), key=lambda index: length(fitting[index].text))
        was = length(fitting[longest].text)
        cut = _cut(parts[longest].text, max(was - over, was // 2), wording)
        if length(cut) >= was:
            break
        fitting[longest] = _Part(cut, parts[longest].tag)
    return fitting
