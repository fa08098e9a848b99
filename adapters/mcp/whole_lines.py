"""A text encoding for the output of MCP servers: UTF-8 that is decoded in whole lines, none of them too long.

The library's client appends each chunk to the text of an unfinished line, and splits all of it again. So a line of
60 MB kept the event loop busy for minutes, and nobody got an answer. With this encoding, the client gets whole lines.
"""

from __future__ import annotations

import codecs
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "sayso_whole_lines"
#: The longest line in bytes, with the bytes of one chunk more.
LONGEST_LINE = 16 * 1024 * 1024
#: A function that is called when a line is too long. The library makes the decoder, in a task with this context.
TOO_LONG: ContextVar[Callable[[], None]] = ContextVar("TOO_LONG", default=lambda: None)


class Decoder(codecs.IncrementalDecoder):
    """Decodes the lines that have ended, and keeps the bytes of the last line until it ends.

    If a line is too long, the decoder calls `TOO_LONG`, and drops this line and everything after it.
    """

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._too_long = TOO_LONG.get()
        self._kept: list[bytes] = []
        self._size = 0

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002 - as declared above
        """Return the text of the lines that have ended. At the end of the stream, also return the last line."""
        if self._size > LONGEST_LINE:
            return ""
        end = len(data) if final else data.rfind(b"\n") + 1
        whole = b"".join((*self._kept, data[:end])) if end or final else b""
        if whole:
            self._kept, self._size = [], 0
        self._kept.append(data[end:])
        self._size += len(data) - end
        if self._size > LONGEST_LINE:
            self._kept = []
            self._too_long()
        return whole.decode("utf-8", self.errors)


def _found(name: str) -> codecs.CodecInfo | None:
    if name != NAME:
        return None
    return codecs.CodecInfo(codecs.utf_8_encode, codecs.utf_8_decode, incrementaldecoder=Decoder, name=NAME)


codecs.register(_found)
