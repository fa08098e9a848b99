"""Keeps the texts that a terminal shows above the line being typed, so that a decided card can replace its box.

Only text that is still on the screen can be replaced. After the box has scrolled out of sight, or the width has changed
(then the terminal wraps its lines differently), the decided card comes below its box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.terminal.messages import fitted

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

#: The number of rows at the bottom that other code writes: the line that is being typed, and the bar with the keys.
_BELOW = 3


class _Item(Struct, frozen=True):
    """A text on the screen, broken into lines that fit the screen, and the ref of its call (None without a call)."""

    text: str
    about: str | None

    @property
    def rows(self) -> int:
        """The number of rows that the text takes."""
        return self.text.count("\n") + 1


class Screen:
    """A terminal window.

    `write` is a function: it erases a number of lines above the line that is being typed, and shows a text.
    """

    def __init__(self, write: Callable[[int, str], None], size: Callable[[], os.terminal_size]) -> None:
        self._write = write
        self._size = size
        #: The width at which the texts of `_items` were shown.
        self._columns = 0
        #: The texts that were shown since the oldest open box appeared, or since the width last changed. The list is
        #: empty if no box is open.
        self._items: list[_Item] = []
        self._open: set[str] = set()

    def card(self, ref: str, text: str) -> None:
        """Show the box of a pending card."""
        self._open.add(ref)
        self.show(text, ref)

    def show(self, text: str, about: str | None = None) -> None:
        """Show a text below the other texts, with line breaks so that it fits the window."""
        columns = self._size().columns
        if columns != self._columns:
            # The terminal has wrapped the earlier texts at another width, so the number of their rows isn't known.
            self._items, self._columns = [], columns
        item = _Item(fitted(text, columns), about)
        if self._open:
            self._items.append(item)
        self._write(0, item.text)

    def end(self, ref: str, text: str) -> None:
        """Show a decided card. It replaces its box and the texts about its call, if they are in sight."""
        first = next((at for at, item in enumerate(self._items) if item.about == ref), None)
        was_open = ref in self._open
        self._open.discard(ref)
        if not was_open or first is None or not self._is_in_sight(first):
            self._items = self._items if self._open else []
            return self.show(text, ref)
        rows = sum(item.rows for item in self._items[first:])
        kept = [item for item in self._items[first:] if item.about != ref]
        ended = _Item(fitted(text, self._columns), None)
        self._items = [*self._items[:first], *kept, ended] if self._open else []
        return self._write(rows, "\n".join(item.text for item in (*kept, ended)))

    def _is_in_sight(self, first: int) -> bool:
        size = self._size()
        rows = sum(item.rows for item in self._items[first:])
        return size.columns == self._columns and rows <= size.lines - _BELOW
