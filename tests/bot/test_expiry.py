"""The timer of all deadlines: what it does when it is early."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.compose import Running
from hitl.model import Ask, Runs
from hitl.testing import SetClock
from tests.bot.conftest import ASKER, PLACE

TICK = timedelta(microseconds=1)


class Ticking(SetClock):
    """A clock that goes on by a moment each time that somebody looks, once it was started."""

    tick = timedelta(0)

    def now(self) -> datetime:
        """The time; the next to look sees a later one."""
        self._now += self.tick
        return self._now


@pytest.fixture
def clock() -> Ticking:
    """Noon, until it is started."""
    return Ticking(datetime(2026, 11, 27, 12, 0, tzinfo=UTC))


async def test_a_timer_that_fires_early_looks_again_at_once(running: Running, clock: Ticking) -> None:
    """Event loops round to a millisecond. What wasn't due when it looked, and is when it has looked, isn't stuck."""
    ask = Ask("workspace", "bash", {"command": "true"}, ASKER, PLACE, Runs.SERVICE)
    call = (await running.service.submit(ask)).call
    expiry = running.service.expiry
    clock.advance((call.deadline - clock.now() - 2 * TICK).total_seconds())
    clock.tick = TICK
    await expiry.sweep()

    assert expiry._timer is not None  # noqa: SLF001 - waiting for it would be a race
    assert expiry._timer.when() - asyncio.get_running_loop().time() < 0.1  # noqa: SLF001 - as above
