"""Pauses between tries."""

from __future__ import annotations

from hitl.backoff import LONGEST_S, Backoff


def test_pauses_grow_and_stay_at_the_longest() -> None:
    """For as long as nothing goes well."""
    backoff = Backoff()

    assert [1.0, 2.0, 5.0, LONGEST_S, LONGEST_S] == [backoff.next() for _ in range(5)]


def test_a_success_begins_anew() -> None:
    """The next failure waits as the first one did."""
    backoff = Backoff()
    first = backoff.next()
    backoff.next()
    backoff.reset()

    assert first == backoff.next()
