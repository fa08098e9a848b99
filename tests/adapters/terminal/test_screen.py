"""The window of a terminal: a decided card takes the place of its box, if that is in sight."""

from __future__ import annotations

import os

import pyte
import pytest

from adapters.terminal.screen import Screen

BOX = "┃ a request\n┃ for you"
DONE = "\x1b[2m✓ done\x1b[0m"


class Window:
    """A terminal of 20 columns and 12 lines."""

    def __init__(self) -> None:
        self.columns, self.rows = 20, 12
        self._terminal = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.Stream(self._terminal)
        self.screen = Screen(self.write, lambda: os.terminal_size((self.columns, self.rows)))

    def write(self, erased: int, text: str) -> None:
        """Write as the line editor does."""
        up = f"\x1b[{erased}A\x1b[J" if erased else ""
        self._stream.feed(up + text.replace("\n", "\r\n") + "\r\n")

    @property
    def lines(self) -> list[str]:
        """What is to be seen."""
        return [line.rstrip() for line in self._terminal.display if line.strip()]


@pytest.fixture
def window() -> Window:
    """An empty window."""
    return Window()


def test_a_decided_card_takes_the_place_of_its_box(window: Window) -> None:
    """With what was said about it; other lines stay, above it."""
    window.screen.show("hello")
    window.screen.card("a", BOX)
    window.screen.show("a again", "a")
    window.screen.show("> yes")
    window.screen.end("a", DONE)

    assert ["hello", "> yes", "✓ done"] == window.lines


def test_another_box_stays(window: Window) -> None:
    """Also one that came later, and it is collapsed in its turn."""
    window.screen.card("a", BOX)
    window.screen.card("b", "┃ another")
    window.screen.end("a", DONE)
    between = window.lines
    window.screen.end("b", "✗ not done")

    assert ["┃ another", "✓ done"] == between
    assert ["✓ done", "✗ not done"] == window.lines


@pytest.mark.parametrize("lines", [1, 12, 40])
def test_a_box_that_scrolled_away_stays_in_the_history(window: Window, lines: int) -> None:
    """Nothing else is erased in its place."""
    window.screen.card("a", BOX)
    window.screen.show("\n".join(f"line {number}" for number in range(lines)))
    window.screen.end("a", DONE)

    assert "✓ done" == window.lines[-1]
    assert f"line {lines - 1}" == window.lines[-2]


def test_a_window_of_another_width_erases_nothing(window: Window) -> None:
    """The terminal wrapped its lines anew, so that nobody knows how many there are."""
    window.screen.card("a", BOX)
    window.columns = 10
    window.screen.end("a", DONE)

    assert ["┃ a request", "┃ for you", "✓ done"] == window.lines


def test_boxes_that_came_after_a_resize_collapse_again(window: Window) -> None:
    """Only what was shown at another width can't be replaced, also while an older box is still open."""
    window.screen.card("a", BOX)
    window.columns = 15
    window.screen.card("b", "┃ another")
    window.screen.end("b", "✗ not done")
    after_b = window.lines
    window.screen.end("a", DONE)

    assert ["┃ a request", "┃ for you", "✗ not done"] == after_b
    assert ["┃ a request", "┃ for you", "✗ not done", "✓ done"] == window.lines


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a\tb\tc\td\te\tf", id="tabs"),
        pytest.param("\x1b[1ma\tb\tc\td\te\tf\x1b[0m", id="tabs in colour"),
        pytest.param("x" + "漢" * 20, id="wide characters"),
        pytest.param("\x1b[1mx" + "漢" * 20 + "\x1b[0m", id="wide characters in colour"),
        pytest.param("eleven chars and more words after", id="words"),
    ],
)
def test_a_text_is_erased_in_as_many_rows_as_it_was_written(window: Window, text: str) -> None:
    """The line above it stays, and nothing of the text is left."""
    window.screen.show("above")
    window.screen.card("a", text)
    window.screen.end("a", DONE)

    assert ["above", "✓ done"] == window.lines


def test_a_wide_line_counts_as_often_as_it_is_broken(window: Window) -> None:
    """Colours count for nothing."""
    window.screen.show("above")
    window.screen.card("a", "\x1b[1m" + "x" * 45 + "\x1b[0m")
    window.screen.end("a", DONE)

    assert ["above", "✓ done"] == window.lines


def test_a_card_that_was_never_shown_is_shown_below(window: Window) -> None:
    """As one that the policy allowed."""
    window.screen.show("above")
    window.screen.end("a", DONE)

    assert ["above", "✓ done"] == window.lines
