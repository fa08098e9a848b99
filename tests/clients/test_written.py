"""JSON whose numbers keep their digits on the way to the service."""

from __future__ import annotations

import json

import pytest

from sayso_client.hooks.answering import _event
from sayso_client.wire import request
from sayso_client.written import read, spelled


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
