"""The machine's clock: it is followed forwards, and never back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from bot.clock import SystemClock

NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


@dataclass
class Machine:
    """A wall clock that can be set, and seconds that only pass."""

    wall: datetime = NOON
    seconds: float = 100.0

    def clock(self) -> SystemClock:
        """The clock on this machine."""
        return SystemClock(lambda: self.wall, lambda: self.seconds)

    def wait(self, seconds: float, *, set_by: float = 0.0) -> None:
        """Let time pass, and set the wall clock by so much."""
        self.seconds += seconds
        self.wall += timedelta(seconds=seconds + set_by)


@pytest.fixture
def machine() -> Machine:
    """At noon."""
    return Machine()


def test_it_follows_the_machine(machine: Machine) -> None:
    """Also where that is set forward."""
    clock = machine.clock()
    machine.wait(5)
    first = clock.now()
    machine.wait(5, set_by=3600)

    assert (NOON + timedelta(seconds=5), machine.wall) == (first, clock.now())


def test_set_back_it_goes_on_as_fast_as_seconds_pass(machine: Machine) -> None:
    """Until the machine has caught up, however long that takes."""
    clock = machine.clock()
    machine.wait(10, set_by=-3600)
    told = [clock.now()]
    machine.wait(300)
    told.append(clock.now())
    machine.wait(60, set_by=3600)

    assert [NOON + timedelta(seconds=10), NOON + timedelta(seconds=310)] == told
    assert machine.wall == clock.now()


def test_a_slow_correction_is_waited_for(machine: Machine) -> None:
    """A clock that lags by less than a second was not set back; time doesn't go back for it either."""
    clock = machine.clock()
    machine.wait(10)
    before = clock.now()
    machine.wait(0.1, set_by=-0.5)

    assert before == clock.now()


def test_behind_what_was_recorded_it_goes_on_from_there(machine: Machine) -> None:
    """A clock that was set back between two starts."""
    clock = machine.clock()
    clock.go_on_from(NOON + timedelta(hours=1))
    machine.wait(30)

    assert NOON + timedelta(hours=1, seconds=30) == clock.now()


def test_it_is_aware() -> None:
    """In UTC."""
    assert UTC == SystemClock().now().tzinfo
