"""HTML parse mode: markup to text and entities, with the refusals of the official server.

Offsets and lengths count UTF-16 code units, as everywhere in the Bot API; byte offsets in the
refusals count UTF-8 bytes of what was sent, as TDLib's `parse_html` does. The tags are those of
the Bot API's "HTML style" section; `tg-time` makes a `date_time` entity.

One deliberate difference: quotations in quotations, and tags inside `pre` or `code`, are refused
here. The documentation forbids them and does not say what becomes of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from hitl.records import replace
from simulators.telegram.errors import ApiError, Json, cant_parse_entities

SPACE: Final = " \t\r\n\0\v\f"
NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
MAX_ENTITIES: Final = 100

Extra = tuple[tuple[str, str | int], ...]

SIMPLE_TAGS: Final = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
}
TAGS: Final = frozenset({*SIMPLE_TAGS, "a", "blockquote", "tg-emoji", "tg-time"})
VERBATIM: Final = frozenset({"pre", "code"})
QUOTES: Final = frozenset({"blockquote", "expandable_blockquote"})

_REFERENCE = re.compile(r"&(?:#x(?P<hex>[0-9a-fA-F]{0,6})|#(?P<dec>[0-9]{0,7})|(?P<name>[A-Za-z]+));?")
_TAG_NAME = re.compile(rf"[^{SPACE}>]*")
_ATTRIBUTE_NAME = re.compile(rf"[^{SPACE}=>]*")
_NAME_TOKEN = re.compile(r"[A-Za-z0-9.-]*")
_BLANK = re.compile(rf"[{SPACE}]*")
_TIME_FORMAT = re.compile(r"r|w?[dD]?[tT]?")


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of a text with a meaning; `extra` holds url, language, user and the like."""

    type: str
    offset: int
    length: int
    extra: Extra = ()

    @property
    def end(self) -> int:
        """Return the first unit after it."""
        return self.offset + self.length

    def as_json(self) -> Json:
        """Return the MessageEntity object."""
        return {"type": self.type, "offset": self.offset, "length": self.length, **dict(self.extra)}


@dataclass(frozen=True, slots=True)
class Formatted:
    """A text and its entities, sorted, outer ones first."""

    text: str
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class _Open:
    """A tag that waits for its end."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    offset: int
    text_at: int

    def get(self, name: str) -> str:
        return dict(self.attributes).get(name, "")


def units(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text) + sum(ord(char) > 0xFFFF for char in text)


def parse_html(source: str) -> Formatted:
    """Return what a message shows for this HTML.

    Raises `ApiError` ("can't parse entities: ...") for markup that isn't well formed.
    """
    parser = _Parser(source)
    parser.run()
    return trim(Formatted("".join(parser.shown), _merge_code(parser.found)))


def trim(formatted: Formatted) -> Formatted:
    """Cut blank ends off a text, as every message loses them; entities that become empty go.

    Leading blanks stay from the first entity on (TDLib's `fix_formatted_text`).
    """
    first = min((entity.offset for entity in formatted.entities), default=len(formatted.text))
    kept = formatted.text.rstrip()
    skipped = min(len(kept) - len(kept.lstrip(" \n")), first)
    end = units(kept)
    cut = (replace(one, length=min(one.end, end) - one.offset) for one in formatted.entities)
    moved = tuple(replace(one, offset=one.offset - skipped) for one in cut if one.length > 0)
    return Formatted(kept[skipped:], moved[:MAX_ENTITIES])


def checked_link(url: str) -> str:
    """Return the address that a text link leads to, or "" for one that clients don't follow.

    A host without a dot is not a host (TDLib's `check_url`).
    """
    full = url if "://" in url or url.startswith("tg:") else f"http://{url}"
    try:
        parts = urlsplit(full)
    except ValueError:
        return ""
    if parts.scheme == "tg":
        return full
    known = parts.scheme in {"http", "https", "ton", "tonsite"} and "." in (parts.hostname or "")
    return (full if parts.path or parts.query else f"{full}/") if known else ""


class _Parser:
    """One walk over the markup."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.offset = 0
        self.shown: list[str] = []
        self.found: list[Entity] = []
        self.open: list[_Open] = []

    def run(self) -> None:
        while self.at < len(self.source):
            self._step()
        if self.open:
            raise _refuse(f'Can\'t find end tag corresponding to start tag "{self.open[-1].name}"')

    def _step(self) -> None:
        char = self.source[self.at]
        if char == "<":
            self._end_tag() if self.source.startswith("</", self.at) else self._start_tag()
        elif char == "&":
            self._show(self._reference())
        else:
            self.at += 1
            self._show(char)

    def _show(self, text: str) -> None:
        self.shown.append(text)
        self.offset += units(text)

    def _reference(self) -> str:
        """Read a character reference; what isn't one stays as it stands."""
        match = _REFERENCE.match(self.source, self.at)
        char = _referred(match) if match else ""
        self.at = match.end() if match and char else self.at + 1
        return char or "&"

    def _byte(self, at: int) -> int:
        return len(self.source[:at].encode("utf-8", "surrogatepass"))

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.source, self.at)
        text = match.group() if match else ""
        self.at += len(text)
        return text

    def _peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def _start_tag(self) -> None:
        begin, self.at = self.at, self.at + 1
        name = self._skip(_TAG_NAME).lower()
        if not self._peek():
            raise _refuse(f"Unclosed start tag at byte offset {self._byte(begin)}")
        if name not in TAGS:
            raise _refuse(f'Unsupported start tag "{name}" at byte offset {self._byte(begin)}')
        attributes = tuple(self._attributes(name, begin))
        self.at += 1
        tag = _Open(name, attributes, self.offset, len(self.shown))
        self._check_tag(tag, self._byte(begin))
        self.open.append(tag)

    def _check_tag(self, tag: _Open, byte: int) -> None:
        if tag.name == "span" and tag.get("class") != "tg-spoiler":
            raise _refuse(f'Tag "span" must have class "tg-spoiler" at byte offset {byte}')
        if tag.name == "blockquote" and any(outer.name == "blockquote" for outer in self.open):
            raise _refuse(f"Nested blockquote at byte offset {byte}")
        if any(outer.name in VERBATIM for outer in self.open) and not self._code_in_pre(tag):
            raise _refuse(f'Tag "{tag.name}" inside verbatim text at byte offset {byte}')

    def _code_in_pre(self, tag: _Open) -> bool:
        return [outer.name for outer in self.open if outer.name in VERBATIM] == ["pre"] and tag.name == "code"

    def _attributes(self, tag: str, begin: int) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        self._skip(_BLANK)
        while self._peek() != ">":
            found.append(self._attribute(tag, begin))
            self._skip(_BLANK)
        return found

    def _attribute(self, tag: str, begin: int) -> tuple[str, str]:
        """Read `name=value`, or a bare name as `expandable` is."""
        name = self._skip(_ATTRIBUTE_NAME)
        if not name:
            raise _refuse(f'Empty attribute name in the tag "{tag}" at byte offset {self._byte(begin)}')
        self._skip(_BLANK)
        if self._peek() != "=":
            return name, ""
        self.at += 1
        return name, self._value(tag, begin)

    def _value(self, tag: str, begin: int) -> str:
        self._skip(_BLANK)
        if not self._peek():
            raise _refuse(f'Unclosed start tag "{tag}" at byte offset {self._byte(begin)}')
        value = self._string() if self._peek() in "'\"" else self._token()
        if not self._peek():
            raise _refuse(f"Unclosed start tag at byte offset {self._byte(begin)}")
        return value

    def _token(self) -> str:
        begin = self.at
        value = self._skip(_NAME_TOKEN).lower()
        if self._peek() and self._peek() not in SPACE + ">":
            raise _refuse(f"Unexpected end of name token at byte offset {self._byte(begin)}")
        return value

    def _string(self) -> str:
        quote, value = self._peek(), ""
        self.at += 1
        while self._peek() not in {quote, ""}:
            value += self._reference() if self._peek() == "&" else self._take()
        self.at += 1
        return value

    def _take(self) -> str:
        self.at += 1
        return self.source[self.at - 1]

    def _end_tag(self) -> None:
        begin = self.at
        if not self.open:
            raise _refuse(f"Unexpected end tag at byte offset {self._byte(begin)}")
        self.at += 2
        name = self._skip(_TAG_NAME).lower()
        self._skip(_BLANK)
        if self._peek() != ">":
            raise _refuse(f"Unclosed end tag at byte offset {self._byte(begin)}")
        self.at += 1
        tag = self.open.pop()
        if name not in {"", tag.name}:
            where = f"at byte offset {self._byte(begin)}"
            raise _refuse(f'Unmatched end tag {where}, expected "</{tag.name}>", found "</{name}>"')
        self._close(tag)

    def _close(self, tag: _Open) -> None:
        length = self.offset - tag.offset
        if not length:
            return
        kind, extra = _meaning(tag, "".join(self.shown[tag.text_at :]))
        if kind:
            self.found.append(Entity(kind, tag.offset, length, extra))


def _refuse(text: str) -> ApiError:
    return ApiError(cant_parse_entities(text))


def _referred(match: re.Match[str]) -> str:
    """Return the character that a reference stands for, "" if none."""
    if match["name"]:
        return NAMED.get(match["name"], "")
    digits, base = (match["hex"], 16) if match["hex"] is not None else (match["dec"], 10)
    code = int(digits or "0", base)
    if code == 0 or code >= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return ""
    return chr(code)


def _meaning(tag: _Open, shown: str) -> tuple[str, Extra]:
    """Return the entity type and fields of a closed tag; type "" for none."""
    if tag.name == "a":
        return _link(tag.get("href") or shown)
    if tag.name == "blockquote":
        return ("expandable_blockquote" if ("expandable", "") in tag.attributes else "blockquote"), ()
    if tag.name == "tg-time":
        return _time(tag)
    if tag.name == "tg-emoji":
        return _emoji(tag.get("emoji-id"))
    language = _language(tag.get("class")) if tag.name == "code" else ""
    return SIMPLE_TAGS[tag.name], (("language", language),) if language else ()


def _language(css: str) -> str:
    return css.removeprefix("language-") if css.startswith("language-") else ""


def _link(url: str) -> tuple[str, Extra]:
    """Return a text link; `tg://user?id=` is a mention."""
    mention = re.fullmatch(r"tg://user\?id=(\d+)", url)
    if mention:
        return "text_mention", (("user_id", int(mention[1])),)
    link = checked_link(url)
    return ("text_link", (("url", link),)) if link else ("", ())


def _time(tag: _Open) -> tuple[str, Extra]:
    unix, shape = tag.get("unix"), tag.get("format")
    if not unix.isdecimal() or int(unix) == 0:
        raise _refuse("Invalid Unix time specified")
    if not _TIME_FORMAT.fullmatch(shape):
        raise _refuse("Invalid date-time format specified")
    return "date_time", (("unix_time", int(unix)), *((("date_time_format", shape),) if shape else ()))


def _emoji(identifier: str) -> tuple[str, Extra]:
    if not identifier.isdecimal() or int(identifier) == 0:
        raise _refuse("Invalid custom emoji identifier specified")
    return "custom_emoji", (("custom_emoji_id", identifier),)


def _merge_code(found: list[Entity]) -> tuple[Entity, ...]:
    """Make one `pre` with a language of `pre` around `code class=language-...`, and sort.

    A language outside of `pre` means nothing and is dropped.
    """
    spans = {(one.offset, one.length): one.extra for one in found if one.type == "code"}
    pres = {(one.offset, one.length) for one in found if one.type == "pre"}
    outer_first = reversed([_with_language(one, spans) for one in found if not _absorbed(one, pres, spans)])
    return tuple(sorted(outer_first, key=lambda one: (one.offset, -one.length)))


def _absorbed(entity: Entity, pres: set[tuple[int, int]], spans: dict[tuple[int, int], Extra]) -> bool:
    span = entity.offset, entity.length
    return entity.type == "code" and span in pres and bool(spans[span])


def _with_language(entity: Entity, spans: dict[tuple[int, int], Extra]) -> Entity:
    if entity.type == "code":
        return replace(entity, extra=())
    if entity.type == "pre":
        return replace(entity, extra=spans.get((entity.offset, entity.length), ()))
    return entity
