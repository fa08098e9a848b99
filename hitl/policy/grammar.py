"""Describes the kinds of values in a policy document. The reader and the JSON Schema follow these descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from hitl.cards.text import one_line
from hitl.policy.model import Action, Problem
from hitl.policy.text import ParsedDocument
from hitl.policy.wording import say
from hitl.proof.canonical import pointer_below
from hitl.records import replace

MAX_ENTRIES: Final = 10_000
#: A problem shows at most this many characters of a value.
_LONGEST_VALUE: Final = 80
NOT_YET: Final = {
    "quorum": "fault.not_yet.approvals",
    "min_approvals": "fault.not_yet.approvals",
    "approvals": "fault.not_yet.approvals",
    "standing": "fault.not_yet.standing",
    "remember": "fault.not_yet.standing",
    "trusted_binaries": "fault.not_yet.binaries",
}


class Notes:
    """Collects the problems and warnings of a document, and reads values of the simplest kinds."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self.parsed = parsed
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def refuse(self, path: str, message: str, suggestion: str | None = None) -> None:
        """Add a problem: the document must not be used."""
        self.problems.append(Problem(self.parsed.line(path), path, message, suggestion))

    def warn(self, path: str, message: str, suggestion: str | None = None) -> None:
        """Add a warning of a probable mistake."""
        self.warnings.append(Problem(self.parsed.line(path), path, message, suggestion))

    def strictly(self, path: str, message: str, suggestion: str | None = None) -> None:
        """Add a problem for an entry that is wrong in a strict dialect. A lenient dialect overrides this to add a
        warning.
        """
        self.refuse(path, message, suggestion)

    def keys(self, value: Mapping[str, Any], path: str, known: Iterable[str]) -> None:
        """Add a problem, or in a lenient dialect a warning, for each key that isn't known."""
        names = tuple(known)
        for key in value:
            if key in NOT_YET:
                self.refuse(pointer_below(path, key), say(NOT_YET[key]), say("fault.do.leave_out"))
            elif key not in names:
                self.strictly(pointer_below(path, key), say("fault.key", key=repr(key)), closest(key, names))

    def record(
        self, value: Mapping[str, Any], path: str, fields: Mapping[str, EntryKind], required: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Read an object. Return its fields that are present or required, in the order of ``fields``."""
        self.keys(value, path, fields)
        found: dict[str, Any] = {}
        for key, kind in fields.items():
            if key not in value and key not in required:
                continue
            where = pointer_below(path, key)
            # An unknown action is reported as a separate problem.
            if kind.only and found["action"] != kind.only and value.get("action", found["action"]) == found["action"]:
                said = say("fault.key.action", action=found["action"])
                self.refuse(where, said, say("fault.do.action", action=kind.only))
            found[key] = kind.read(self, value.get(key), where)
        return found

    def choice(self, value: Any, path: str, options: tuple[Any, ...], fallback: Any) -> Any:
        """Return the value if it is one of the options. Otherwise add a problem and return ``fallback``."""
        if value in options and isinstance(value, str):
            return value
        names = ", ".join(options)
        if value is None:
            self.refuse(path, say("fault.choice.none"), say("fault.do.one_of", options=names))
            return fallback
        near = closest(value, options) if isinstance(value, str) else None
        self.refuse(path, say("fault.choice", value=spelled(value), options=names), near)
        return fallback

    def flag(self, value: Any, path: str) -> bool:
        """Return the value if it is true or false. Otherwise add a problem and return False."""
        if not isinstance(value, bool):
            self.refuse(path, say("fault.takes.flag"))
        return value is True

    def text(self, value: Any, path: str) -> str | None:
        """Return the value if it is a text that isn't blank. Otherwise add a problem and return None."""
        if not isinstance(value, str) or not value.strip():
            self.refuse(path, say("fault.takes.text"))
            return None
        return value

    def seconds(self, value: Any, path: str, low: int, high: int) -> int | None:
        """Return the value, a whole number of seconds. Add a problem if it is out of bounds; return None if it isn't a
        number.
        """
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(path, say("fault.takes.seconds"))
            return None
        if not low <= value <= high:
            self.refuse(path, say("fault.seconds", low=low, high=high))
        return value

    def items(self, value: Any, path: str) -> list[Any]:
        """Return the first MAX_ENTRIES entries of a list. Add a problem for more entries or for another value."""
        if not isinstance(value, list):
            self.refuse(path, say("fault.takes.list"))
            return []
        if len(value) > MAX_ENTRIES:
            self.refuse(path, say("fault.entries", most=MAX_ENTRIES))
        return value[:MAX_ENTRIES]


def spelled(value: Any) -> str:
    """Return a value of a document for a sentence: a text in quotes, true, false and null as in the document."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict | list):
        return say("fault.group")
    return one_line(repr(value) if isinstance(value, str) else str(value), _LONGEST_VALUE)


@dataclass(frozen=True, slots=True)
class EntryKind:
    """A kind of value in a document: the function that reads such a value, and its JSON Schema."""

    read: Callable[[Any, Any, str], Any]
    schema: Mapping[str, Any]
    #: The only rule action with which a key of this kind may be used, or None for any action.
    only: Action | None = None

    def for_action(self, action: Action) -> EntryKind:
        """Return a copy of this kind for a key that is allowed only in rules with the given action."""
        return replace(self, only=action)


TEXT: Final = EntryKind(Notes.text, {"type": "string", "minLength": 1})
FLAG: Final = EntryKind(Notes.flag, {"type": "boolean"})


def choice(options: tuple[Any, ...], fallback: Any, **more: Any) -> EntryKind:
    """Return the kind of a value that must be one of ``options``. ``fallback`` replaces a wrong value.

    ``more`` are further keys of the JSON Schema.
    """
    return EntryKind(lambda notes, *given: notes.choice(*given, options, fallback), {"enum": list(options), **more})


def seconds(low: int, high: int) -> EntryKind:
    """Return the kind of a value that is a whole number of seconds within these bounds."""
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return EntryKind(lambda notes, *given: notes.seconds(*given, low, high), schema)


def texts(takes: str, such: str, *, blank: bool) -> EntryKind:
    """Return the kind of a value that is a list of at least one text.

    For any other value, ``takes`` is the message of the problem and ``such`` its suggestion. With ``blank``, a text may
    consist of blanks.
    """

    def read(notes: Notes, value: Any, path: str) -> tuple[str, ...] | None:
        found = notes.items(value, path)
        if found and all(isinstance(one, str) and (one if blank else one.strip()) for one in found):
            return tuple(found)
        notes.refuse(path, takes, such)
        return None

    return EntryKind(read, some(TEXT.schema))


def record(fields: Mapping[str, EntryKind], build: Callable[..., Any], *, takes: str, empty: bool = True) -> EntryKind:
    """Return the kind of a value that is an object. Its fields are passed to ``build`` as keyword arguments.

    ``takes`` is the message of the problem for any other value. Without ``empty``, an empty object is a problem too.
    """

    def read(notes: Notes, value: Any, path: str) -> Any:
        if not isinstance(value, dict) or not (value or empty):
            notes.refuse(path, takes)
            return build()
        return build(**notes.record(value, path, fields))

    return EntryKind(read, described(fields) if empty else {**described(fields), "minProperties": 1})


def some(entry: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the JSON Schema of a list with at least one entry."""
    return {"type": "array", "items": entry, "minItems": 1, **more}


def one_or_some(entry: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the JSON Schema of a single entry, or of a list of entries."""
    return {"anyOf": [entry, some(entry, **more)]}


def described(fields: Mapping[str, EntryKind], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of an object with these keys.

    A key with ``only`` is forbidden in an object with another action. For example, a rule that denies can't have a key
    that is only for ``approve``.
    """
    actions = {kind.only for kind in fields.values() if kind.only}
    schema = closed({key: kind.schema for key, kind in fields.items()}, required)
    if actions:
        schema["allOf"] = [
            {
                "if": {"properties": {"action": {"const": action}}},
                "then": {"properties": {key: False for key, kind in fields.items() if kind.only not in (None, action)}},
            }
            for action in fields["action"].schema["enum"]
        ]
    return schema


def closed(properties: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": list(required)}


def closest(name: Any, known: Iterable[str]) -> str | None:
    """Return a suggestion for an unknown name if a known name looks like it, else None."""
    near = get_close_matches(name.lower(), list(known), n=1) if isinstance(name, str) else []
    return say("fault.do.near", near=repr(near[0])) if near else None
