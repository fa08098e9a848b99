"""A bell wakes a worker that waits for work."""

from __future__ import annotations

import asyncio

from bot.workers.bell import Bell


async def test_a_ring_during_the_look_for_work_ends_the_next_wait() -> None:
    """A worker that is woken while it looks for work looks again at once, without a limit of time."""
    bell = Bell()
    bell.reset()
    bell.ring()
    waiting = asyncio.ensure_future(bell.wait(None))
    done, _ = await asyncio.wait({waiting}, timeout=10)

    assert {waiting} == done


async def test_a_ring_before_the_look_for_work_is_forgotten() -> None:
    """The worker has looked since that ring, so it waits, here until the wait is cancelled."""
    bell = Bell()
    bell.ring()
    bell.reset()
    waiting = asyncio.ensure_future(bell.wait(None))
    await asyncio.sleep(0)
    still = not waiting.done()
    waiting.cancel()

    assert still


async def test_a_wait_without_a_ring_ends_after_its_time() -> None:
    """A worker looks for work again even if nobody wakes it."""
    waiting = asyncio.ensure_future(Bell().wait(0.001))
    done, _ = await asyncio.wait({waiting}, timeout=10)

    assert {waiting} == done
