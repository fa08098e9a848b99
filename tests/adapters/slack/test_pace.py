"""How fast we speak: within Slack's limits, and nobody waits for another channel."""

from __future__ import annotations

import pytest

from adapters.slack.pace import EDITS, KEPT_EDITS, Pace
from hitl.ports import NotYetError
from tests.adapters.hours import Hours


def paced(hours: Hours, scale: float = 1.0) -> Pace:
    """On that time."""
    return Pace(lambda: hours.now, sleep=hours.sleep, scale=scale)


async def turns(hours: Hours, pace: Pace, channel: str, count: int) -> list[float]:
    """When each turn came."""
    return await hours.when(lambda: pace.turn(channel), count)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.0])
async def test_a_channel_hears_one_message_a_second(scale: float) -> None:
    """Or as much of that as is kept."""
    hours = Hours()

    assert [n * scale for n in range(5)] == await turns(hours, paced(hours, scale), "C1", 5)


async def test_channels_do_not_wait_for_one_another() -> None:
    """Each has its own second."""
    hours = Hours()
    pace = paced(hours)

    assert [0.0] * 9 == [(await turns(hours, pace, f"C{number}", 1))[0] for number in range(9)]


async def test_fifty_edits_a_minute() -> None:
    """The fifty-first waits for the first to be a minute old."""
    hours = Hours()
    pace = paced(hours)
    times = []
    for _ in range(2 * EDITS + 1):
        await pace.edit()
        times.append(hours.now)

    assert [0.0] * EDITS + [60.0] * EDITS + [120.0] == times


async def test_refreshes_leave_half_of_the_edits_to_outcomes() -> None:
    """Twenty-five refreshes a minute, then as many outcomes; nobody waits here, and each is told when to come again."""
    hours = Hours()
    pace = paced(hours)
    for _ in range(EDITS - KEPT_EDITS):
        pace.edit_now(refresh=True)
    with pytest.raises(NotYetError):
        pace.edit_now(refresh=True)
    for _ in range(KEPT_EDITS):
        pace.edit_now(refresh=False)
    with pytest.raises(NotYetError) as full:
        pace.edit_now(refresh=False)

    assert (60.0, 0.0) == (full.value.seconds, hours.now)


async def test_a_pause_that_slack_asks_for_is_kept() -> None:
    """In that channel alone; and between edits."""
    hours = Hours()
    pace = paced(hours)
    pace.hold("C1", 30.0)
    other = await turns(hours, pace, "C2", 1)
    held = await turns(hours, pace, "C1", 1)
    pace.hold_edits(7.0)
    await pace.edit()

    assert ([0.0], [30.0], 37.0) == (other, held, hours.now)
