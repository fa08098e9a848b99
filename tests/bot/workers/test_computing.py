"""Long computing beside the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bot.workers.computing import OneThread


async def test_the_loop_goes_on_meanwhile() -> None:
    """Work runs on a thread of its own: the event loop can do what the work waits for."""
    beside, told = OneThread(), threading.Event()

    def work() -> str:
        return "heard" if told.wait(30) else "not heard"

    task = asyncio.ensure_future(beside(work))
    await asyncio.sleep(0)
    told.set()

    assert await task == "heard"
    beside.close()


async def test_what_the_work_raises_is_raised() -> None:
    """An error of the work reaches whoever asked for it, and the next work is done."""
    beside = OneThread()

    with pytest.raises(ZeroDivisionError):
        await beside(lambda: 1 // 0)
    assert await beside(lambda: 1) == 1
    beside.close()
