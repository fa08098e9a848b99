"""The conversations that could not be reached recently, and the platform's words about each.

It is kept in memory: after a restart every conversation counts as reachable until it shows that it isn't.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

#: How long a conversation counts as lost before the next card is tried there again.
LOST_FOR_S = 300.0
#: A refusal is in the way of being ready for this time, unless something arrives there before.
ALARMED_FOR_S = 3600.0
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class _Refused:
    at: datetime
    #: The platform's words.
    why: str
    remedy: str
    #: Whether it is in the way of being ready.
    alarming: bool


class Reach:
    """Routes that refused a card because of what they are (chat gone, bot removed, token revoked), not of the card."""

    def __init__(self) -> None:
        self._lost: FIFOCache[str, datetime] = FIFOCache(_KEPT)
        self._refused: FIFOCache[str, _Refused] = FIFOCache(_KEPT)

    def lost(self, route: str, now: datetime) -> None:
        """A card could not be put there, and neither could any other."""
        self._lost[route] = now

    def found(self, route: str) -> None:
        """Something arrived there."""
        self._lost.pop(route, None)
        self._refused.pop(route, None)

    def refused(self, route: str, why: str, now: datetime, *, alarming: bool, remedy: str = "") -> bool:
        """Keep that a route refused a card for good, why, and the key of the remedy. Return whether that is news."""
        before = self._refused.get(route)
        self._refused[route] = _Refused(now, why, remedy, alarming)
        return before is None or before.why != why

    def refusals(self, now: datetime) -> dict[str, tuple[str, str]]:
        """Return why cards can't go out, and the key of the remedy, by route; what isn't alarming is left out."""
        return {
            route: (refused.why, refused.remedy)
            for route, refused in self._refused.items()
            if refused.alarming and (now - refused.at).total_seconds() < ALARMED_FOR_S
        }

    def any(self, routes: Iterable[str], now: datetime) -> bool:
        """Whether one of the routes may be reachable."""
        return any(not self._is_lost(route, now) for route in routes)

    def _is_lost(self, route: str, now: datetime) -> bool:
        since = self._lost.get(route)
        return since is not None and 0 <= (now - since).total_seconds() < LOST_FOR_S
