"""Entities that Telegram finds by itself in any text: links, mentions, commands, hashtags.

They matter for a bot's own messages too: a bare `@name` or `example.com` in them becomes live,
unless it stands in `code` or `pre`. The patterns are simpler than TDLib's (few top-level domains,
ASCII names), and never find less inside ordinary English text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from simulators.telegram.html import Entity, Formatted, units

_TLDS = "com|org|net|io|dev|app|ai|me|info|biz|edu|gov|mil|int|ru|de|uk|fr|cn|eu|us|co|tv|xyz|sh|to|ly"
_HOST = rf"(?:[\w-]+\.)+(?:{_TLDS})\b"

# In order: what is found first keeps its place.
FINDERS: Final = (
    ("url", re.compile(r"(?:https?|ftp|tg|tonsite)://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]", re.IGNORECASE)),
    ("email", re.compile(rf"\b[\w.+-]+@{_HOST}", re.IGNORECASE)),
    ("url", re.compile(rf"(?<![\w@./-]){_HOST}(?::\d+)?(?:/[^\s<>\"']*)?", re.IGNORECASE)),
    ("mention", re.compile(r"(?<![\w@/.])@[A-Za-z][A-Za-z0-9_]{2,31}(?!\w)")),
    ("bot_command", re.compile(r"(?<![\w/<>.@#])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>])")),
    ("hashtag", re.compile(r"(?<![\w#&])#\w*[^\W\d]\w*")),
    ("cashtag", re.compile(r"(?<!\w)\$[A-Z]{1,8}(?!\w)")),
)
OPAQUE: Final = frozenset({"code", "pre", "text_link", "text_mention", "date_time", "custom_emoji"})


def detect(formatted: Formatted) -> Formatted:
    """Return the text with what Telegram finds in it added to its entities."""
    taken = [one for one in formatted.entities if one.type in OPAQUE]
    found: list[Entity] = []
    for one in _candidates(formatted.text):
        if not any(one.offset < other.end and other.offset < one.end for other in taken):
            taken.append(one)
            found.append(one)
    every = sorted([*formatted.entities, *found], key=lambda one: (one.offset, -one.length))
    return Formatted(formatted.text, tuple(every))


def _candidates(text: str) -> Iterator[Entity]:
    for kind, pattern in FINDERS:
        for match in pattern.finditer(text):
            yield Entity(kind, units(text[: match.start()]), units(match.group()))


def covered(text: str, entity: Entity) -> str:
    """Return the words that an entity covers."""
    raw = text.encode("utf-16-le")
    return raw[2 * entity.offset : 2 * entity.end].decode("utf-16-le")
