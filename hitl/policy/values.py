"""Reads the arguments of a call for conditions: the value that a key names, and the text, number or size of a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

MISSING: Final = object()
#: The last item that ``leaves`` yields if it stops before the end, because the value may hold more scalars.
CUT: Final = object()
#: The types of values that hold no other values. A look-up in this set is quicker than a test for a Mapping.
SCALARS: Final = frozenset((str, int, float, bool, Decimal, type(None)))
MAX_NODES = 20_000
_MAX_NUMBER = 64
_EXPONENT_FROM = 1e21  # From this size on, ECMAScript and Go write a number with an exponent.


def pointer(key: str) -> tuple[str, ...]:
    """Return the names and indexes that lead from the arguments to the value that a key names.

    A key with a leading slash is a JSON pointer (RFC 6901); any other key names an argument.
    """
    if not key.startswith("/"):
        return (key,)
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in key[1:].split("/"))


def lookup(args: Mapping[str, Any], steps: Sequence[str]) -> Any:
    """Return the value that the steps of ``pointer`` lead to, or MISSING."""
    found: Any = args
    for step in steps:
        if isinstance(found, Mapping):
            found = found.get(step, MISSING)
        elif isinstance(found, list | tuple) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return MISSING
        if found is MISSING:
            return MISSING
    return found


def leaves(value: Any, most: int = MAX_NODES) -> Iterator[Any]:
    """Yield every scalar inside a value, and the keys of objects.

    After visiting ``most`` values, objects and lists included, it yields CUT and stops.
    """
    stack, seen = [value], 0
    while stack and seen < most:
        current = stack.pop()
        seen += 1
        if isinstance(current, Mapping):
            stack.extend(current.values())
            stack.extend(current.keys())
        elif isinstance(current, list | tuple):
            stack.extend(current)
        else:
            yield current
    if stack:
        yield CUT


def text(value: Any) -> str:
    """Return the text by which conditions compare a scalar: a text unchanged, any other scalar as JSON writes it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXPONENT_FROM else repr(value)
    return str(value)


def number(value: Any) -> Decimal | None:
    """Return the exact value of a number, or of a text that spells a number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and (len(value) > _MAX_NUMBER or not value.strip() or "_" in value):
        return None
    try:
        found = Decimal(repr(value) if isinstance(value, float) else value)
    except (InvalidOperation, ValueError):
        return None
    return found if found.is_finite() else None


def size(value: Any) -> int | None:
    """Return the length of a text, list or object, or None for other values."""
    return len(value) if isinstance(value, str | list | tuple | Mapping) else None
