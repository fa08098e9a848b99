"""The timer of all deadlines: what it does when it is early."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.compose import Running
from hitl.call import Ask, Runs, Status
from hitl.errors import Tampered
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


def asking(command: str) -> Ask:
    """Somebody wants a command run."""
    return Ask("workspace", "bash", {"command": command}, ASKER, PLACE, Runs.SERVICE)


def fires_in(running: Running) -> float:
    """In how many seconds the timer looks again; to wait for it would be a race."""
    timer = running.service.expiry._timer  # noqa: SLF001 - said above
    assert timer is not None
    return timer.when() - asyncio.get_running_loop().time()


async def test_a_timer_that_fires_early_looks_again_at_once(running: Running, clock: Ticking) -> None:
    """Event loops round to a millisecond. What wasn't due when it looked, and is when it has looked, isn't stuck."""
    call = (await running.service.submit(asking("make it"))).call
    clock.advance((call.deadline - clock.now() - 3 * TICK).total_seconds())
    clock.tick = TICK
    await running.service.expiry.sweep()

    assert fires_in(running) < 0.1


async def test_a_row_that_can_not_be_read_is_looked_at_seldom(running: Running, clock: Ticking, tmp_path: Path) -> None:
    """Nothing can end it; others end in time, and the timer doesn't turn for it all the time."""
    spoilt, sound = [(await running.service.submit(asking(command))).call for command in ("make it", "make that")]
    with sqlite3.connect(tmp_path / "state" / "sayso.db") as database:
        database.execute("update calls set args = cast(args as text) where ref = ?", (spoilt.ref,))
    clock.advance((sound.deadline - clock.now()).total_seconds())
    await running.service.expiry.sweep()
    await running.service.expiry.sweep()
    ended = await running.store.get(sound.ref)

    assert ended is not None
    assert Status.EXPIRED is ended.status
    assert fires_in(running) > 0.5
    with pytest.raises(Tampered):
        await running.store.get(spoilt.ref)


async def test_deadlines_are_looked_at_seldom_while_time_stands(running: Running, clock: Ticking) -> None:
    """While the clock catches up after it was set back, a call that is due in a moment isn't looked at each moment."""
    call = (await running.service.submit(asking("make it"))).call
    clock.advance((call.deadline - clock.now() - TICK).total_seconds())
    running.store.clock.now()
    clock.advance(-3600)
    await running.service.expiry.sweep()
    await running.service.expiry.sweep()

    assert fires_in(running) > 0.5
