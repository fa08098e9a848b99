"""A throttle that lets the same message through once a minute, or once in another time.

A person who may not decide still gets an answer, but can't make Sayso flood a conversation with answers. A request
whose sender is unproven still gets a line in the log, but can't fill the disk with such lines.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

EVERY_S = 60.0
_KEPT = 10_000


class Patience:
    """Remembers when each of the latest 10,000 messages was let through. It is kept in memory until a restart."""

    def __init__(self, now: Callable[[], float], every_s: float = EVERY_S) -> None:
        self._now = now
        self._every_s = every_s
        self._said: FIFOCache[Hashable, float] = FIFOCache(_KEPT)

    def admits(self, thing: Hashable) -> bool:
        """Return whether this message wasn't let through within the last `every_s` seconds, a minute by default.

        If so, it counts as sent now.
        """
        now = self._now()
        if now - self._said.get(thing, -math.inf) < self._every_s:
            return False
        self._said[thing] = now
        return True
