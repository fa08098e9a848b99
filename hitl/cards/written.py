"""The caller's own order and digits of arguments, for the card.

Sayso hashes, judges and runs the canonical form (`hitl.proof.canonical`), which sorts names and spells 1250.00 as 1250.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Numbers with more characters than this are shown in their canonical form.
_LONGEST_NUMBER = 40
#: With more arguments or longer names, the order isn't kept, and the card shows the arguments sorted.
_MOST_NAMES = 64
_LONGEST_NAME = 200


class Number(float):
    """A number of JSON with a fraction or an exponent, together with the digits that the caller wrote."""

    def __new__(cls, text: str) -> Self:
        """Parse a number of JSON."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def read(text: str | bytes) -> Any:
    """Parse JSON, and keep the digits of numbers with a fraction or an exponent. Raises ValueError as `json.loads`."""
    return json.loads(text, parse_float=Number)


def plain(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with plain numbers in place of `Number`."""
    return {name: _plain(value) for name, value in args.items()}


def order_of(args: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names in the caller's order, or () if that is the canonical order or isn't kept."""
    names = tuple(args)
    kept = len(names) <= _MOST_NAMES and all(len(name) <= _LONGEST_NAME for name in names)
    return names if kept and list(names) != sorted(names, key=_by_units) else ()


def numbers_of(args: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return (argument, digits) for each top-level number with a fraction or an exponent."""
    return tuple(
        (name, value.text)
        for name, value in args.items()
        if isinstance(value, Number) and len(value.text) <= _LONGEST_NUMBER and len(name) <= _LONGEST_NAME
    )


def _by_units(name: str) -> bytes:
    """Return the sort key of a name: its UTF-16 units (RFC 8785 section 3.2.3)."""
    return name.encode("utf-16-be", "surrogatepass")


def _plain(value: Any) -> Any:
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
