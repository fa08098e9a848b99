"""Arguments as their caller wrote them: in which order, and with which digits. A card shows them so.

Sayso binds, judges and runs the canonical form (`hitl.proof.canonical`), which sorts names and spells 1250.00 as 1250.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Longer numbers are shown in their canonical form.
_LONGEST_NUMBER = 40
#: Of more arguments, or of longer names, no order is kept: they are shown sorted.
_MOST_NAMES = 64
_LONGEST_NAME = 200


class Number(float):
    """A number of JSON that isn't a whole one, with the digits that it was written with."""

    def __new__(cls, text: str) -> Self:
        """Read a number of JSON."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def read(text: str | bytes) -> Any:
    """Parse JSON, keeping the digits of every number that isn't whole. Raises ValueError as `json.loads`."""
    return json.loads(text, parse_float=Number)


def plain(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with ordinary numbers."""
    return {name: _plain(value) for name, value in args.items()}


def order_of(args: Mapping[str, Any]) -> tuple[str, ...]:
    """The names in the order in which they were given; () where that is the canonical one, or isn't kept."""
    names = tuple(args)
    kept = len(names) <= _MOST_NAMES and all(len(name) <= _LONGEST_NAME for name in names)
    return names if kept and list(names) != sorted(names, key=_by_units) else ()


def numbers_of(args: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The numbers whose digits the canonical form would change, by the name of their argument."""
    return tuple(
        (name, value.text)
        for name, value in args.items()
        if isinstance(value, Number) and len(value.text) <= _LONGEST_NUMBER and len(name) <= _LONGEST_NAME
    )


def _by_units(name: str) -> bytes:
    """RFC 8785 section 3.2.3 sorts names by their UTF-16 units."""
    return name.encode("utf-16-be", "surrogatepass")


def _plain(value: Any) -> Any:
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
