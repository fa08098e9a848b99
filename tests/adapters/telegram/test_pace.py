"""How fast we speak: within Telegram's limits, and nobody waits for another chat."""

from __future__ import annotations

import asyncio

from adapters.telegram.pace import OVERALL, PER_GROUP, Pace

#: One of Telegram's seconds here.
SECOND = 0.004
GROUP, PERSON = -1, 1


async def turns(pace: Pace, chat_id: int, count: int) -> list[float]:
    """When each turn came, in Telegram's seconds."""
    loop = asyncio.get_running_loop()
    times = []
    for _ in range(count):
        await pace.turn(chat_id)
        times.append(loop.time() / SECOND)
    return times


def pace() -> Pace:
    """On the loop's clock."""
    return Pace(asyncio.get_running_loop().time, scale=SECOND)


async def test_a_chat_hears_one_message_a_second() -> None:
    """Slots lie a second apart."""
    times = await turns(pace(), PERSON, 5)

    assert times[-1] - times[0] > 3.5


async def test_a_group_hears_twenty_a_minute() -> None:
    """Any twenty-one messages take a minute."""
    times = await turns(pace(), GROUP, 2 * PER_GROUP + 1)

    assert all(times[n + PER_GROUP] - times[n] > 59 for n in range(PER_GROUP))


async def test_all_chats_together_hear_thirty_a_second() -> None:
    """Also when each has something to say at once."""
    shared = pace()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(shared.turn(chat_id) for chat_id in range(1, 3 * OVERALL + 1)))

    assert (loop.time() - began) / SECOND > 1.9


async def test_a_chat_that_must_wait_holds_up_no_other() -> None:
    """Forty turns of one group are taken far ahead; a person is spoken to at once."""
    shared = pace()
    shared.hold(GROUP, 3600)
    waiting = [asyncio.ensure_future(shared.turn(GROUP)) for _ in range(40)]
    await asyncio.sleep(0)
    async with asyncio.timeout(1):
        await shared.turn(PERSON)
    still = [task.done() for task in waiting]
    for task in waiting:
        task.cancel()

    assert [False] * 40 == still


async def test_a_pause_that_telegram_asks_for_is_kept() -> None:
    """In that chat."""
    shared = pace()
    loop = asyncio.get_running_loop()
    began = loop.time()
    shared.hold(PERSON, 0.05)
    await shared.turn(PERSON)

    assert loop.time() - began >= 0.05


async def test_it_remembers_no_more_chats_than_it_may() -> None:
    """However many there are."""
    shared = pace()
    for chat_id in range(1, 12_000):
        shared.hold(chat_id, 0)

    assert 10_000 == len(shared._sent)  # noqa: SLF001 - how much it holds is what is asked
