"""Reads emoji as answers. Emoji are Unicode's characters, the names that chat platforms use, and a few typed faces."""

import re
from enum import Enum
from functools import cache, lru_cache

from hitl.replies import data

_BASE = (
    "[\u203c\u00a9\u00ae\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_AFTER = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_NAME = "[a-z0-9_+'-]+"
PATTERN = (
    f"{_BASE}{_AFTER}(?:\u200d{_BASE}{_AFTER})*"
    "|[0-9#*]\ufe0f?\u20e3"
    f"|:{_NAME}:(?::skin-tone-[2-6]:)?|[a-z0-9_+-]{{1,40}}::skin-tone-[2-6]"
    "|:'?-?[/\\\\(|][/(|]*(?![^\\s.,!])|(?<![^\\s])(?:[;:]-?[Pp)*oO3sS]|[xX]-?[dD]|[>=]:?[/(]|-_+-|>_<"
    "|T_T)(?![^\\s.,!])"
    "|(?<![^\\s])(?::-?\\)|\\(:|=\\)|:-?D|<3|\\^\\^|\\([ynYN]\\))(?![^\\s.,!])"
)
_TONE = re.compile(":?:skin-tone-[2-6]:?$")
#: The number of emoji whose meaning is kept. The names of emoji come from people, so there may be any number of them.
_KEPT = 1_024
_UNIMPORTANT = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[\u2640\u2642]")


class Sign(Enum):
    """The meaning of an emoji as an answer. WITH means that it may follow a yes, but is no answer alone."""

    YES = "yes"
    NO = "no"
    WITH = "with"


@lru_cache(_KEPT)
def sign(emoji: str) -> Sign | None:
    """Return the meaning of an emoji, or None if the emoji is unknown.

    `emoji` is the character itself, `:name:`, or the bare `name` of a reaction. Platforms that send names write the
    skin tone after the name (`+1::skin-tone-4`).
    """
    named = _TONE.sub("", emoji)
    plain = named.strip(":") if len(named) > 1 and named.strip(":") else named
    return _signs().get(_UNIMPORTANT.sub("", plain).lower()) or _signs().get(emoji)


@cache
def _signs() -> dict[str, Sign]:
    table: dict[str, Sign] = {}
    for line in data.lines("emoji.txt"):
        meaning, *names = line.split()
        table |= dict.fromkeys(names, Sign(meaning))
    return table
