"""The record as a chain: any line that isn't what was written shows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.audit import FIRST, chain, verify, with_args
from hitl.canonical import canonical
from hitl.errors import InvalidConfirmation
from hitl.model import Entry, Event, Recorded
from tests.hitl.world import NOON


def lines(*data: dict[str, Any]) -> list[Recorded]:
    """A chain of one call."""
    written: list[Recorded] = []
    for seq, each in enumerate(data, start=1):
        prev = written[-1].hash if written else FIRST
        written.append(chain(prev, seq, NOON + timedelta(seconds=seq), Entry("ref", Event.ASKED, "actor", each)))
    return written


WHOLE = lines({"a": 1}, {"b": "two"}, {"c": None}, {"d": True})


def test_a_chain_that_was_not_touched_is_whole() -> None:
    """Nothing to report, also of the empty chain."""
    assert verify(WHOLE) is None
    assert verify([]) is None


@pytest.mark.parametrize(
    "change",
    [
        {"data": '{"b":"three"}'},
        {"event": "approved"},
        {"actor": "somebody"},
        {"at": NOON},
        {"ref": "other"},
        {"seq": 3},
        {"hash": "0" * 64},
        {"prev": "0" * 64},
    ],
)
def test_a_changed_line_is_found(change: dict[str, Any]) -> None:
    """Whatever of it was changed, its place is told."""
    changed = [WHOLE[0], replace(WHOLE[1], **change), *WHOLE[2:]]

    assert 2 == verify(changed)


def test_missing_added_and_swapped_lines_are_found() -> None:
    """The first place that is wrong is told; lines missing at the end can't be seen."""
    assert 1 == verify(WHOLE[1:])
    assert 2 == verify([WHOLE[0], *WHOLE[2:]])
    assert 2 == verify([WHOLE[0], WHOLE[2], WHOLE[1], WHOLE[3]])
    assert 3 == verify([*WHOLE[:2], WHOLE[1], *WHOLE[2:]])
    assert verify(WHOLE[:3]) is None


_PLAIN = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8"))


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), _PLAIN | st.lists(_PLAIN)))
def test_data_is_spelled_canonically(data: dict[str, Any]) -> None:
    """The quick way for flat data gives the same bytes as RFC 8785."""
    assert canonical(data).decode() == chain(FIRST, 1, NOON, Entry("r", Event.ASKED, "a", data)).data


def test_data_without_a_spelling_is_refused() -> None:
    """A line that couldn't be read back is never written."""
    with pytest.raises(InvalidConfirmation):
        chain(FIRST, 1, NOON, Entry("r", Event.ASKED, "a", {"x": object()}))


def test_no_two_lines_hash_alike() -> None:
    """Moving text from one part of a line into the next is another hash."""
    entries = [Entry("r", Event.NO_REASON, "", {}), Entry("rno_", Event.REASON, "", {})]
    hashes = [chain(FIRST, 1, NOON, entry).hash for entry in entries]

    assert all(one != other for one, other in itertools.combinations(hashes, 2))


def test_arguments_are_named_by_a_salted_hash() -> None:
    """The same arguments under another salt give another hash, so that nobody can guess them from it."""
    entry = Entry("r", Event.ASKED, "a", {"tool": "write"})
    one, other = (with_args(entry, salt, b'{"path":"x"}').data for salt in (b"1" * 16, b"2" * 16))

    assert "write" == one["tool"] == other["tool"]
    assert one["args_hash"] != other["args_hash"]
