"""Rate limits, off unless a test switches them on; a platform's `flood` has its figures."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from simulators.common.clock import ServerClock


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` calls in `seconds`."""

    most: int
    seconds: float


class FloodControl:
    """Counts calls, each in its buckets, and says how long to wait."""

    def __init__(self, clock: ServerClock) -> None:
        self.enabled = False
        self._clock = clock
        self._made: dict[Hashable, collections.deque[float]] = collections.defaultdict(collections.deque)

    def admit(self, buckets: Sequence[tuple[Hashable, Limit]]) -> int:
        """Count a call and return 0, or return the real seconds to wait and count nothing."""
        if not self.enabled:
            return 0
        now = self._clock.now()
        wait = max(self._wait(bucket, limit, now) for bucket, limit in buckets)
        if wait > 0:
            return self._clock.real_seconds(wait)
        for bucket, _ in buckets:
            self._made[bucket].append(now)
        return 0

    def _wait(self, bucket: Hashable, limit: Limit, now: float) -> float:
        made = self._made[bucket]
        while made and made[0] <= now - limit.seconds:
            made.popleft()
        return made[0] + limit.seconds - now if len(made) >= limit.most else 0.0
