"""Shortens a tool's output: it keeps the start and the end, and counts the characters between them."""

from __future__ import annotations

import codecs

from hitl.cards.text import cut_middle
from hitl.cards.wording import say

#: At most this many characters of output are kept.
OUTPUT_KEPT = 64_000
#: At most this many characters of the text of a tool's error are kept.
ERROR_KEPT = 2_000


def storable(text: str) -> str:
    """Return the text with lone surrogates and NUL escaped.

    UTF-8 can't encode surrogates, and databases can't store NUL.
    """
    return text.encode(errors="backslashreplace").decode().replace("\0", r"\x00")


def capped(text: str, limit: int = OUTPUT_KEPT) -> tuple[str, int]:
    """Return the text shortened to at most `limit` characters, and the number of characters that were left out."""
    cut = cut_middle(storable(text), limit)
    return cut.text, cut.left_out


class Flow:
    """Collects output in bounded memory: decodes it as UTF-8 with replacements, and keeps its start and its end."""

    def __init__(self, limit: int = OUTPUT_KEPT) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._half = limit // 2
        self._head = ""
        self._tail = ""
        self._length = 0

    def feed(self, chunk: bytes, *, final: bool = False) -> None:
        """Add a part of the output. `final` says that no part follows."""
        text = self._decoder.decode(chunk, final)
        self._length += len(text)
        room = self._half - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-self._half :]

    def kept(self) -> tuple[str, int]:
        """Return the text, and the number of characters left out."""
        missing = self._length - len(self._head) - len(self._tail)
        between = "\n" + say("card.left_out", count=missing) + "\n" if missing else ""
        return storable(self._head + between + self._tail), missing
