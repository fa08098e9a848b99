"""Commits run on the loop while the disk is quick, and a unit alone may take longer than a group."""

from __future__ import annotations

import pytest

from adapters.database.sqlite.commit_speed import ALONE_S, GROUP_S, NEW_CALLS, NEW_CALLS_SLOW, Pace


def measured(pace: Pace, seconds: float, *, alone: bool) -> Pace:
    """The pace after commits that took so long."""
    for _ in range(20):
        pace.took(seconds, alone=alone)
    return pace


@pytest.mark.parametrize(("seconds", "expected"), [(ALONE_S * 0.9, True), (ALONE_S * 1.1, False)])
def test_a_unit_alone_is_committed_on_the_loop_within_a_millisecond(seconds: float, *, expected: bool) -> None:
    """Through the thread it would take longer, and nobody else waits for the database."""
    pace = measured(Pace(), seconds, alone=True)

    assert [expected, expected] == [pace.on_loop(alone=True), pace.on_loop(alone=True)]


@pytest.mark.parametrize(("way", "expected"), [(200e-6, True), (50e-6, False)])
def test_a_group_is_committed_on_the_loop_if_that_is_quicker_than_the_threads_way(
    way: float, *, expected: bool
) -> None:
    """The way to the thread and back is measured."""
    pace = measured(Pace(), 100e-6, alone=False)
    for _ in range(20):
        pace.way.took(way)

    assert expected is pace.on_loop(alone=False)


def test_a_group_never_holds_up_the_loop_because_the_thread_is_slow_to_answer() -> None:
    """A busy loop makes the thread's way seem long; more than GROUP_S is not believed."""
    pace = measured(Pace(), GROUP_S * 1.1, alone=False)
    for _ in range(20):
        pace.way.took(1.0)

    assert not pace.on_loop(alone=False)


def test_slow_groups_say_nothing_about_a_unit_alone() -> None:
    """A group writes more than a unit does."""
    pace = measured(Pace(), 1.0, alone=False)

    assert pace.on_loop(alone=True)


def test_one_slow_commit_is_no_slow_disk() -> None:
    """The mean counts it for a part."""
    pace = measured(Pace(), 100e-6, alone=True)
    pace.took(1.0, alone=True)

    assert pace.on_loop(alone=True)


def test_a_slow_disk_is_looked_at_again_now_and_then() -> None:
    """One commit in 32 runs on the loop, and if the disk is quick again, soon all do."""
    pace = measured(Pace(), 1.0, alone=True)
    looks = [pace.on_loop(alone=True) for _ in range(64)]
    for _ in range(20):
        pace.took(100e-6, alone=True)

    assert 2 == sum(looks)
    assert pace.on_loop(alone=True)


@pytest.mark.parametrize(("seconds", "expected"), [(ALONE_S * 0.9, NEW_CALLS), (ALONE_S * 1.1, NEW_CALLS_SLOW)])
def test_a_group_may_hold_more_new_calls_on_a_slow_disk(seconds: float, expected: int) -> None:
    """There, more and smaller groups would cost more than decisions gain."""
    assert expected == measured(Pace(), seconds, alone=False).new_calls
