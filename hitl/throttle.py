"""Saying a thing once a minute.

Somebody who may not decide gets an answer, not a way to flood a conversation. Requests that nobody proved to have sent
get lines in the log, not a way to fill the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

EVERY_S = 60.0
_KEPT = 10_000


class Patience:
    """Remembers what was said lately, of the latest 10,000 things. It forgets at a restart: it is no record."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._said: FIFOCache[Hashable, float] = FIFOCache(_KEPT)

    def admits(self, thing: Hashable) -> bool:
        """Whether this wasn't said within the last minute; then it counts as said now."""
        now = self._now()
        if now - self._said.get(thing, -EVERY_S) < EVERY_S:
            return False
        self._said[thing] = now
        return True
