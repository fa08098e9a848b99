"""Reads a Slack message as people see it, with its formatted spans: from its rich text, else from its mrkdwn.

Slack sends a person's message twice in one event: as `blocks` with one rich_text block ("Block Kit: rich text block"),
and as `text` in mrkdwn ("Formatting text for app surfaces"). The blocks show the typed text more exactly, so this
module reads the blocks if they exist. A yes in code, or in the label of a link or a date, never counts as the person's
own yes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hitl.events import BEFORE_NAME
from hitl.replies import Span, SpanKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: Slack's names of the emoji that can be an answer, and their characters, which the reply reader understands.
EMOJI = {
    "+1": "👍",
    "thumbsup": "👍",
    "white_check_mark": "✅",
    "heavy_check_mark": "✔",
    "ballot_box_with_check": "☑",
    "ok_hand": "👌",
    "-1": "👎",
    "thumbsdown": "👎",
    "x": "❌",
    "no_entry_sign": "🚫",
    "heavy_multiplication_x": "✖",
    "octagonal_sign": "🛑",
}
_LEADING = re.compile(r"\s*:([a-z0-9_+-]+):(?::skin-tone-[1-6]:)?")
#: Markup in mrkdwn, such as `<@U1>`, `<#C1|general>`, `<!here>`, `<https://...|words>`. Slack escapes every other angle
#: bracket.
_MARKUP = r"<(?P<sign>[@#!]?)(?P<name>[^<>|]*)(?:\|(?P<label>[^<>]*))?>"
_LITERAL = re.compile(_MARKUP)
_MRKDWN = re.compile(r"```(?P<pre>.+?)```|`(?P<code>[^`\n]+)`|~(?P<struck>(?=\S)[^~\n]*(?<=\S))~|" + _MARKUP, re.DOTALL)
_INNER = {"pre": SpanKind.CODE, "code": SpanKind.CODE, "struck": SpanKind.STRUCK}
#: Matches a quoted line (`> words`), or everything after `>>>`.
_QUOTED = re.compile(r"^[^\S\n]*>(?:>>.*|[^\n]*)", re.DOTALL | re.MULTILINE)
_ESCAPED = re.compile("&(lt|gt|amp);")
_CHARACTERS = {"lt": "<", "gt": ">", "amp": "&"}
#: The text that replaces a mention of the bot by user id. The reply reader doesn't take it for a person's name.
_OUR_NAME = "sayso"
#: Characters that may follow the bot's name at the end of a text.
_AFTER_WORDS = " .!\n"
#: Characters that may follow the bot's name at the start of a text.
_AFTER_NAME = re.compile(r"(?:[,:](?=\s))?\s*")
_STYLES = {"strike": SpanKind.STRUCK, "code": SpanKind.CODE}
_BLOCKS = {"rich_text_quote": SpanKind.QUOTE, "rich_text_preformatted": SpanKind.CODE}
#: Types of elements that mention people, each with the field that holds the id.
_MENTIONS = {"user": "user_id", "usergroup": "usergroup_id", "team": "team_id", "broadcast": "range"}
#: Types of elements that aren't the sender's own words. Each has the fields that may hold its visible text, in the
#: order in which they are tried.
_LINKED: Mapping[str, Sequence[str]] = {
    "link": ("text", "url"),
    "date": ("fallback", "format"),
    "channel": ("channel_id",),
}


class FormattedText(NamedTuple):
    """A text as people see it, and its formatted spans."""

    text: str
    spans: tuple[Span, ...]


def shown(event: Mapping[str, Any], me: str) -> FormattedText:
    """Return the text of a person's message without the bot's name at either end. `me` is the bot's user id."""
    blocks = event.get("blocks")
    if isinstance(blocks, list) and blocks:
        return _of_blocks(blocks, me)
    return _of_mrkdwn(str(event.get("text") or ""), me)


def plain(text: str) -> str:
    """Return a command's text as people see it: mentions and links by their labels, escapes as characters.

    An emoji at the start becomes a character too, because it can be the whole answer. Elsewhere a name between colons
    stays text.
    """
    page = _Page("")
    _render(page, text, _LITERAL)
    return _signed(page.done()).text


@dataclass(slots=True)
class _Page:
    """A text and its formatted spans, while the parts of a message are added to it one by one."""

    me: str
    text: str = ""
    spans: list[Span] = field(default_factory=list)
    #: The positions of the bot's name in the text.
    ours: list[tuple[int, int]] = field(default_factory=list)

    def write(self, text: str, kind: SpanKind | None = None) -> None:
        """Add text. If `kind` is given, the added text becomes one span of that kind."""
        self.within(kind, lambda: self._add(text))

    def within(self, kind: SpanKind | None, write: Callable[[], None]) -> None:
        """Call `write`, which adds text. If a kind is given, the added text becomes one span of that kind."""
        start = len(self.text)
        write()
        if kind is not None:
            self.spans.append(Span(start, len(self.text), kind))

    def mention(self, sign: str, who: str, label: str = "") -> None:
        """Add a mention. A mention of the bot itself isn't a formatted span, because it addresses nobody else."""
        start, name = len(self.text), label or (_OUR_NAME if who == self.me else who)
        self.write(name if name.startswith(sign) else f"{sign}{name}")
        if who == self.me:
            self.ours.append((start, len(self.text)))
        else:
            self.spans.append(Span(start, len(self.text), SpanKind.MENTION))

    def done(self) -> FormattedText:
        """Return the text without the bot's name at its ends. There the name only says whom the text addresses."""
        whole = FormattedText(self.text, tuple(self.spans))
        for start, end in reversed(self.ours):
            if not whole.text[:start].strip():
                whole = _replaced(whole, 0, _after_name(whole.text, end), "")
            elif not whole.text[end:].strip(_AFTER_WORDS):
                whole = _replaced(whole, len(whole.text[:start].rstrip(BEFORE_NAME)), len(whole.text), "")
        return whole

    def _add(self, text: str) -> None:
        self.text += text


def _after_name(text: str, end: int) -> int:
    """Return the position of the first word after the bot's name at the start."""
    found = _AFTER_NAME.match(text, end)
    return found.end() if found else end


def _replaced(whole: FormattedText, start: int, end: int, new: str) -> FormattedText:
    """Return the text with the characters from `start` to `end` replaced, and its spans moved accordingly."""
    longer = len(new) - (end - start)

    def moved(index: int) -> int:
        return index if index <= start else max(index, end) + longer

    spans = (Span(moved(one.start), moved(one.end), one.kind) for one in whole.spans)
    text = whole.text[:start] + new + whole.text[end:]
    return FormattedText(text, tuple(one for one in spans if one.start < one.end))


# -- reading mrkdwn -----------------------------------------------------------------------------------------


def _of_mrkdwn(text: str, me: str) -> FormattedText:
    page = _Page(me)
    _render(page, text, _MRKDWN)
    found = page.done()
    quoted = (Span(*one.span(), SpanKind.QUOTE) for one in _QUOTED.finditer(found.text))
    return _signed(FormattedText(found.text, (*found.spans, *quoted)))


def _render(page: _Page, raw: str, pattern: re.Pattern[str]) -> None:
    at = 0
    for found in pattern.finditer(raw):
        page.write(_unescaped(raw[at : found.start()]))
        _render_one(page, found, pattern)
        at = found.end()
    page.write(_unescaped(raw[at:]))


def _render_one(page: _Page, found: re.Match[str], pattern: re.Pattern[str]) -> None:
    """Add formatted text, which may contain other formatting, or a mention, or a link."""
    kind = _INNER.get(str(found.lastgroup))
    if kind is not None:
        inner = found[str(found.lastgroup)]
        return page.within(kind, lambda: _render(page, inner, pattern))
    sign, name, label = found["sign"], _unescaped(found["name"]), _unescaped(found["label"] or "")
    if sign == "@":
        return page.mention("@", name, label)
    if sign == "!":
        return page.write(label or f"@{name}", SpanKind.LINK if "^" in name and label[:1] != "@" else SpanKind.MENTION)
    return page.write(label if label.startswith(sign) and label else f"{sign}{label or name}", SpanKind.LINK)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _CHARACTERS[found[1]], text)


def _signed(whole: FormattedText) -> FormattedText:
    """If an emoji's name is at the start of the text, replace the name by the emoji's character. Return the text.

    An emoji at the start can be the whole answer.
    """
    found = _LEADING.match(whole.text)
    sign = EMOJI.get(found[1]) if found else None
    return _replaced(whole, found.start(), found.end(), sign) if found and sign else whole


# -- reading rich text --------------------------------------------------------------------------------------


def _of_blocks(blocks: Sequence[object], me: str) -> FormattedText:
    """Return the text of rich_text blocks.

    People can't type any other kind of block. So for any other block, the text gets the name of the block's type, as a
    span of the kind link, which never decides.
    """
    page = _Page(me)
    for block in blocks:
        if _type(block) != "rich_text":
            page.write(f"[{_type(block)}]\n", SpanKind.LINK)
            continue
        for part in _elements(block):
            _part(page, part)
    return page.done()


def _part(page: _Page, part: Mapping[str, Any], lead: str = "") -> None:
    """Add a section, a quotation, code, or the items of a list. Each begins on its own line."""
    if _type(part) == "rich_text_list":
        for item in _elements(part):
            _part(page, item, "• ")
        return
    if page.text and not page.text.endswith("\n"):
        page.write("\n")
    page.write(lead)
    page.within(_BLOCKS.get(_type(part)), lambda: _inline(page, _elements(part)))


def _inline(page: _Page, elements: Iterable[Mapping[str, Any]]) -> None:
    for element in elements:
        start = len(page.text)
        _element(page, element)
        style = element.get("style")
        for name, kind in _STYLES.items():
            if isinstance(style, dict) and style.get(name):
                page.spans.append(Span(start, len(page.text), kind))


def _element(page: _Page, element: Mapping[str, Any]) -> None:
    """Add one element. The text of an element of an unknown type never counts as the person's own words."""
    kind = _type(element)
    if kind in {"text", "color"}:
        page.write(str(element.get("text") or element.get("value") or ""))
    elif kind == "emoji":
        _emoji(page, element)
    elif kind in _MENTIONS:
        page.mention("@", str(element.get(_MENTIONS[kind]) or ""))
    else:
        words = next((str(element[name]) for name in _LINKED.get(kind, ()) if element.get(name)), f"[{kind}]")
        page.write(f"#{words}" if kind == "channel" else words, SpanKind.LINK)


def _emoji(page: _Page, element: Mapping[str, Any]) -> None:
    """Add an emoji's character, or its name if it has no character.

    An emoji without a character is a workspace's own picture, and its name never counts as an answer.
    """
    name = str(element.get("name") or "").partition("::")[0]
    sign = EMOJI.get(name) or _characters(str(element.get("unicode") or ""))
    page.write(sign or f":{name}:", None if sign else SpanKind.LINK)


def _characters(code: str) -> str:
    """Return the characters of code points, such as `1f44d-1f3fb`.

    Return '' if the text isn't a list of code points.
    """
    try:
        return "".join(chr(int(part, 16)) for part in code.split("-"))
    except (ValueError, OverflowError):
        return ""


def _elements(part: object) -> list[Mapping[str, Any]]:
    found = part.get("elements") if isinstance(part, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _type(part: object) -> str:
    return str(part.get("type") or "") if isinstance(part, dict) else ""
