"""Keeps the order and the digits in which the caller wrote the arguments, for the card.

Sayso hashes, judges and runs the canonical form (`hitl.proof.canonical`), which sorts names and spells 1250.00 as 1250.
The order and the digits are stored in addition, with JSON pointers (RFC 6901). They only change how the canonical
arguments look: they can't add, hide or change a value.
"""

from __future__ import annotations

import json
import re
from collections import deque
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from hitl.proof.canonical import pointer_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The highest number of characters of a number that is shown as the caller wrote it. Longer numbers are shown in their
#: canonical form.
_LONGEST_NUMBER = 40
#: The highest number of names whose order is stored, and of numbers whose digits are stored. All other names and
#: numbers are shown in their canonical form.
_MOST = 200
_LONGEST_POINTER = 200
#: The highest number of values that are visited, beginning with the outermost, so that very many values delay nobody.
_MOST_SEEN = 1000
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Number(float):
    """A JSON number with a fraction or an exponent, which keeps the digits that the caller wrote."""

    def __new__(cls, text: str) -> Self:
        """Parse the text of a JSON number, and keep the text in the result."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __str__(self) -> str:
        """Return the number as the caller wrote it."""
        return self.text


class Form(NamedTuple):
    """The order and the digits in which a caller wrote the arguments. Parts in canonical form are left out."""

    #: For each object whose names the caller didn't write in sorted order: the JSON pointers to its members, in the
    #: caller's order.
    order: tuple[str, ...] = ()
    #: (JSON pointer, digits as the caller wrote them) for each number with a fraction or an exponent.
    numbers: tuple[tuple[str, str], ...] = ()


def read(text: str | bytes) -> Any:
    """Return the value of a JSON text, in which each number with a fraction or an exponent is a `Number`.

    Raises ValueError as `json.loads` does.
    """
    return json.loads(text, parse_float=Number)


def plain(value: Any) -> Any:
    """Return a JSON value with each `Number` replaced by a float."""
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def form_of(args: Mapping[str, Any]) -> Form:
    """Return the order and the digits in which the caller wrote these arguments.

    Only differences from canonical JSON are returned.
    """
    order: list[str] = []
    numbers: list[tuple[str, str]] = []
    for at, value in islice(_walk(args), _MOST_SEEN):
        if isinstance(value, Number) and len(value.text) <= _LONGEST_NUMBER and len(at) <= _LONGEST_POINTER:
            numbers.append((at, value.text))
        elif isinstance(value, dict) and len(order) + len(value) <= _MOST and list(value) != sorted(value, key=_units):
            members = [pointer_below(at, name) for name in value]
            order += members if max(map(len, members)) <= _LONGEST_POINTER else []
    return Form(tuple(order), tuple(numbers[:_MOST]))


def in_form(args: dict[str, Any], form: Form) -> dict[str, Any]:
    """Return the canonical arguments in the caller's order and with the caller's digits."""
    if not any(form):
        return args
    ranks = {pointer: rank for rank, pointer in enumerate(form.order)}
    digits = dict(form.numbers)
    inside = {above for pointer in (*ranks, *digits) for above in _above(pointer)}

    def arranged(value: Any, at: str) -> Any:
        if at in digits and _spells(digits[at], value):
            return Number(digits[at])
        if at not in inside:
            return value
        if isinstance(value, dict):
            names = sorted(value, key=lambda name: ranks.get(pointer_below(at, name), len(ranks)))
            return {name: arranged(value[name], pointer_below(at, name)) for name in names}
        if isinstance(value, list):
            return [arranged(item, pointer_below(at, index)) for index, item in enumerate(value)]
        return value

    return {**arranged(args, "")}


def spelled(value: Any, *, indent: int = 0) -> str:
    """Return a value as JSON, with the caller's digits.

    The JSON is on one line. With `indent`, each member or item has its own line, indented by that many blanks.
    """
    return msgspec.json.format(msgspec.json.encode(_raw(value)), indent=indent).decode()


def _raw(value: Any) -> Any:
    if isinstance(value, Number):
        return msgspec.Raw(value.text.encode())
    if isinstance(value, dict):
        return {name: _raw(item) for name, item in value.items()}
    return [_raw(item) for item in value] if isinstance(value, list) else value


def _walk(args: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (JSON pointer, value) for the arguments and all values in them, outer values first."""
    waiting: deque[tuple[str, Any]] = deque([("", args)])
    while waiting:
        at, value = waiting.popleft()
        yield at, value
        if len(at) > _LONGEST_POINTER:
            continue
        items: Iterable[tuple[object, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, list):
            items = enumerate(value)
        room = max(0, _MOST_SEEN - len(waiting))
        waiting.extend((pointer_below(at, name), item) for name, item in islice(items, room))


def _above(pointer: str) -> Iterator[str]:
    """Yield the pointers of the objects and lists that contain the value at `pointer`."""
    return (pointer[:at] for at, character in enumerate(pointer) if character == "/")


def _spells(text: str, value: Any) -> bool:
    """Return whether the text spells exactly this number. No other text is shown for the number.

    A double holds about 17 digits, so 4.99999999999999999999 runs as 5. Such a text spells another number.
    """
    if type(value) not in {int, float} or not _NUMBER.fullmatch(text):
        return False
    try:
        return Decimal(text) == Decimal(repr(value))
    except InvalidOperation:  # Decimal can't hold the exponent
        return False


def _units(name: str) -> bytes:
    """Return the key by which canonical JSON sorts a name: its UTF-16 units (RFC 8785 section 3.2.3)."""
    return name.encode("utf-16-be", "surrogatepass")
