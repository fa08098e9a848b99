"""One spelling of a call: RFC 8785, and what has no spelling."""

from __future__ import annotations

import hashlib
import json
import math
import random
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from hitl.errors import InvalidConfirmation
from hitl.proof.canonical import EXACT_INTEGER, canonical, digest_mark, digest_of
from tests.sentences import says

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_ASCII = st.text(st.characters(max_codepoint=127))
_FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not EXACT_INTEGER <= abs(x) < 1e21)
_NUMBERS = st.integers(1 - EXACT_INTEGER, EXACT_INTEGER - 1) | _FLOATS
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)
_OBJECTS = st.dictionaries(_TEXT, _VALUES, max_size=5)
ABOUT: dict[str, Any] = {"tools": "files", "tool": "write", "executor": "local", "definition": "d", "cwd": None}


def digest(args: bytes, **changes: Any) -> str:
    """The digest of a call with these arguments."""
    fields: dict[str, Any] = ABOUT | {"preconditions": ()} | changes
    return digest_of(args, **fields)


@given(_VALUES)
def test_it_is_rfc_8785(value: Any) -> None:
    """Whatever is accepted is spelled as the reference implementation spells it."""
    assert rfc8785.dumps(value) == canonical(value)


@given(st.dictionaries(_ASCII, _ASCII | st.none() | st.booleans() | st.integers(1 - EXACT_INTEGER, EXACT_INTEGER - 1)))
def test_plain_objects_are_rfc_8785_too(value: dict[str, Any]) -> None:
    """They are spelled another way, to the same bytes: control characters, quotes and all."""
    assert rfc8785.dumps(value) == canonical(value)


@given(_OBJECTS)
def test_it_survives_a_reading(value: dict[str, Any]) -> None:
    """What is read back from the stored bytes equals what was given: a tool runs with what was asked."""
    assert value == json.loads(canonical(value))


@given(_OBJECTS)
def test_it_is_stable(value: dict[str, Any]) -> None:
    """Spelled, read and spelled again, it is the same bytes."""
    spelled = canonical(value)

    assert spelled == canonical(json.loads(spelled))


@given(_OBJECTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_makes_no_difference(value: dict[str, Any], chance: random.Random) -> None:
    """A store or a client may reorder keys; the digest stays."""
    items = list(value.items())
    chance.shuffle(items)

    assert canonical(value) == canonical(dict(items))
    assert digest(canonical(value)) == digest(canonical(dict(items)))


@given(_OBJECTS, st.none() | _TEXT, st.lists(st.tuples(_TEXT, _TEXT), max_size=3))
def test_the_digest_is_over_the_whole_object(
    args: dict[str, Any], cwd: str | None, preconditions: list[tuple[str, str]]
) -> None:
    """Splicing the arguments in gives the bytes that spelling the whole object would give."""
    whole = ABOUT | {"cwd": cwd, "args": args, "preconditions": [list(pair) for pair in preconditions]}
    expected = hashlib.sha256(rfc8785.dumps(whole)).hexdigest()

    assert expected == digest(canonical(args), cwd=cwd, preconditions=preconditions)


@pytest.mark.parametrize(
    ("value", "why", "pointer"),
    [
        ({"a": {"b": [0, math.nan]}}, "json.number", "/a/b/1"),
        ({"a": math.inf}, "json.number", "/a"),
        ([-math.inf], "json.number", "/0"),
        ({"n": EXACT_INTEGER}, "json.integer", "/n"),
        ({"n": -EXACT_INTEGER}, "json.integer", "/n"),
        ({"n": 1e17}, "json.integer", "/n"),
        ({"a": ["x", "\ud800"]}, "json.surrogate", "/a/1"),
        ({"ok": {"\udfff": 1}}, "json.surrogate", "/ok/\\udfff"),
        ({"a": {7: "seven"}}, "json.key", "/a"),
        ({"when": {"s": {1, 2}}}, "json.type", "/when/s"),
        ({"raw": b"bytes"}, "json.type", "/raw"),
        ({"a/b": {"c~d": math.nan}}, "json.number", "/a~1b/c~0d"),
        (math.nan, "json.number", "/"),
    ],
)
def test_what_has_no_spelling_is_refused_by_its_place(value: Any, why: str, pointer: str) -> None:
    """The error names the first part that JSON can't carry, as an RFC 6901 pointer."""
    with pytest.raises(InvalidConfirmation) as refused:
        canonical(value)

    assert says(refused.value.message, why, at=pointer)


def test_integers_up_to_the_last_exact_one_are_carried() -> None:
    """One below 2^53 is exact as a double, so it is carried; it is spelled in full."""
    assert b"[9007199254740991,-9007199254740991]" == canonical([EXACT_INTEGER - 1, 1 - EXACT_INTEGER])


def nested(depth: int) -> Any:
    """Lists in lists."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_has_an_end() -> None:
    """A hundred levels are carried; what is deeper, or endless, is refused and not followed."""
    endless: list[Any] = []
    endless.append(endless)

    assert canonical(nested(100))
    for value in (nested(102), endless):
        with pytest.raises(InvalidConfirmation) as refused:
            canonical(value)
        assert says(refused.value.message, "json.depth")


@pytest.mark.parametrize(
    "change",
    [
        {"tools": "mail"},
        {"tool": "drop"},
        {"executor": "mcp:7"},
        {"definition": "e"},
        {"cwd": "/srv"},
        {"preconditions": [("base:a", "1")]},
    ],
)
def test_everything_that_makes_a_call_is_in_its_digest(change: dict[str, Any]) -> None:
    """Another group, tool, executor, definition, folder or precondition is another call."""
    assert digest(b"{}") != digest(b"{}", **change)


def test_the_mark_is_the_first_of_the_digest() -> None:
    """Twelve base32 characters: the first sixty bits."""
    assert "AAAAAAAAAAAB" == digest_mark("0000000000000010" + "f" * 48)
    assert 12 == len(digest_mark("e7" * 32))
