"""The output of MCP servers reaches the library in whole lines, none of them too long."""

from __future__ import annotations

import codecs

import pytest

from adapters.mcp import whole_lines


def decoder() -> codecs.IncrementalDecoder:
    """A new decoder, as the library makes one by the name of the encoding."""
    return codecs.getincrementaldecoder(whole_lines.NAME)()


def test_a_line_comes_when_it_has_ended() -> None:
    """The library looks through all of its text again with each chunk, so an unfinished line isn't given to it."""
    one = decoder()

    assert ["", "", "äbc\nde\n", "", "f\n"] == [
        one.decode(part) for part in (b"\xc3", b"\xa4b", b"c\nde\nf", b"", b"\n")
    ]


def test_the_last_line_needs_no_end() -> None:
    """At the end of the stream."""
    one = decoder()

    assert ("a\n", "bc", "") == (one.decode(b"a\nb"), one.decode(b"c", final=True), one.decode(b"", final=True))


def test_a_line_that_is_too_long_is_told_once_and_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """With everything after it: nobody knows to what it belongs."""
    # The same limit, smaller: 16 MiB would take long, and show no more.
    monkeypatch.setattr(whole_lines, "LONGEST_LINE", 10)
    told: list[str] = []
    token = whole_lines.TOO_LONG.set(lambda: told.append("too long"))
    one = decoder()
    whole_lines.TOO_LONG.reset(token)

    assert ["a\n", "", "", "", ""] == [one.decode(part) for part in (b"a\n1234", b"567890", b"x", b"\nb\n", b"c\n")]
    assert ["too long"] == told
