"""Slack's rate limits, off unless a test switches them on.

The figures are those of the "Rate limits" page: a method's tier says how many calls a minute an app
may make in a workspace; `chat.postMessage` is about one a second in a channel. Bursts are allowed in
none of them here: stricter than Slack.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Final

from .clock import ServerClock


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` calls in `seconds`."""

    most: int
    seconds: float


TIERS: Final = {1: Limit(1, 60.0), 2: Limit(20, 60.0), 3: Limit(50, 60.0), 4: Limit(100, 60.0)}
POSTING: Final = Limit(1, 1.0)

Bucket = tuple[str, str, str]


class FloodControl:
    """Counts calls and says how long to wait."""

    def __init__(self, clock: ServerClock) -> None:
        self.enabled = False
        self._clock = clock
        self._made: dict[Bucket, collections.deque[float]] = collections.defaultdict(collections.deque)

    def admit(self, bucket: Bucket, limit: Limit) -> int:
        """Count a call and return 0, or return the real seconds to wait and count nothing."""
        if not self.enabled:
            return 0
        now = self._clock.now()
        wait = self._wait(bucket, limit, now)
        if wait > 0:
            return self._clock.real_seconds(wait)
        self._made[bucket].append(now)
        return 0

    def _wait(self, bucket: Bucket, limit: Limit, now: float) -> float:
        made = self._made[bucket]
        while made and made[0] <= now - limit.seconds:
            made.popleft()
        return made[0] + limit.seconds - now if len(made) >= limit.most else 0.0
