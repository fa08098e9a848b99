"""Remembers the routes that couldn't be reached recently, and the platform's error message for each.

The data are in memory. After a restart or a reload every route counts as reachable until a message to it fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachetools import FIFOCache
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

#: A lost route counts as lost for this many seconds. After that, Sayso tries to send the next card to the route again.
LOST_FOR_S = 300.0
#: After an alarming refusal, the service counts as unready for this many seconds, or until a message arrives on the
#: route.
ALARMED_FOR_S = 3600.0
_KEPT = 10_000


class _Refused(Struct, frozen=True):
    at: datetime
    #: The platform's error message, masked and shortened.
    why: str
    #: The key of the sentence that names the remedy, or '' if no remedy is known.
    remedy: str
    #: Whether the refusal makes the service count as unready.
    alarming: bool


class Reach:
    """The routes that are lost (chat gone, bot removed), and the routes that refused a card."""

    def __init__(self) -> None:
        self._lost: FIFOCache[str, datetime] = FIFOCache(_KEPT)
        self._refused: FIFOCache[str, _Refused] = FIFOCache(_KEPT)

    def lost(self, route: str, now: datetime) -> None:
        """Record that no message can be sent to this route any more."""
        self._lost[route] = now

    def found(self, route: str) -> None:
        """Record that a message arrived on this route. The route then counts as neither lost nor refused."""
        self._lost.pop(route, None)
        self._refused.pop(route, None)

    def forget(self) -> None:
        """Forget all failures, because the operator may have removed their causes.

        Every route counts as reachable again.
        """
        self._lost.clear()
        self._refused.clear()

    def refused(self, route: str, why: str, now: datetime, *, alarming: bool, remedy: str = "") -> bool:
        """Record that a route will never show a card, with the platform's reason and the key of the remedy.

        Return whether the refusal is new: the route has refused no card before, or it refused for another reason.
        """
        before = self._refused.get(route)
        self._refused[route] = _Refused(now, why, remedy, alarming)
        return before is None or before.why != why

    def refusals(self, now: datetime) -> dict[str, tuple[str, str]]:
        """Return route -> (reason, key of the remedy) for each refusal that still makes the service unready."""
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
