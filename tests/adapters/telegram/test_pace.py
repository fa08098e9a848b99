"""How fast we speak: within Telegram's limits, and nobody waits for another chat."""

from __future__ import annotations

import asyncio

import pytest

from adapters.telegram.pace import KEPT_PER_GROUP, OVERALL, PER_GROUP, Pace
from hitl.ports import NotYetError
from tests.adapters.hours import Hours

GROUP, PERSON = -1, 1


def paced(hours: Hours, scale: float = 1.0) -> Pace:
    """On that time."""
    return Pace(lambda: hours.now, sleep=hours.sleep, scale=scale)


async def turns(hours: Hours, pace: Pace, chat_id: int, count: int) -> list[float]:
    """When each turn came."""
    return await hours.when(lambda: pace.turn(chat_id), count)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.0])
async def test_a_chat_hears_one_message_a_second(scale: float) -> None:
    """Or as much of that as is kept."""
    hours = Hours()

    assert [n * scale for n in range(5)] == await turns(hours, paced(hours, scale), PERSON, 5)


async def test_a_group_hears_twenty_a_minute() -> None:
    """Any twenty-one messages take a minute, whatever is said when."""
    hours = Hours()
    times = await turns(hours, paced(hours), GROUP, 3 * PER_GROUP + 1)

    assert [60.0] * (2 * PER_GROUP + 1) == [times[n + PER_GROUP] - times[n] for n in range(2 * PER_GROUP + 1)]


async def test_all_chats_together_hear_thirty_a_second() -> None:
    """Also when each has something to say at once."""
    hours = Hours()
    pace = paced(hours)
    times = [(await turns(hours, pace, chat_id, 1))[0] for chat_id in range(1, 2 * OVERALL + 2)]

    assert [0.0] * OVERALL + [1.0] * OVERALL + [2.0] == times


async def test_refreshes_leave_half_of_a_minute_to_others() -> None:
    """Ten refreshes a minute go to a group, one a second. After them ten messages still go out, the first at once."""
    hours = Hours()
    pace = paced(hours)
    for _ in range(PER_GROUP - KEPT_PER_GROUP):
        await pace.refresh(GROUP)
        with pytest.raises(NotYetError):
            await pace.refresh(GROUP)
        hours.now += 1
    with pytest.raises(NotYetError) as full:
        await pace.refresh(GROUP)
    began = hours.now

    assert 50 == full.value.seconds
    assert [began + n for n in range(KEPT_PER_GROUP)] == await turns(hours, pace, GROUP, KEPT_PER_GROUP)


async def test_a_message_need_not_wait_behind_a_refresh() -> None:
    """A new card goes out at once right behind a refresh in the same chat."""
    hours = Hours()
    pace = paced(hours)
    await pace.refresh(PERSON)

    assert [0.0] == await turns(hours, pace, PERSON, 1)


async def test_no_refresh_goes_out_in_a_pause_that_telegram_asks_for() -> None:
    """It says when to come again."""
    hours = Hours()
    pace = paced(hours)
    pace.hold(PERSON, 35)
    with pytest.raises(NotYetError) as held:
        await pace.refresh(PERSON)

    assert 36 == held.value.seconds


async def test_a_pause_that_telegram_asks_for_is_kept_in_that_chat() -> None:
    """In others it isn't."""
    hours = Hours()
    pace = paced(hours)
    pace.hold(PERSON, 35)

    assert [0.0] == await turns(hours, pace, GROUP, 1)
    assert [36.0] == await turns(hours, pace, PERSON, 1)


async def test_a_chat_that_must_wait_holds_up_no_other() -> None:
    """Forty turns of one group are taken far ahead; a person is spoken to at once."""
    shared = Pace(asyncio.get_running_loop().time)
    shared.hold(GROUP, 3600)
    waiting = [asyncio.ensure_future(shared.turn(GROUP)) for _ in range(40)]
    await asyncio.sleep(0)
    async with asyncio.timeout(1):
        await shared.turn(PERSON)
    still = [task.done() for task in waiting]
    for task in waiting:
        task.cancel()

    assert [False] * 40 == still


async def test_it_remembers_no_more_chats_than_it_may() -> None:
    """However many there are."""
    shared = paced(Hours())
    for chat_id in range(1, 12_000):
        shared.hold(chat_id, 0)

    assert 10_000 == len(shared._sent)  # noqa: SLF001 - how much it holds is what is asked
