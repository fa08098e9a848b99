"""Which conversations could not be reached of late, whatever was sent there.

It is kept in memory: after a restart every conversation counts as reachable until it shows that it isn't.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

#: How long a conversation counts as lost before the next card is tried there again.
LOST_FOR_S = 300.0
_KEPT = 10_000


class Reach:
    """Routes that refused a card because of what they are (chat gone, bot removed, token revoked), not of the card."""

    def __init__(self) -> None:
        self._lost: FIFOCache[str, datetime] = FIFOCache(_KEPT)

    def lost(self, route: str, now: datetime) -> None:
        """A card could not be put there, and neither could any other."""
        self._lost[route] = now

    def found(self, route: str) -> None:
        """Something arrived there."""
        self._lost.pop(route, None)

    def any(self, routes: Iterable[str], now: datetime) -> bool:
        """Whether one of the routes may be reachable."""
        return any(not self._is_lost(route, now) for route in routes)

    def _is_lost(self, route: str, now: datetime) -> bool:
        since = self._lost.get(route)
        return since is not None and 0 <= (now - since).total_seconds() < LOST_FOR_S
