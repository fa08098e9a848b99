"""The texts on a terminal above the line that is being typed, so that a decided card takes the place of its box.

Only text that is still on the screen can be replaced. A terminal keeps what scrolled out of sight, and wraps its lines
anew when its width changes; after either, the decided card stands below its box.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from wcwidth import wcswidth

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

#: Lines at the bottom that aren't ours: the line that is being typed, and the bar with the keys.
_BELOW = 3
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class _Item(Struct, frozen=True):
    """A text on the screen, and the ref of its call, None if it is about no call."""

    text: str
    about: str | None


class Screen:
    """A terminal window. `write` erases that many lines above the line that is being typed, then shows a text there."""

    def __init__(self, write: Callable[[int, str], None], size: Callable[[], os.terminal_size]) -> None:
        self._write = write
        self._size = size
        self._columns = 0
        #: The texts since the oldest open box, which is the first; empty without an open box.
        self._items: list[_Item] = []
        self._open: set[str] = set()

    def card(self, ref: str, text: str) -> None:
        """Show the box of a pending card."""
        self._open.add(ref)
        self.show(text, ref)

    def show(self, text: str, about: str | None = None) -> None:
        """Show a text below the others."""
        if self._open:
            self._columns = self._columns if self._items else self._size().columns
            self._items.append(_Item(text, about))
        self._write(0, text)

    def end(self, ref: str, text: str) -> None:
        """Show a decided card. It takes the place of its box and of what was said about it, if they are in sight."""
        first = next((at for at, item in enumerate(self._items) if item.about == ref), None)
        if ref not in self._open or first is None or not self._is_in_sight(first):
            self._open.discard(ref)
            self._items = self._items if self._open else []
            return self.show(text, ref)
        lines = sum(self._height(item.text) for item in self._items[first:])
        kept = [item for item in self._items[first:] if item.about != ref]
        self._open.discard(ref)
        self._items = [*self._items[:first], *kept, _Item(text, None)] if self._open else []
        return self._write(lines, "\n".join([*(item.text for item in kept), text]))

    def _is_in_sight(self, first: int) -> bool:
        size = self._size()
        lines = sum(self._height(item.text) for item in self._items[first:])
        return size.columns == self._columns and lines <= size.lines - _BELOW

    def _height(self, text: str) -> int:
        """Return how many lines of the window a text takes."""
        widths = (wcswidth(_COLOURS.sub("", line)) for line in text.split("\n"))
        return sum(max(1, -(-width // self._columns)) for width in widths)
