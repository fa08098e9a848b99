"""Waiting until a service and the platform that it speaks to have nothing left to say to each other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def quieted(
    is_quiet: Callable[[], Awaitable[bool]], between: Callable[[], None] | None, patience_s: float
) -> None:
    """Until it was quiet three times in a row; `between` is done while waiting. Raises TimeoutError."""
    async with asyncio.timeout(patience_s):
        quiet = 0
        while quiet < 3:
            quiet = quiet + 1 if await is_quiet() else 0
            if between is not None:
                between()
            await asyncio.sleep(0.005)
