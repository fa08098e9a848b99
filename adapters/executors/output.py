"""What a tool said, kept within a bound however much it was: the head, a count of what is missing, the
tail.
"""

from __future__ import annotations

import codecs

from hitl.cards.text import cut_middle
from hitl.cards.wording import say

#: Characters of output that are kept.
OUTPUT_KEPT = 64_000
#: Characters of an error that are kept.
ERROR_KEPT = 2_000


def storable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 can't carry, and NUL, which databases can't, escaped."""
    return text.encode(errors="backslashreplace").decode().replace("\0", r"\x00")


def capped(text: str, limit: int = OUTPUT_KEPT) -> tuple[str, int]:
    """The text in at most `limit` characters, and how many are missing from it."""
    cut = cut_middle(storable(text), limit)
    return cut.text, cut.left_out


class Flow:
    """Output as it comes, in bounded memory: decoded as UTF-8 with replacements, head and tail kept."""

    def __init__(self, limit: int = OUTPUT_KEPT) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._half = limit // 2
        self._head = ""
        self._tail = ""
        self._length = 0

    def feed(self, chunk: bytes, *, final: bool = False) -> None:
        """Take what came; `final` where no more will."""
        text = self._decoder.decode(chunk, final)
        self._length += len(text)
        room = self._half - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-self._half :]

    def kept(self) -> tuple[str, int]:
        """The text, and how many characters are missing from it."""
        missing = self._length - len(self._head) - len(self._tail)
        between = "\n" + say("card.left_out", count=missing) + "\n" if missing else ""
        return storable(self._head + between + self._tail), missing
