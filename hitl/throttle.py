"""A throttle for repeated messages: it lets the same message through at most once in a given time, usually a minute.

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
    """Remembers when each message was last let through, and how often it was held back since.

    It remembers at most 10,000 different messages, and forgets the oldest first.
    """

    def __init__(self, now: Callable[[], float], every_s: float = EVERY_S) -> None:
        self._now = now
        self._every_s = every_s
        self._said: FIFOCache[Hashable, tuple[float, int]] = FIFOCache(_KEPT)

    def admits(self, thing: Hashable) -> bool:
        """Return whether to let this message through: it was last let through at least `every_s` seconds ago, or never.

        A message that is let through counts as sent now.
        """
        return self.held_back(thing) is not None

    def held_back(self, thing: Hashable) -> int | None:
        """Return None if this message must be held back now.

        Otherwise return how often it was held back since it was last let through. A message that is let through counts
        as sent now, as with `admits`.
        """
        now = self._now()
        at, held = self._said.get(thing, (-math.inf, 0))
        if 0 <= now - at < self._every_s:
            self._said[thing] = at, held + 1
            return None
        self._said[thing] = now, 0
        return held
