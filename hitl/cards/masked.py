"""The masked, visible texts of a call's arguments and preview, for cards, details and views.

Masking a megabyte of arguments takes up to a second. So the results are cached. For a large call, `Gate.ready` makes
them outside the event loop before any surface needs them.
"""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from cachetools import FIFOCache
from msgspec import Struct

from hitl.cards.edits import compared
from hitl.cards.redaction import by_name, mask, mask_value
from hitl.cards.text import folded, hidden, visible
from hitl.cards.written import Form, in_form, plain, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Call

    #: The texts to mask: a call's canonical arguments, its preview, and the form in which its caller wrote the
    #: arguments.
    Key: TypeAlias = tuple[bytes, str, Form]

#: The size in characters up to which the arguments and the preview together are masked in about ten milliseconds.
LARGE = 1 << 14
#: The number of characters in the cache: enough for about sixteen calls with the largest arguments.
_KEPT_CHARS = 1 << 26
_OBJECTS = 200
#: The arguments that may hold a command as a list of words. Except for `argv`, they may also hold it as one text.
COMMANDS = ("argv", "command", "cmd")
_CODE_NAMES = frozenset({"command", "cmd", "code", "script", "text", "content", "sql", "query", "argv"})


class Masked(Struct, frozen=True):
    """The texts of one call, with its secrets masked."""

    #: Masked name of each argument -> its visible text, in the caller's order, with long runs replaced by a count. If
    #: masked names are equal, the second gets a `'` at its end, the third `'2`, and so on.
    arguments: Mapping[str, str]
    #: Name of each argument that may hold a command as a list of words -> the command as one shell line, with POSIX
    #: quoting. A shell splits this line into the same words.
    lines: Mapping[str, str]
    #: Masked name of each argument -> its masked value. Numbers that the caller wrote in another form are of the class
    #: `Number`.
    values: Mapping[str, Any]
    preview: str
    #: The number of characters of the arguments and the preview that are invisible or change the look of other text.
    hidden: int
    #: The masked arguments as JSON.
    json: bytes
    #: The diff between an edit's old and new text. It is "" if the arguments hold a patch, and None if they show no
    #: change.
    diff: str | None

    def __len__(self) -> int:
        """Return the size of these texts for the cache: their characters, and `_OBJECTS` for each argument or line."""
        shown = (*self.arguments.items(), *self.lines.items())
        texts = sum(_OBJECTS + len(name) + len(text) for name, text in shown)
        return texts + 2 * (len(self.preview) + len(self.json) + len(self.diff or ""))


_kept: FIFOCache[Key, Masked] = FIFOCache(_KEPT_CHARS, getsizeof=len)


def is_large(key: Key) -> bool:
    """Return whether masking these texts may take more than about ten milliseconds."""
    args, preview, _ = key
    return len(args) + len(preview) > LARGE


def looks_large(args: Mapping[str, object]) -> bool:
    """Return whether arguments look so large that masking them would delay the requests of other callers.

    The function only counts items and characters.
    """
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
    """Return those texts of a call that must be masked. They are also the key of the cache."""
    card = call.verdict.card
    return call.args, call.preview, Form(card.order, card.numbers) if card else Form()


def masked(call: Call) -> Masked:
    """Return the masked texts of a call, from the cache if possible.

    Each surface needs these texts again at every change of the call, so the cache saves time.
    """
    key = key_of(call)
    kept = _kept.get(key)
    return keep(key, made(key)) if kept is None else kept


def is_kept(key: Key) -> bool:
    """Return whether the masked texts for this key are in the cache."""
    return key in _kept


def keep(key: Key, texts: Masked) -> Masked:
    """Put the masked texts into the cache, unless they are larger than the whole cache. Return the texts."""
    with contextlib.suppress(ValueError):
        _kept[key] = texts
    return texts


def made(key: Key) -> Masked:
    """Return the masked texts for a key. The function uses no shared state, so any thread may call it."""
    args, preview, form = key
    arguments = in_form(msgspec.json.decode(args), form)
    values = by_name(_masked(name, value) for name, value in arguments.items())
    return Masked(
        arguments={label: _spell(inner) for label, inner in values.items()},
        lines={name: safe(shlex.join(words)) for name in COMMANDS if (words := _words(values.get(name))) is not None},
        values=values,
        preview=mask(visible(preview), code=True),
        hidden=hidden(args.decode()) + hidden(preview) + _escaped(arguments),
        json=msgspec.json.encode(plain(mask_value(arguments))),
        diff=compared(values),
    )


def _masked(name: str, value: Any) -> tuple[str, Any]:
    shown = mask_value({name: value}, code=name.casefold() in _CODE_NAMES)
    ((label, inner),) = shown.items()
    return label, inner


def safe(text: str) -> str:
    """Return a text in a form that is safe in a text block of a card.

    Invisible characters are escaped. The last line feed is removed. A long run of line feeds, of blanks, or of the same
    escape is replaced by its count.
    """
    return folded(visible(text.removesuffix("\n")))


def _spell(inner: Any) -> str:
    return safe(inner if isinstance(inner, str) else _compact(inner))


def _words(value: Any) -> list[str] | None:
    """Return a command's words if the value is a list of texts, else None."""
    return value if isinstance(value, list) and all(isinstance(word, str) for word in value) else None


def _compact(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "[" + ", ".join(map(repr, value)) + "]"
    return spelled(value)


def _escaped(value: Any) -> int:
    """Return the number of control characters in all texts of a value.

    In the JSON text of the arguments they are escaped, so `hidden` doesn't find them in that text.
    """
    if isinstance(value, str):
        return sum(1 for char in value if char < " " and char not in "\n\t") if not value.isprintable() else 0
    if isinstance(value, dict):
        return sum(_escaped(key) + _escaped(item) for key, item in value.items())
    return sum(map(_escaped, value)) if isinstance(value, list) else 0
