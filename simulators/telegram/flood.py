"""Telegram's rate limits for messages.

The figures are those of the bots' FAQ: about 1 message a second in a chat, 30 a second in all,
20 a minute in a group. Bursts are allowed in none of them here: stricter than Telegram.
"""

from __future__ import annotations

from typing import Final

from simulators.common.flood import Limit
from simulators.telegram.state import Chat

PER_CHAT: Final = Limit(1, 1.0)
PER_GROUP: Final = Limit(20, 60.0)
OVERALL: Final = Limit(30, 1.0)

Bucket = tuple[str, int, int]


def limits_of(bot_id: int, room: Chat) -> list[tuple[Bucket, Limit]]:
    """Return the buckets that a bot's message in a chat falls into, and what they hold."""
    found: list[tuple[Bucket, Limit]] = [(("chat", bot_id, room.id), PER_CHAT), (("all", bot_id, 0), OVERALL)]
    return found if room.kind == "private" else [*found, (("group", bot_id, room.id), PER_GROUP)]
