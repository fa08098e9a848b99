"""The texts of a call, masked and made visible, for cards, details and views: its arguments and its preview.

A megabyte of arguments takes up to a second. So the texts are kept for a while, and `Gate.ready` makes those of a
large call beside the event loop before anybody looks at the call.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from cachetools import FIFOCache

from hitl.cards.redaction import mask, mask_value
from hitl.cards.text import folded, hidden, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Call

    #: Arguments and preview of a call.
    Key: TypeAlias = tuple[bytes, str]

#: Arguments and preview of fewer bytes and characters are masked in about ten milliseconds.
LARGE = 1 << 14
#: So many characters are kept of all calls together: about sixteen calls of the largest arguments.
_KEPT_CHARS = 1 << 26
_OBJECTS = 200
_CODE_NAMES = frozenset({"command", "cmd", "code", "script", "text", "content", "sql", "query", "argv"})


@dataclass(frozen=True, slots=True)
class Masked:
    """The texts of one call, with its secrets masked."""

    #: Name and value of each argument as visible text, with floods folded to a count.
    arguments: tuple[tuple[str, str], ...]
    #: Each argument's own name, its masked name and its masked value.
    values: tuple[tuple[str, str, Any], ...]
    preview: str
    #: The number of characters of both that would not be seen as what they are.
    hidden: int
    #: The arguments as JSON.
    json: bytes

    def __len__(self) -> int:
        """Return the size in characters, with the objects that hold each argument and the bytes behind the texts."""
        texts = sum(_OBJECTS + len(name) + len(text) for name, text in self.arguments)
        return texts + 2 * (len(self.preview) + len(self.json))


_kept: FIFOCache[Key, Masked] = FIFOCache(_KEPT_CHARS, getsizeof=len)


def is_large(key: Key) -> bool:
    """Whether masking may take more than about ten milliseconds."""
    return sum(map(len, key)) > LARGE


def looks_large(args: Mapping[str, object]) -> bool:
    """Whether arguments that aren't canonical yet make a large call: so many items, or characters, that it may be."""
    size = 0
    left: list[Any] = [args]
    while left and size <= LARGE:
        item = left.pop()
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, dict | list):
            size += len(item)
            left += [*item, *item.values()] if isinstance(item, dict) else item
    return size > LARGE


def key_of(call: Call) -> Key:
    """Name what the texts are made of."""
    return call.args, call.preview


def masked(call: Call) -> Masked:
    """Return the texts of the call. They are kept, because each surface asks for them again with every change."""
    key = key_of(call)
    kept = _kept.get(key)
    return keep(key, made(key)) if kept is None else kept


def is_kept(key: Key) -> bool:
    """Whether `masked` has nothing left to do."""
    return key in _kept


def keep(key: Key, texts: Masked) -> Masked:
    """Keep the texts made of the key, unless they are too long; return them."""
    with contextlib.suppress(ValueError):
        _kept[key] = texts
    return texts


def made(key: Key) -> Masked:
    """Mask arguments and preview. It reads nothing else and keeps nothing, so any thread may call it."""
    args, preview = key
    arguments: dict[str, Any] = msgspec.json.decode(args)
    values = tuple((name, *_masked(name, value)) for name, value in arguments.items())
    return Masked(
        arguments=tuple(_spell(label, inner) for _, label, inner in values),
        values=values,
        preview=mask(visible(preview), code=True),
        hidden=hidden(args.decode()) + hidden(preview) + _escaped(arguments),
        json=msgspec.json.encode(mask_value(arguments)),
    )


def _masked(name: str, value: Any) -> tuple[str, Any]:
    shown = mask_value({name: value}, code=name.casefold() in _CODE_NAMES)
    ((label, inner),) = shown.items()
    return label, inner


def _spell(label: str, inner: Any) -> tuple[str, str]:
    text = inner if isinstance(inner, str) else _compact(inner)
    # The line feed that ends the last line begins none.
    return visible(label, keep_newlines=False), folded(visible(text.removesuffix("\n")))


def _compact(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "[" + ", ".join(map(repr, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _escaped(value: Any) -> int:
    """Count hidden characters that JSON writes as escapes and that the raw bytes therefore don't show."""
    if isinstance(value, str):
        return sum(1 for char in value if char < " " and char not in "\n\t") if not value.isprintable() else 0
    if isinstance(value, dict):
        return sum(_escaped(key) + _escaped(item) for key, item in value.items())
    return sum(map(_escaped, value)) if isinstance(value, list) else 0
