"""The record as a chain: any line that isn't what was written shows."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.call import Entry, Event, Recorded
from hitl.errors import InvalidConfirmation
from hitl.proof.canonical import canonical
from hitl.proof.chain import FIRST, chain, contradicted, steps_held, verify, with_args
from hitl.proof.keyring import Keyring
from hitl.records import replace
from tests.hitl.world import NOON

KEYS = Keyring([("k1", b"1" * 32)])


def lines(*data: dict[str, Any]) -> list[Recorded]:
    """A chain of one call."""
    written: list[Recorded] = []
    for seq, each in enumerate(data, start=1):
        prev = written[-1].hash if written else FIRST
        written.append(chain(KEYS, prev, seq, NOON + timedelta(seconds=seq), Entry("ref", Event.ASKED, "actor", each)))
    return written


WHOLE = lines({"a": 1}, {"b": "two"}, {"c": None}, {"d": True})


def test_a_chain_that_was_not_touched_is_whole() -> None:
    """Nothing to report, also of the empty chain."""
    assert verify(KEYS, WHOLE) is None
    assert verify(KEYS, []) is None


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

    assert 2 == verify(KEYS, changed)


def test_missing_added_and_swapped_lines_are_found() -> None:
    """The first place that is wrong is told; lines missing at the end can't be seen."""
    assert 1 == verify(KEYS, WHOLE[1:])
    assert 2 == verify(KEYS, [WHOLE[0], *WHOLE[2:]])
    assert 2 == verify(KEYS, [WHOLE[0], WHOLE[2], WHOLE[1], WHOLE[3]])
    assert 3 == verify(KEYS, [*WHOLE[:2], WHOLE[1], *WHOLE[2:]])
    assert verify(KEYS, WHOLE[:3]) is None


_PLAIN = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8"))


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), _PLAIN | st.lists(_PLAIN)))
def test_data_is_spelled_canonically(data: dict[str, Any]) -> None:
    """The quick way for flat data gives the same bytes as RFC 8785."""
    assert canonical(data).decode() == chain(KEYS, FIRST, 1, NOON, Entry("r", Event.ASKED, "a", data)).data


def test_data_without_a_spelling_is_refused() -> None:
    """A line that couldn't be read back is never written."""
    with pytest.raises(InvalidConfirmation):
        chain(KEYS, FIRST, 1, NOON, Entry("r", Event.ASKED, "a", {"x": object()}))


def test_no_two_lines_hash_alike() -> None:
    """Moving text from one part of a line into the next is another hash."""
    entries = [Entry("r", Event.NO_REASON, "", {}), Entry("rno_", Event.REASON, "", {})]
    hashes = [chain(KEYS, FIRST, 1, NOON, entry).hash for entry in entries]

    assert all(one != other for one, other in itertools.combinations(hashes, 2))


def test_arguments_are_named_by_a_salted_hash() -> None:
    """The same arguments under another salt give another hash, so that nobody can guess them from it."""
    entry = Entry("r", Event.ASKED, "a", {"tool": "write"})
    one, other = (with_args(entry, salt, b'{"path":"x"}').data for salt in (b"1" * 16, b"2" * 16))

    assert "write" == one["tool"] == other["tool"]
    assert one["args_hash"] != other["args_hash"]


def test_nobody_without_the_keys_can_write_a_chain_anew() -> None:
    """A chain under other keys, and one whose lines have plain hashes behind a sealed one, are found."""
    theirs = Keyring([("k1", b"2" * 32)])
    (forged,) = [chain(theirs, WHOLE[0].hash, 2, NOON, Entry("ref", Event.APPROVED, "somebody", {}))]

    assert 2 == verify(KEYS, [WHOLE[0], forged])
    assert 2 == verify(KEYS, [WHOLE[0], replace(WHOLE[1], hash="0" * 64)])


def said(event: Event, **data: object) -> tuple[str, str]:
    """Event and data of a line."""
    return event.value, canonical(data).decode()


@pytest.mark.parametrize(
    ("chain_says", "again"),
    [
        ([said(Event.REJECTED)], Event.APPROVED),
        ([said(Event.APPROVED)], Event.EXPIRED),
        ([said(Event.APPROVED), said(Event.CLAIMED)], Event.CLAIMED),
        ([said(Event.APPROVED, claimed_by="service:1")], Event.CLAIMED),
        ([said(Event.APPROVED), said(Event.RELEASED)], Event.CLAIMED),
        ([said(Event.APPROVED), said(Event.REFUSED, why="unfit.late")], Event.REFUSED),
        ([said(Event.CLAIMED), said(Event.SUCCEEDED)], Event.FAILED),
        ([said(Event.UNKNOWN), said(Event.SUCCEEDED)], Event.SUCCEEDED),
    ],
)
def test_what_happens_once_is_never_said_twice(chain_says: list[tuple[str, str]], again: Event) -> None:
    """A call is decided, claimed and ended once, however its row was set back."""
    assert contradicted(steps_held(chain_says), [Entry("ref", again, "a", {"why": "x"})])


@pytest.mark.parametrize(
    ("chain_says", "then"),
    [
        ([said(Event.ASKED), said(Event.SHOWN)], Event.APPROVED),
        ([said(Event.REFUSED, code="NOT_APPROVER", note='"why":')], Event.REFUSED),
        ([said(Event.APPROVED)], Event.CLAIMED),
        ([said(Event.CLAIMED), said(Event.TIMED_OUT)], Event.SUCCEEDED),
        ([said(Event.CLAIMED), said(Event.UNKNOWN)], Event.FAILED),
        ([said(Event.APPROVED)], Event.LATE),
    ],
)
def test_what_comes_next_is_no_contradiction(chain_says: list[tuple[str, str]], then: Event) -> None:
    """A refused reply is no end, and a late report follows a time-out or a lost run."""
    assert not contradicted(steps_held(chain_says), [Entry("ref", then, "a", {"why": "x"})])
