"""Parses a document's text into plain values, and notes the line of every entry.

YAML follows the 1.2 core schema (``no`` and ``on`` are texts), without anchors, tags and merge keys. JSON follows RFC
8259. Numbers become ``int`` or ``Decimal``. In both formats, a repeated key or a second document is refused.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from hitl.policy.model import PolicyInvalid, Problem
from hitl.policy.wording import say
from hitl.proof.canonical import pointer_below

Format = Literal["yaml", "json"]
MAX_TEXT = 4_000_000
MAX_DEPTH = 64
_MAX_DIGITS = 4000

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_CORE = (
    (re.compile(r"(?:null|Null|NULL|~|)"), lambda _: None),
    (re.compile(r"(?:true|True|TRUE)"), lambda _: True),
    (re.compile(r"(?:false|False|FALSE)"), lambda _: False),
    (re.compile(r"[-+]?[0-9]{1,4000}"), int),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?"), Decimal),
)  # fmt: skip


@dataclass(slots=True)
class ParsedDocument:
    """The content of a document, the line of each entry by its JSON pointer, and the problems of the text."""

    value: Any = None
    format: Format = "yaml"
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, path: str) -> int:
        """Return the line of the entry at a JSON pointer. If the text has no such entry, return the line of the nearest
        entry that would contain it.
        """
        while path and path not in self.lines:
            path = path.rpartition("/")[0]
        return self.lines.get(path, 1)


class _Broken(Exception):
    def __init__(self, line: int, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(line, "", message, suggestion)


def sniff(text: str) -> Format:
    """Return the probable format of a text: JSON if it begins like an object or an array, else YAML."""
    return "json" if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else "yaml"


def parse(text: str, *, name: str, format: Format | None = None) -> ParsedDocument:  # noqa: A002 - callers pass format=...
    """Return the parsed document. Without ``format``, the text shows whether it is YAML or JSON.

    Raises:
        PolicyInvalid: the text is too long or not well formed; the problem has the line.
    """
    parsed = ParsedDocument()
    if len(text) > MAX_TEXT:
        raise PolicyInvalid(name, [Problem(1, "", say("fault.text.long", most=MAX_TEXT))])
    try:
        if (format or sniff(text)) == "json":
            parsed.format = "json"
            _Json(text.removeprefix("\ufeff"), parsed).document()
        else:
            _yaml(text, parsed)
    except _Broken as broken:
        parsed.problems.append(broken.problem)
    except RecursionError:
        parsed.problems.append(Problem(1, "", say("fault.text.deep")))
    if parsed.problems:
        raise PolicyInvalid(name, parsed.problems)
    return parsed


class _Json:
    """A JSON parser that notes lines. It refuses repeated keys and NaN, which Python's ``json`` accepts."""

    def __init__(self, text: str, parsed: ParsedDocument) -> None:
        self.text = text
        self.parsed = parsed
        self.at = 0
        self.breaks = [found.start() for found in re.finditer("\n", text)]

    def document(self) -> None:
        self.parsed.value = self.value("", 0)
        if self.peek():
            raise self.broken(say("fault.json.after"))

    def broken(self, message: str) -> _Broken:
        return _Broken(self.line(), message)

    def line(self) -> int:
        return bisect_left(self.breaks, self.at) + 1

    def peek(self) -> str:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def expect(self, char: str) -> None:
        if self.peek() != char:
            raise self.broken(say("fault.json.expected", char=repr(char)))
        self.at += 1

    def value(self, path: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise self.broken(say("fault.json.deep"))
        first = self.peek()
        self.parsed.lines[path] = self.line()
        if first == "{":
            return self.object(path, depth)
        if first == "[":
            return self.array(path, depth)
        return self.string() if first == '"' else self.scalar()

    def object(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while self.peek() != "}":
            if found:
                self.expect(",")
            if self.peek() != '"':
                raise self.broken(say("fault.json.key"))
            key = self.string()
            if key in found:
                raise self.broken(say("fault.text.twice", key=repr(key)))
            self.expect(":")
            found[key] = self.value(pointer_below(path, key), depth + 1)
        self.at += 1
        return found

    def array(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while self.peek() != "]":
            if found:
                self.expect(",")
            found.append(self.value(pointer_below(path, len(found)), depth + 1))
        self.at += 1
        return found

    def string(self) -> str:
        try:
            found, self.at = json.decoder.scanstring(self.text, self.at + 1)  # type: ignore[attr-defined]
        except ValueError as error:
            raise self.broken(say("fault.json.text")) from error
        if re.search("[\ud800-\udfff]", found):
            raise self.broken(say("fault.json.surrogate"))
        return str(found)

    def scalar(self) -> Any:
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        found = _NUMBER.match(self.text, self.at)
        if found is None or len(found.group()) > _MAX_DIGITS:
            raise self.broken(say("fault.json.value"))
        self.at = found.end()
        return Decimal(found.group()) if found.group(1) or found.group(2) else int(found.group())


#: Words in an error of PyYAML, or in its context -> the last part of the key of our sentence. The first match counts.
_YAML_FAULTS: Mapping[str, str] = {
    "cannot start": "start",
    "nesting depth": "deep",
    "escape": "escape",
    "quoted scalar": "quote",
    "mapping values": "colon",
    "flow": "bracket",
    "block": "indent",
    "simple key": "key",
}
#: The sentences about something that isn't complete. The line is the line of its beginning.
_INCOMPLETE = frozenset({"quote", "bracket", "key"})


def _yaml(text: str, parsed: ParsedDocument) -> None:
    import yaml  # noqa: PLC0415 - slow to import, and JSON documents don't need it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = iter(list(yaml.parse(text, Loader=loader)))
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(text, error) from error
    except yaml.reader.ReaderError as error:
        line = text.encode("utf-8", "replace").count(b"\n", 0, error.position) + 1
        raise _Broken(line, say("fault.yaml.at.control"), say("fault.do.yaml.at.control")) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise _Broken(1, say("fault.yaml")) from error
    builder = _Yaml(events, parsed)
    builder.document()


def _not_yaml(text: str, error: Any) -> _Broken:
    """Return the problem of a text that isn't YAML, in our own words: PyYAML's words are for programmers."""
    words = f"{error.problem} {error.context or ''}"
    kind = next((kind for said, kind in _YAML_FAULTS.items() if said in words), "")
    first, last = error.context_mark or error.problem_mark, error.problem_mark or error.context_mark
    mark = first if kind in _INCOMPLETE else last
    line = mark.line + 1 if mark else 1
    if kind == "start" and mark:
        sign = text.removeprefix("\ufeff").split("\n")[mark.line][mark.column : mark.column + 1]
        if sign != "\t":
            return _Broken(line, say("fault.yaml.start", sign=sign), say("fault.do.yaml.start"))
        kind = "tab"
    if kind == "deep":
        return _Broken(line, say("fault.text.deep"))
    if not kind:
        return _Broken(line, say("fault.yaml"))
    return _Broken(line, say(f"fault.yaml.at.{kind}"), say(f"fault.do.yaml.at.{kind}"))


class _Yaml:
    """Builds plain values from YAML events. Anchors, aliases, tags and merge keys are refused."""

    def __init__(self, events: Iterator[Any], parsed: ParsedDocument) -> None:
        self.events = events
        self.parsed = parsed

    def document(self) -> None:
        documents = 0
        for event in self.events:
            if type(event).__name__ == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise _Broken(event.start_mark.line + 1, say("fault.yaml.second"))
                self.parsed.value = self.value(next(self.events), "", 0)

    def value(self, event: Any, path: str, depth: int) -> Any:
        line = event.start_mark.line + 1
        self.parsed.lines[path] = line
        if depth > MAX_DEPTH:
            raise _Broken(line, say("fault.text.deep"))
        kind = type(event).__name__
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise _Broken(line, say("fault.yaml.anchor"), say("fault.do.write_entry"))
        if getattr(event, "tag", None):
            raise _Broken(line, say("fault.yaml.tag", tag=event.tag), say("fault.do.leave_out"))
        if kind == "MappingStartEvent":
            return self.mapping(path, depth)
        return self.sequence(path, depth) if kind == "SequenceStartEvent" else _scalar(event)

    def mapping(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while type(event := next(self.events)).__name__ != "MappingEndEvent":
            line = event.start_mark.line + 1
            if type(event).__name__ != "ScalarEvent" or event.anchor or event.tag:
                raise _Broken(line, say("fault.yaml.key"))
            key = event.value
            if key in found:
                raise _Broken(line, say("fault.text.twice", key=repr(key)))
            if key == "<<" and event.style in (None, ""):
                raise _Broken(line, say("fault.yaml.merge"), say("fault.do.write_entries"))
            found[key] = self.value(next(self.events), pointer_below(path, key), depth + 1)
            self.parsed.lines[pointer_below(path, key)] = line
        return found

    def sequence(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while type(event := next(self.events)).__name__ != "SequenceEndEvent":
            found.append(self.value(event, pointer_below(path, len(found)), depth + 1))
        return found


def _scalar(event: Any) -> Any:
    if event.style not in (None, ""):
        return event.value
    for pattern, read in _CORE:
        if pattern.fullmatch(event.value):
            return read(event.value)
    return event.value
