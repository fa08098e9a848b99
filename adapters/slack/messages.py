"""Cards, answers and windows as Block Kit: pure functions from calls to blocks.

Text that an agent wrote goes into `plain_text` or `rich_text`. Slack parses no markup there, so the text can't become a
link or a mention and needs no escapes. Only the fallback text of notifications is markup, so `&`, `<` and `>` are
escaped there ("Formatting text for app surfaces"). Lengths are counted in UTF-16 units. A text never has fewer units
than characters, so no text is too long for Slack.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hitl.call import CHOICES, Verb
from hitl.cards.card import OUTPUT_CHARS, Card, Way, card, outcome, outcome_for_agent, output_of
from hitl.cards.lines import Code, Moment, Strong, Who, in_utc, plain
from hitl.cards.shown import PartKind
from hitl.cards.text import cut_middle
from hitl.cards.wording import IN_ENGLISH
from hitl.people.names import NOBODY
from hitl.proof.keyring import ButtonData, Keyring

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hitl.call import Call
    from hitl.cards.lines import Line
    from hitl.cards.shown import Part
    from hitl.cards.wording import Wording
    from hitl.people.names import Names

Block: TypeAlias = "dict[str, Any]"
#: A button: its verb, the name of its action, its label, and its style.
_Labelled: TypeAlias = "tuple[Verb, str, str, str | None]"

#: Block Kit reference: the longest text of a section.
SECTION = 3000
#: The longest message that the service writes itself, such as an answer. It may take several sections. This length
#: leaves room in the message for the blocks around it.
LONGEST = 12_000
#: The longest text of one page of the details. The page shows the text in several blocks, each within a section's
#: limit.
PAGE = 9_000
_CHUNK = 2_800
_FALLBACK = 500
#: The longest text that screen readers read for a button, in UTF-16 units (Block Kit reference, `accessibility_label`).
_READ_ALOUD = 75
PLATFORM = "slack"

APPROVE, REJECT, DETAILS = "sayso:approve", "sayso:reject", "sayso:details"
#: The beginning of the names of buttons for the options of a question. A colon and the option's number follow it.
CHOOSE = "sayso:choose"
PAGE_ACTION = "sayso:page"
REASON_WINDOW = "sayso:reason"
REASON_FIELD = "reason"
_ACTIONS = ((Verb.APPROVE, APPROVE, "primary"), (Verb.REJECT, REJECT, "danger"), (Verb.DETAILS, DETAILS, None))
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class Message:
    """A message before it is sent: its blocks, and the text for notifications and screen readers."""

    blocks: tuple[Block, ...]
    text: str


def card_message(
    call: Call,
    keys: Keyring,
    place: str,
    names: Names = NOBODY,
    *,
    heard: bool = True,
    reader: str = "",
    wording: Wording = IN_ENGLISH,
) -> Message:
    """Return the card of a call for one channel (`place`). The card has buttons and mentions only while the call is
    pending.

    `heard` says whether the bot receives the messages of that channel; if not, the card asks people to use the buttons.
    `reader` is the principal of the only person who reads the channel, or '' if several people do.
    """
    way = Way.THREAD if heard else Way.BUTTONS
    shown = card(call, names, way, reader=reader, platform=PLATFORM, wording=wording)
    if not shown.open:
        # A notification has no frame that sets an agent's text apart, so the outcome comes first, in our words.
        return Message(
            tuple(_closed(call, shown, keys, place, names, wording)), _fallback(_ended(shown, wording), wording)
        )
    told = _what(shown, wording), _foot(shown, names, wording)
    blocks = (*told, _actions(call, shown, keys, place, wording))
    return Message(blocks, _fallback(shown.push, wording))


def plain_message(text: str, home: str = "", wording: Wording = IN_ENGLISH) -> Message:
    """Return a sentence of the service as a message. If it is too long, its middle is cut out.

    Slack parses no markup in it. Only a line that begins with `home`, the workspace's own address, becomes a link.
    """
    shown = cut(text, LONGEST, wording)
    if not home or not any(line.startswith(home) for line in shown.split("\n")):
        return Message(tuple(map(_section, chunks(shown))), _fallback(text, wording))
    elements = [
        _words(f"{line}\n") if not line.startswith(home) else _link(line, wording) for line in shown.split("\n")
    ]
    return Message(({"type": "rich_text", "elements": [_line_of(*elements)]},), _fallback(text, wording))


def notice_message(call: Call, mentioned: Sequence[str], wording: Wording = IN_ENGLISH) -> Message:
    """Return the message that says how a call ended, for the conversation where it was asked for.

    `mentioned` are the requester's user ids.
    """
    told = outcome_for_agent(call, wording)
    people = [*itertools.chain.from_iterable((_user(one), _words(" ")) for one in mentioned)]
    # A rejection's reason may be very long, so it is cut to the limit of a section.
    lines: list[Block] = [{"type": "rich_text_section", "elements": [*people, _words(cut(told, SECTION, wording))]}]
    output = output_of(call)
    lines += map(_preformatted, chunks(cut(output, PAGE, wording), _CHUNK)) if output else ()
    return Message(({"type": "rich_text", "elements": lines},), _fallback(told, wording))


def outcome_message(call: Call, names: Names | None = None, wording: Wording = IN_ENGLISH) -> Message:
    """Return the message that says how a call ended. It is posted when the call's card can't be edited."""
    return plain_message(f"{call.short}: {outcome(call, names, wording)}", wording=wording)


def page_message(ref: str, text: str, number: int, wording: Wording = IN_ENGLISH) -> Message:
    """Return one page of a long text, with buttons to the previous and the next page."""
    return Message(page_blocks(ref, text, number, wording), _fallback(text, wording))


def page_window(ref: str, text: str, number: int, metadata: str, wording: Wording = IN_ENGLISH) -> Block:
    """Return one page of a long text as a window for one person."""
    return {
        "type": "modal",
        "title": _plain(wording.say("window.title.details")),
        "close": _plain(wording.say("window.close")),
        "private_metadata": metadata,
        "blocks": list(page_blocks(ref, text, number, wording)),
    }


def page_blocks(ref: str, text: str, number: int, wording: Wording = IN_ENGLISH) -> tuple[Block, ...]:
    """Return the blocks of the page with this number, counted from 0. If there is no page with this number, return the
    nearest page.
    """
    pages = chunks(text, PAGE)
    at = min(max(number, 0), len(pages) - 1)
    shown: Block = {"type": "rich_text", "elements": [_preformatted(part) for part in chunks(pages[at], _CHUNK)]}
    if len(pages) == 1:
        return (shown,)
    others = ((at - 1, "window.page.before"), (at + 1, "window.page.next"))
    buttons = [
        _button(f"{PAGE_ACTION}:{page}", wording.say(label), ref, None)
        for page, label in others
        if 0 <= page < len(pages)
    ]
    where = _context(wording.say("window.page", page=at + 1, pages=len(pages)))
    return (shown, where, {"type": "actions", "elements": buttons})


def reason_window(short: str, verb: Verb, metadata: str, wording: Wording = IN_ENGLISH, *, asks: bool = False) -> Block:
    """Return the window that asks for a reason or, with `asks`, for the answer to a question. `short` is the call's
    short ref.
    """
    field: Block = {
        "type": "plain_text_input",
        "action_id": REASON_FIELD,
        "multiline": True,
        "max_length": SECTION,
        "focus_on_load": True,
    }
    question = wording.say("window.why.answer", short=short) if asks else wording.say(f"window.why.{verb}", short=short)
    return {
        "type": "modal",
        "callback_id": REASON_WINDOW,
        "title": _plain(wording.say("window.title.answer") if asks else wording.say("window.title.why")),
        "submit": _plain(wording.say("window.send")),
        "close": _plain(wording.say("window.close")),
        "private_metadata": metadata,
        "blocks": [{"type": "input", "block_id": REASON_FIELD, "label": _plain(question), "element": field}],
    }


def chunks(text: str, units: int = SECTION) -> tuple[str, ...]:
    """Split a text into pieces of at most `units` UTF-16 units; return at least one piece.

    If the second half of a piece has a line feed, the piece ends after its last line feed.
    """
    found, rest = [], text
    while length(rest) > units:
        end = _fits(rest, units)
        line_end = rest.rfind("\n", end // 2, end) + 1
        end = line_end or end
        found.append(rest[:end])
        rest = rest[end:]
    return (*found, rest) if rest or not found else tuple(found)


def cut(text: str, units: int, wording: Wording = IN_ENGLISH) -> str:
    """Return the text in at most `units` UTF-16 units.

    If the middle of the text is cut out, a note in its place says how many characters are missing.
    """
    if length(text) <= units:
        return text
    return cut_middle(text, units if _is_narrow(text) else units // 2, wording).text


def length(value: Any) -> int:
    """Return the number of UTF-16 units of a text, or of all texts in blocks together."""
    if isinstance(value, str):
        return len(value.encode("utf-16-le")) // 2
    if isinstance(value, dict):
        return sum(map(length, value.values()))
    return sum(map(length, value)) if isinstance(value, list | tuple) else 0


def _is_narrow(text: str) -> bool:
    return max(text, default="") <= "\uffff"


def _fits(text: str, units: int) -> int:
    """Return the number of characters at the start of the text that fit into `units` UTF-16 units.

    The text must be longer than that.
    """
    if _is_narrow(text[:units]):
        return units
    widths = itertools.accumulate(1 + (char > "\uffff") for char in text)
    return next(count for count, width in enumerate(widths) if width > units)


def _what(shown: Card, wording: Wording) -> Block:
    """Return the block that shows the request, where it was asked for, the agent's note, the rule, the risk and the
    warnings.
    """
    colon = ":" if shown.parts else ""
    lines = [_line_of(_words(f"{shown.sign} "), _words(cut(shown.headline, SECTION, wording) + colon, bold=True))]
    lines += _thing(shown.parts)
    lines += [_line_of(_words(text)) for text in (shown.below, shown.place) if text]
    if shown.note:
        lines.append({"type": "rich_text_quote", "elements": [_words(cut(shown.note, SECTION, wording))]})
    if shown.rule:
        lines.append(_line_of(_words(shown.rule)))
    lines.append(_line_of(*_rich(shown.stakes)))
    lines += [_line_of(_words(wording.say("card.warning", note=warning))) for warning in shown.warnings]
    return {"type": "rich_text", "elements": lines}


def _thing(parts: Sequence[Part]) -> Iterator[Block]:
    """Yield the blocks of the request's parts. A value follows its name in the same line; code and a diff are in a
    frame.

    An empty value gets no element, because Slack accepts no empty text.
    """
    for part in parts:
        if part.kind in {PartKind.CODE, PartKind.DIFF}:
            yield _preformatted(part.text)
        elif part.kind is PartKind.OURS or not part.name:
            yield _line_of(_words(part.text, italic=True))
        else:
            style = {"italic": True} if part.kind is PartKind.EMPTY else {}
            value = [_words(f" {part.text}", **style)] if part.text else []
            yield _line_of(_words(f"{part.name}:", bold=True), *value)


def _foot(shown: Card, names: Names, wording: Wording) -> Block:
    """Return the block that says who may approve, until when, and how to answer. It mentions only the approvers."""
    told = (*shown.approvers, *(("\n", *shown.how) if shown.how else ()))
    return {"type": "rich_text", "elements": [_line_of(*_rich(told, names, wording))]}


def _actions(call: Call, shown: Card, keys: Keyring, place: str, wording: Wording) -> Block:
    """Return the block with the card's buttons, each with a label that names the request to screen readers."""
    about = cut(shown.push, _READ_ALOUD, wording)
    buttons = [
        _button(action, text, _data(call, keys, verb, place), style)
        | {"accessibility_label": cut(f"{text}: {about}", _READ_ALOUD, wording)}
        for verb, action, text, style in (_answers(shown, wording) if shown.asks else _verdicts(shown, wording))
        if shown.may(verb)
    ]
    return {"type": "actions", "elements": buttons}


def _verdicts(shown: Card, wording: Wording) -> Iterator[_Labelled]:
    """Yield the buttons Approve (green), Reject (red) and Details.

    If one press isn't enough for an approval, the button Approve has no colour and its label ends in dots.
    """
    for verb, action, style in _ACTIONS:
        steps = shown.steps and verb is Verb.APPROVE
        yield verb, action, wording.say("button.approve.steps" if steps else f"button.{verb}"), None if steps else style


def _answers(shown: Card, wording: Wording) -> Iterator[_Labelled]:
    """Yield the buttons of a question: a button for each option, or one button that opens a window in which a person
    types the answer.

    The buttons Decline and Details follow.
    """
    for number, (verb, text) in enumerate(zip(CHOICES, shown.choices, strict=False), start=1):
        yield verb, f"{CHOOSE}:{number}", text, None
    if not shown.choices:
        yield Verb.APPROVE, APPROVE, wording.say("button.answer"), None
    yield Verb.REJECT, REJECT, wording.say("button.decline"), None
    yield Verb.DETAILS, DETAILS, wording.say("button.details"), None


def _closed(call: Call, shown: Card, keys: Keyring, place: str, names: Names, wording: Wording) -> Iterator[Block]:
    """Yield the blocks of an ended call: the outcome with a Details button, then who decided, when and why."""
    details = _button(DETAILS, wording.say("button.details"), _data(call, keys, Verb.DETAILS, place), None)
    yield {**_section(cut(_ended(shown, wording), SECTION, wording)), "accessory": details}
    why = (*shown.end_why, wording.say("card.name", short=shown.short))
    yield {"type": "rich_text", "elements": [_line_of(*_rich(why, names, wording))]}
    if shown.output:
        yield {"type": "rich_text", "elements": [_preformatted(cut(shown.output, OUTPUT_CHARS, wording))]}


def _ended(shown: Card, wording: Wording) -> str:
    return f"{wording.say(f'end.sign.{shown.end_sign}')} {plain(shown.end, in_utc)}"


def _rich(told: Line, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> Iterator[Block]:
    """Yield the Block Kit elements of a line. Slack itself shows an account's name, and a time in the reader's time
    zone.
    """
    for segment in told:
        if isinstance(segment, Who):
            account = names.account(segment.principal, PLATFORM).partition("/")[2]
            yield _user(account) if account and not segment.own else _words(segment.text)
        elif isinstance(segment, Moment):
            moment, form = int(segment.at.timestamp()), "{date_short} {time}" if segment.dated else "{time}"
            yield {"type": "date", "timestamp": moment, "format": form, "fallback": in_utc(segment)}
        elif isinstance(segment, Code):
            yield _words(segment.text, code=True)
        else:
            strong = {"bold": True} if isinstance(segment, Strong) else {}
            yield _words(cut(segment if isinstance(segment, str) else segment.text, SECTION, wording), **strong)


def _data(call: Call, keys: Keyring, verb: Verb, place: str) -> str:
    return ButtonData.sealed(keys, verb, call.ref, digest=call.digest, deadline=call.deadline, place=place).pack()


def _button(action: str, label: str, value: str, style: str | None) -> Block:
    button: Block = {"type": "button", "action_id": action, "text": _plain(label), "value": value}
    return button | ({"style": style} if style else {})


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def _section(text: str) -> Block:
    return {"type": "section", "text": _plain(text)}


def _line_of(*elements: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(elements)}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_plain(text)]}


def _preformatted(text: str) -> Block:
    return {"type": "rich_text_preformatted", "elements": [_words(text)]}


def _words(text: str, **style: bool) -> Block:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


def _link(address: str, wording: Wording) -> Block:
    return {"type": "link", "url": address, "text": f"{wording.say('chat.open')}\n"}


def _user(user: str) -> Block:
    return {"type": "user", "user_id": user}


def _fallback(text: str, wording: Wording = IN_ENGLISH) -> str:
    return cut(text, _FALLBACK, wording).translate(_ENTITIES)


def packed(value: Mapping[str, Any]) -> str:
    """Return data as the text that Slack keeps with a window (`private_metadata`, at most 3,000 characters)."""
    return json.dumps(value, separators=(",", ":"))
