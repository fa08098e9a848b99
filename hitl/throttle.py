"""A throttle that lets the same message through once a minute.

A person who may not decide still gets an answer, but can't make Sayso flood a conversation with answers. A request
whose sender is unproven still gets a line in the log, but can't fill the disk with such lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

EVERY_S = 60.0
_KEPT = 10_000


class Patience:
    """Remembers when each of the latest 10,000 messages was let through. It is kept in memory until a restart."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._said: FIFOCache[Hashable, float] = FIFOCache(_KEPT)

    def admits(self, thing: Hashable) -> bool:
        """Return whether this message wasn't let through within the last minute. If so, it counts as sent now."""
        now = self._now()
        if now - self._said.get(thing, -EVERY_S) < EVERY_S:
            return False
        self._said[thing] = now
        return True
