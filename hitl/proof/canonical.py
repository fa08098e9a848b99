"""Canonical JSON and the digest of a call. The card, the MACs and the run all use the same canonical bytes."""

from __future__ import annotations

import contextlib
import hashlib
import math
from base64 import b32encode
from typing import TYPE_CHECKING, Any

import msgspec
import rfc8785

from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The lowest integer that isn't accepted in arguments. Canonical JSON writes numbers as IEEE 754 doubles (RFC 8785
#: section 3.2.2.3), and doubles of this size or more may lose digits of an integer.
EXACT_INTEGER = 2**53
#: Doubles below this limit that are whole numbers are written as integers (RFC 8785 section 3.2.2.3).
_SPELLED_WITH_EXPONENT = 1e21
_DEPTH = 100


def canonical(value: object, *, at: str = "") -> bytes:
    """Return the value as canonical JSON (RFC 8785).

    Raises InvalidConfirmation, with the JSON pointer (RFC 6901) of the first part that has no canonical form. Parts
    without a canonical form are NaN and infinities, integers from 2^53 on (also as floats), lone surrogates, keys that
    aren't strings, other types, and nesting deeper than 100.
    """
    if type(value) is dict and _is_plain(value, 0):
        with contextlib.suppress(UnicodeEncodeError):
            spelled = _spelled(value)
            if spelled.isascii():
                return spelled
    _check(value, at, 0)
    return rfc8785.dumps(value)  # type: ignore[arg-type]


#: A fast encoder, written in C. For ASCII text without floats its result is canonical JSON (RFC 8785). For other text
#: it may sort the keys in another order, and it writes floats differently.
_spelled = msgspec.json.Encoder(order="sorted").encode
_CONTAINERS = frozenset({dict, list})
_PLAIN = frozenset({str, bool, type(None), int, *_CONTAINERS})


def _is_plain(value: Any, depth: int) -> bool:
    """Return whether an object or list holds only text, exact integers, booleans, nulls, and lists or objects of them.

    Return False if it is nested too deeply. Only containers are visited one by one, so a million items take some
    milliseconds.
    """
    if depth >= _DEPTH or (type(value) is dict and {type(key) for key in value} - {str}):
        return False
    items = value.values() if type(value) is dict else value
    kinds = set(map(type, items))
    if not kinds <= _PLAIN or (int in kinds and not all(map(_is_exact, items))):
        return False
    return not kinds & _CONTAINERS or all(_is_plain(item, depth + 1) for item in items if type(item) in _CONTAINERS)


def _is_exact(value: object) -> bool:
    return type(value) is not int or -EXACT_INTEGER < value < EXACT_INTEGER


_in_order = msgspec.json.Encoder().encode


def digest_of(
    args: bytes,
    *,
    tools: str,
    tool: str,
    executor: str,
    definition: str,
    cwd: str | None,
    preconditions: Iterable[tuple[str, str]],
) -> str:
    """Return the digest of a call: the SHA-256 (64 hex digits) over the canonical JSON of an object with these fields.

    The object holds everything on which the run depends. `args` must be canonical JSON already: its bytes become part
    of the object's JSON unchanged.
    """
    # These fields hold only strings and lists, in sorted order, so the fast encoder's result is canonical already.
    tail = _in_order(
        {
            "cwd": cwd,
            "definition": definition,
            "executor": executor,
            "preconditions": tuple(preconditions),
            "tool": tool,
            "tools": tools,
        }
    )
    return hashlib.sha256(b'{"args":' + args + b"," + tail[1:]).hexdigest()


def digest_mark(digest: str) -> str:
    """Return the short form of a digest, which texts for people show: its first 12 base32 characters (RFC 4648)."""
    return b32encode(bytes.fromhex(digest)[:8]).decode()[:12]


def _check(value: object, at: str, depth: int) -> None:
    kind = type(value)
    if kind is str:
        check_text(value, at)  # type: ignore[arg-type]
    elif kind is int:
        if not -EXACT_INTEGER < value < EXACT_INTEGER:  # type: ignore[operator]
            raise _refusal("json.integer", at)
    elif kind is float:
        _check_float(value, at)  # type: ignore[arg-type]
    elif kind is dict:
        _check_object(value, at, depth)  # type: ignore[arg-type]
    elif kind is list or kind is tuple:
        _check_depth(at, depth)
        for index, item in enumerate(value):  # type: ignore[arg-type, var-annotated]
            _check(item, f"{at}/{index}", depth + 1)
    elif value is not None and kind is not bool:
        raise _refusal("json.type", at, type=kind.__name__)


def _check_float(value: float, at: str) -> None:
    if not math.isfinite(value):
        raise _refusal("json.number", at, value=value)
    if EXACT_INTEGER <= abs(value) < _SPELLED_WITH_EXPONENT:
        raise _refusal("json.integer", at)


def _check_object(value: Mapping[Any, Any], at: str, depth: int) -> None:
    _check_depth(at, depth)
    for key, item in value.items():
        if type(key) is not str:
            raise _refusal("json.key", at, name=repr(key))
        place = pointer_below(at, key)
        check_text(key, place)
        _check(item, place, depth + 1)


def _check_depth(at: str, depth: int) -> None:
    if depth > _DEPTH:
        raise _refusal("json.depth", at)


def pointer_below(at: str, key: object) -> str:
    """Return the JSON pointer (RFC 6901) of the member or item `key` of the value that has the pointer `at`."""
    return f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}"


def check_text(value: str, at: str) -> None:
    """Raise InvalidConfirmation for a text that UTF-8 can't encode. The error names `at`, the text's JSON pointer."""
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError:
        place = at.encode(errors="backslashreplace").decode()
        raise _refusal("json.surrogate", place) from None


def _refusal(key: str, at: str, **facts: object) -> InvalidConfirmation:
    return InvalidConfirmation(fact(key, at=at or "/", **facts))
