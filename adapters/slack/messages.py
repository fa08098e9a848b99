"""Cards, answers and windows as Block Kit: pure functions from calls to blocks.

Whatever an agent wrote stands in `plain_text` or in `rich_text`, where Slack parses no markup: nothing in it is
live, and nothing needs an escape. Only the fallback text of notifications is markup, so `&`, `<` and `>` are escaped
there ("Formatting text for app surfaces"). Lengths are counted in UTF-16 units, which never under-counts.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hitl.cards import Card, card, outcome, outcome_for_agent
from hitl.model import Verb
from hitl.records import replace
from hitl.text import cut_middle
from hitl.tokens import ButtonData, Keyring
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hitl.model import Call

Block: TypeAlias = "dict[str, Any]"

#: Block Kit reference: a section's text, and a header.
SECTION = 3000
HEADER = 150
#: The longest text of ours, in sections; it leaves room for whatever stands around it.
LONGEST = 12_000
#: What one page of the details holds, in blocks that a section's limit would fit too.
PAGE = 9_000
_CHUNK = 2_800
_SMALL = 300
_MOST_MENTIONS = 20
_FALLBACK = 500

APPROVE, REJECT, DETAILS = "sayso:approve", "sayso:reject", "sayso:details"
PAGE_ACTION = "sayso:page"
REASON_WINDOW = "sayso:reason"
REASON_FIELD = "reason"
_ACTIONS = ((Verb.APPROVE, APPROVE, "primary"), (Verb.REJECT, REJECT, "danger"), (Verb.DETAILS, DETAILS, None))
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class Message:
    """A message to be: its blocks, and the text that notifications and screen readers get."""

    blocks: tuple[Block, ...]
    text: str


def card_message(
    call: Call, keys: Keyring, place: str, mentioned: Sequence[str] = (), *, heard: bool = True
) -> Message:
    """The card of a call as it is now, for one channel (`place`). Buttons and mentions only while it waits.

    `mentioned` are the user ids of those who may answer; `heard` says whether words from that channel reach us.
    """
    shown = card(call)
    if not heard:
        shown = replace(shown, how=say("card.how.buttons", short=call.short))
    blocks = [*_what(shown), _arguments(shown), *_around(shown)]
    blocks += _open(call, shown, keys, place, mentioned) if shown.open else _closed(shown)
    fallback = f"{shown.title} · {shown.short}: {shown.sentence if shown.open else shown.outcome}"
    return Message(tuple(filter(None, blocks)), _fallback(fallback))


def plain_message(text: str) -> Message:
    """A sentence of ours, cut in the middle where no message can hold it; what it quotes can't be live."""
    return Message(tuple(map(_section, chunks(cut(text, LONGEST)))), _fallback(text))


def notice_message(call: Call, mentioned: Sequence[str]) -> Message:
    """How a call ended, for the conversation that asked; `mentioned` are the user ids of whoever asked."""
    told = outcome_for_agent(call)
    people = [*itertools.chain.from_iterable((_user(one), _words(" ")) for one in mentioned)]
    # A rejection's reason may be as long as a person likes; a section's limit holds here too.
    lines: list[Block] = [{"type": "rich_text_section", "elements": [*people, _words(cut(told, SECTION))]}]
    output = card(call).output
    lines += map(_preformatted, chunks(cut(output, PAGE), _CHUNK)) if output else ()
    return Message(({"type": "rich_text", "elements": lines},), _fallback(told))


def outcome_message(call: Call) -> Message:
    """What to say where a card can't be edited."""
    return plain_message(f"{call.short}: {outcome(call)}")


def page_message(ref: str, text: str, number: int) -> Message:
    """One page of a text that is told whole, with buttons to the others."""
    return Message(page_blocks(ref, text, number), _fallback(text))


def page_window(ref: str, text: str, number: int, metadata: str) -> Block:
    """The same as a window in front of one person."""
    return {
        "type": "modal",
        "title": _plain(say("window.title.details")),
        "close": _plain(say("window.close")),
        "private_metadata": metadata,
        "blocks": list(page_blocks(ref, text, number)),
    }


def page_blocks(ref: str, text: str, number: int) -> tuple[Block, ...]:
    """The blocks of a page, numbered from 0; a number out of range is the nearest page."""
    pages = chunks(text, PAGE)
    at = min(max(number, 0), len(pages) - 1)
    shown: Block = {"type": "rich_text", "elements": [_preformatted(part) for part in chunks(pages[at], _CHUNK)]}
    if len(pages) == 1:
        return (shown,)
    others = ((at - 1, "window.page.before"), (at + 1, "window.page.next"))
    buttons = [
        _button(f"{PAGE_ACTION}:{page}", say(label), ref, None) for page, label in others if 0 <= page < len(pages)
    ]
    where = _context(say("window.page", page=at + 1, pages=len(pages)))
    return (shown, where, {"type": "actions", "elements": buttons})


def reason_window(short: str, verb: Verb, metadata: str) -> Block:
    """The window that asks why."""
    field: Block = {
        "type": "plain_text_input",
        "action_id": REASON_FIELD,
        "multiline": True,
        "max_length": SECTION,
        "focus_on_load": True,
    }
    question = say(f"window.why.{verb}", short=short)
    return {
        "type": "modal",
        "callback_id": REASON_WINDOW,
        "title": _plain(say("window.title.why")),
        "submit": _plain(say("window.send")),
        "close": _plain(say("window.close")),
        "private_metadata": metadata,
        "blocks": [{"type": "input", "block_id": REASON_FIELD, "label": _plain(question), "element": field}],
    }


def chunks(text: str, units: int = SECTION) -> tuple[str, ...]:
    """The text in pieces of at most so many UTF-16 units, ended at line feeds where there are any; at least one."""
    found, rest = [], text
    while length(rest) > units:
        end = _fits(rest, units)
        line_end = rest.rfind("\n", 0, end) + 1
        end = line_end or end
        found.append(rest[:end])
        rest = rest[end:]
    return (*found, rest) if rest or not found else tuple(found)


def cut(text: str, units: int) -> str:
    """The text in at most so many UTF-16 units, its middle left out and counted."""
    return text if length(text) <= units else cut_middle(text, units if _is_narrow(text) else units // 2).text


def length(value: Any) -> int:
    """UTF-16 units of a text, or of all texts in blocks together."""
    if isinstance(value, str):
        return len(value.encode("utf-16-le")) // 2
    if isinstance(value, dict):
        return sum(map(length, value.values()))
    return sum(map(length, value)) if isinstance(value, list | tuple) else 0


def _is_narrow(text: str) -> bool:
    return max(text, default="") <= "\uffff"


def _fits(text: str, units: int) -> int:
    """How many characters of the text take so many units."""
    if _is_narrow(text[:units]):
        return units
    widths = itertools.accumulate(1 + (char > "\uffff") for char in text)
    return next(count for count, width in enumerate(widths) if width > units)


def _what(shown: Card) -> Iterator[Block]:
    yield {"type": "header", "text": _plain(cut(f"{shown.title} · {shown.short}", HEADER))}
    # Slack takes no empty text.
    if shown.sentence:
        yield _section(cut(shown.sentence, SECTION))
    if shown.why:
        yield _context(cut(shown.why, SECTION))


def _arguments(shown: Card) -> Block:
    """Names in bold, each value in a frame of its own."""
    lines: list[Block] = []
    for name, value in shown.arguments:
        lines.append({"type": "rich_text_section", "elements": _named(name, value)})
        lines += [_preformatted(value)] if value else []
    lines += [_preformatted(shown.preview)] if shown.preview else []
    return {"type": "rich_text", "elements": lines} if lines else {}


def _named(name: str, value: str) -> list[Block]:
    """Slack takes no empty text, so an empty value is said, in letters that no value has."""
    label = _words(f"{name}:", bold=True)
    return [label] if value else [label, _words(f" {say('card.empty')}", italic=True)]


def _around(shown: Card) -> Iterator[Block]:
    if shown.warnings:
        yield _section(cut("\n".join(shown.warnings), SECTION))
    if shown.note:
        yield _context(cut(shown.note, SECTION))
    yield _context(cut(f"{shown.who} · {say('card.mark', mark=shown.mark)}", SECTION))


def _open(call: Call, shown: Card, keys: Keyring, place: str, mentioned: Sequence[str]) -> Iterator[Block]:
    before, time, after = say("card.ends", time="\0").partition("\0")
    del time
    ends = [_words(before), _date(shown), _words(f"{after}\n→ {shown.how}")]
    people = itertools.chain.from_iterable((_words(" "), _user(one)) for one in mentioned[:_MOST_MENTIONS])
    yield {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [*ends, *people]}]}
    buttons = [
        _button(action, say(f"button.{verb}"), _data(call, keys, verb, place), style)
        for verb, action, style in _ACTIONS
    ]
    yield {"type": "actions", "elements": buttons}


def _closed(shown: Card) -> Iterator[Block]:
    sign = say("sign.done" if shown.done else "sign.over")
    yield _section(cut(f"{sign} {shown.outcome}", SECTION))
    if shown.output:
        yield {"type": "rich_text", "elements": [_preformatted(cut(shown.output, _SMALL))]}


def _date(shown: Card) -> Block:
    """The time of day on the reader's own clock; where it can't be shown, in UTC."""
    moment = int(shown.deadline.timestamp())
    return {"type": "date", "timestamp": moment, "format": "{time_secs}", "fallback": shown.ends_at}


def _data(call: Call, keys: Keyring, verb: Verb, place: str) -> str:
    return ButtonData.sealed(keys, verb, call.ref, digest=call.digest, deadline=call.deadline, place=place).pack()


def _button(action: str, label: str, value: str, style: str | None) -> Block:
    button: Block = {"type": "button", "action_id": action, "text": _plain(label), "value": value}
    return button | ({"style": style} if style else {})


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def _section(text: str) -> Block:
    return {"type": "section", "text": _plain(text)}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_plain(text)]}


def _preformatted(text: str) -> Block:
    return {"type": "rich_text_preformatted", "elements": [_words(text)]}


def _words(text: str, **style: bool) -> Block:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


def _user(user: str) -> Block:
    return {"type": "user", "user_id": user}


def _fallback(text: str) -> str:
    return cut(text, _FALLBACK).translate(_ENTITIES)


def packed(value: Mapping[str, Any]) -> str:
    """What a window remembers (`private_metadata`, 3,000 characters)."""
    return json.dumps(value, separators=(",", ":"))
