"""Telegram's rate limits for messages, off unless a test switches them on.

The figures are those of the bots' FAQ: about 1 message a second in a chat, 30 a second in all,
20 a minute in a group. Bursts are allowed in none of them here: stricter than Telegram.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Final

from .clock import ServerClock
from .state import Chat


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` messages in `seconds`."""

    name: str
    most: int
    seconds: float


PER_CHAT: Final = Limit("chat", 1, 1.0)
PER_GROUP: Final = Limit("group", 20, 60.0)
OVERALL: Final = Limit("all", 30, 1.0)

Bucket = tuple[str, int, int]


class FloodControl:
    """Counts messages and says how long to wait."""

    def __init__(self, clock: ServerClock) -> None:
        self.enabled = False
        self._clock = clock
        self._sent: dict[Bucket, collections.deque[float]] = collections.defaultdict(collections.deque)

    def admit(self, bot_id: int, room: Chat) -> int:
        """Count a message and return 0, or return the real seconds to wait and count nothing."""
        if not self.enabled:
            return 0
        now = self._clock.now()
        buckets = _buckets(bot_id, room)
        wait = max(self._wait(bucket, limit, now) for bucket, limit in buckets)
        if wait > 0:
            return self._clock.real_seconds(wait)
        for bucket, _ in buckets:
            self._sent[bucket].append(now)
        return 0

    def _wait(self, bucket: Bucket, limit: Limit, now: float) -> float:
        sent = self._sent[bucket]
        while sent and sent[0] <= now - limit.seconds:
            sent.popleft()
        return sent[0] + limit.seconds - now if len(sent) >= limit.most else 0.0


def _buckets(bot_id: int, room: Chat) -> list[tuple[Bucket, Limit]]:
    limits = [PER_CHAT] if room.kind == "private" else [PER_CHAT, PER_GROUP]
    each: list[tuple[Bucket, Limit]] = [((one.name, bot_id, room.id), one) for one in limits]
    return [*each, ((OVERALL.name, bot_id, 0), OVERALL)]
