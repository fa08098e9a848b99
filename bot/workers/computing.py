"""Runs long computations on a thread, so that the event loop isn't blocked: a megabyte of arguments takes about a
second.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class OneThread:
    """Implements `hitl.ports.Beside`.

    It runs one computation at a time, because threads would compete for the interpreter.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="sayso-beside")

    async def __call__(self, work: Callable[[], T], /) -> T:
        """Run the work and return its result. Raises the work's errors."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Accept no more work. Work that hasn't begun is never done."""
        self._pool.shutdown(wait=False, cancel_futures=True)
