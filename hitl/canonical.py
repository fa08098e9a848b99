"""Canonical JSON and the digest: the one spelling of a call that is shown, sealed and run."""

from __future__ import annotations

import hashlib
import json
import math
from base64 import b32encode
from typing import TYPE_CHECKING, Any

import rfc8785

from hitl.errors import InvalidConfirmation
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: RFC 8785 section 3.2.2.3 takes numbers as IEEE 754 doubles; beyond this integers are no longer exact.
EXACT_INTEGER = 2**53
#: RFC 8785 section 3.2.2.3 (ECMAScript's rule): smaller doubles are spelled, and read back, as integers.
_SPELLED_WITH_EXPONENT = 1e21
_DEPTH = 100


def canonical(value: object, *, at: str = "") -> bytes:
    """The value as RFC 8785 canonical JSON.

    Raises InvalidConfirmation naming the JSON pointer (RFC 6901) of the first part that has no canonical form:
    NaN and infinities, integers beyond 2^53 (also as floats), lone surrogates, keys that aren't strings, other
    types, and nesting deeper than 100.
    """
    if _is_plain(value):
        return _spelled(value).encode()
    _check(value, at, 0)
    return rfc8785.dumps(value)  # type: ignore[arg-type]


#: What RFC 8785 says of plain objects, written by the standard library's encoder in C.
_spelled = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def _is_plain(value: object) -> bool:
    """Whether it is a flat object of ASCII text, exact integers, truth values and nulls, under ASCII keys.

    Of those the C encoder writes what RFC 8785 asks for, at a fifth of the cost: the two differ in how they sort
    keys and escape text beyond ASCII, and in how they spell floats.
    """
    return type(value) is dict and all(_is_ascii(key) and _is_plain_value(item) for key, item in value.items())


def _is_ascii(value: object) -> bool:
    return type(value) is str and value.isascii()


def _is_plain_value(value: object) -> bool:
    if type(value) is int:
        return -EXACT_INTEGER < value < EXACT_INTEGER
    return _is_ascii(value) or value is None or type(value) is bool


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
    """SHA-256 (64 hex digits) over the canonical JSON of everything that makes this call this call.

    `args` is canonical already and is spliced in: the keys around it are written in RFC 8785 order.
    """
    # Strings and lists only, keys in order: what the standard encoder writes of those is canonical already.
    tail = json.dumps(
        {
            "cwd": cwd,
            "definition": definition,
            "executor": executor,
            "preconditions": [list(pair) for pair in preconditions],
            "tool": tool,
            "tools": tools,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
    return hashlib.sha256(b'{"args":' + args + b"," + tail[1:]).hexdigest()


def digest_mark(digest: str) -> str:
    """The 12 base32 characters of a digest that stand on the card and in the receipt (RFC 4648 alphabet)."""
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
        place = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
        check_text(key, place)
        _check(item, place, depth + 1)


def _check_depth(at: str, depth: int) -> None:
    if depth > _DEPTH:
        raise _refusal("json.depth", at)


def check_text(value: str, at: str) -> None:
    """Raises InvalidConfirmation, naming the place `at` (a JSON pointer), for text that UTF-8 can't carry."""
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError:
        place = at.encode(errors="backslashreplace").decode()
        raise _refusal("json.surrogate", place) from None


def _refusal(key: str, at: str, **facts: object) -> InvalidConfirmation:
    return InvalidConfirmation(say(key, at=at or "/", **facts))
