"""JSON whose numbers keep their digits on the way to the service."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hitl.cards import written
from sayso_client.hooks.answering import _event
from sayso_client.wire import request
from sayso_client.written import Number, read, spelled

#: Texts that JSON's grammar takes for a number, and some that it doesn't.
NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
) | st.sampled_from(["01", "1.", ".5", "+1", "NaN", "-Infinity", "1e", "0x1", "1_0.5", "١.٥"])
DOCUMENTS = st.recursive(
    NUMBERS | st.text().map(json.dumps) | st.sampled_from(["true", "null"]),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.text(max_size=3).map(json.dumps), inner, max_size=4).map(
            lambda members: "{" + ", ".join(f"{name}: {value}" for name, value in members.items()) + "}"
        )
    ),
    max_leaves=12,
)


def seen(value: Any) -> Any:
    """A value with its type and the digits of each number, as either side read it."""
    if isinstance(value, Number | written.Number):
        return "number", float(value).hex(), value.text
    if isinstance(value, dict):
        return [(name, seen(item)) for name, item in value.items()]
    return [seen(item) for item in value] if isinstance(value, list) else (type(value), repr(value))


@given(DOCUMENTS)
@example('{"a": -0.0, "b": 1E400, "b": 2.50}')
@example("{")
def test_the_client_and_the_service_read_the_same(text: str) -> None:
    """The client holds no code of the service. Both read each number to its digits, and refuse the same texts."""
    try:
        ours = seen(written.read(text))
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - each side may word it as it likes
            read(text)
        return

    assert ours == seen(read(text))
    assert ours == seen(written.read(spelled(read(text))))


@pytest.mark.parametrize(
    "text",
    [
        '{"b": 1250.00, "a": [1e3, {"d": -0.10, "c": 2}], "t": [true, null, "1.0"]}',
        '{"text": "line\\nbreak, \\"quotes\\" and ü", "n": 1.0}',
        '{"n": 12345678901234567890}',
        "{}",
    ],
)
def test_json_is_written_as_it_was_read(text: str) -> None:
    """The order of names and the digits of numbers stay at any depth. To programs, the values are ordinary numbers."""
    assert text == spelled(read(text))
    assert json.loads(text) == read(text)


def test_a_request_carries_the_digits() -> None:
    """Also beside text that UTF-8 can't encode, which is sent as an escape."""
    args = read('{"amount": 1250.00, "odd": "\\ud800"}')

    assert b'"args": {"amount": 1250.00, "odd": "\\ud800"}' in request("ask", {"tool": "pay", "args": args})


def test_a_coding_agents_event_keeps_its_digits() -> None:
    """A hook passes the arguments on as the coding agent wrote them."""
    assert '{"amount": 1250.00}' == spelled(_event(b'{"tool_input": {"amount": 1250.00}}')["tool_input"])
