"""The conversations that could not be reached recently, with the platform's error message for each.

The list is kept in memory. After a restart or a reload every conversation counts as reachable until a message to it
fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachetools import FIFOCache

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

#: A conversation counts as lost for this many seconds. After that, Sayso tries the next card there again.
LOST_FOR_S = 300.0
#: After a refusal, the service is unready for this many seconds, or until a message arrives on that route.
ALARMED_FOR_S = 3600.0
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class _Refused:
    at: datetime
    #: The platform's error message, masked and shortened.
    why: str
    #: The key of the sentence that names the remedy.
    remedy: str
    #: Whether the refusal makes the service unready.
    alarming: bool


class Reach:
    """Remembers routes on which no card can be posted (chat gone, bot removed), and routes that refused a card."""

    def __init__(self) -> None:
        self._lost: FIFOCache[str, datetime] = FIFOCache(_KEPT)
        self._refused: FIFOCache[str, _Refused] = FIFOCache(_KEPT)

    def lost(self, route: str, now: datetime) -> None:
        """Record that no card at all can be posted on this route."""
        self._lost[route] = now

    def found(self, route: str) -> None:
        """Record that a message arrived on this route. The route then counts as neither lost nor refused."""
        self._lost.pop(route, None)
        self._refused.pop(route, None)

    def forget(self) -> None:
        """Let every conversation count as reachable again, because the operator may have mended some of them."""
        self._lost.clear()
        self._refused.clear()

    def refused(self, route: str, why: str, now: datetime, *, alarming: bool, remedy: str = "") -> bool:
        """Record that a route refused a card for good, with the reason and the key of the remedy.

        Return whether the refusal is new: the route refused nothing before, or it refused for another reason.
        """
        before = self._refused.get(route)
        self._refused[route] = _Refused(now, why, remedy, alarming)
        return before is None or before.why != why

    def refusals(self, now: datetime) -> dict[str, tuple[str, str]]:
        """Return route -> (reason, key of the remedy) for each recent alarming refusal."""
        return {
            route: (refused.why, refused.remedy)
            for route, refused in self._refused.items()
            if refused.alarming and (now - refused.at).total_seconds() < ALARMED_FOR_S
        }

    def any(self, routes: Iterable[str], now: datetime) -> bool:
        """Return whether at least one of the routes isn't lost."""
        return any(not self._is_lost(route, now) for route in routes)

    def _is_lost(self, route: str, now: datetime) -> bool:
        since = self._lost.get(route)
        return since is not None and 0 <= (now - since).total_seconds() < LOST_FOR_S
