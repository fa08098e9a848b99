"""`sayso demo` on a terminal: what a person sees in the window, and what keys do there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator

import pyte
import pytest

from hitl.cards.wording import say
from tests.acceptance.installation import SAYSO, Installation
from tests.patience import PATIENCE_S
from tests.sentences import says

ROWS = 50
ENTER = "\r"
CONTROL_D = "\x04"


class Window:
    """A terminal window with the demo in it."""

    def __init__(self, place: Installation, columns: int, **environment: str) -> None:
        self.workspace = place.workspace
        self.workspace.mkdir()
        (self.workspace / "notes.txt").write_text("Buy milk.\n")
        self._screen = pyte.Screen(columns, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("4H", ROWS, columns, 0, 0))
        self.modes = termios.tcgetattr(self._slave)
        self.written = b""
        self.process = subprocess.Popen(
            [SAYSO, "demo", "--workspace", self.workspace, "--state", place.state],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=place.surroundings(TERM="xterm-256color", **environment),
            start_new_session=True,
        )

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def until(self, seen: Callable[[], object], what: str) -> None:
        """Read what the demo draws until the window shows it."""
        give_up = time.monotonic() + PATIENCE_S
        while not seen():
            assert time.monotonic() < give_up, f"in vain waited for {what}:\n" + "\n".join(self.lines)
            self._read()

    def shows(self, what: str, **particulars: object) -> None:
        """Wait for a sentence of the catalogue."""
        self.until(lambda: says(self.text, what, **particulars), f"{what} {particulars}")

    def _read(self) -> None:
        ready, _, _ = select.select([self._master], [], [], 0.05)
        if ready:
            data = os.read(self._master, 1 << 16)
            self.written += data
            self._stream.feed(data)
            # A terminal answers when it is asked where its cursor is.
            if b"\x1b[6n" in data:
                self.press(f"\x1b[{self._screen.cursor.y + 1};{self._screen.cursor.x + 1}R")

    @property
    def lines(self) -> list[str]:
        """The lines of the window, without the blanks at their ends."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The whole window."""
        return "\n".join(self.lines)

    @property
    def box(self) -> list[str]:
        """The lines of the last card."""
        last = [number for number, line in enumerate(self.lines) if line.startswith("┃")]
        top = next(number for number in reversed(last) if number - 1 not in last)
        return self.lines[top : last[-1] + 1]

    @property
    def countdown(self) -> str:
        """The line with the clock that runs down, empty while nothing waits."""
        return next((line for line in reversed(self.lines) if " left" in line and " · " in line), "")

    def ends(self) -> int:
        """The exit status, once the demo is over."""
        self.until(lambda: self.process.poll() is not None, "the end")
        return self.process.returncode

    def still(self) -> termios._AttrReturn:
        """How the terminal is set now."""
        return termios.tcgetattr(self._slave)

    def close(self) -> None:
        """Leave nothing running."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def window(install: Callable[..., Installation]) -> Iterator[Callable[..., Window]]:
    """Opens windows."""
    with contextlib.ExitStack() as windows:

        def opened(columns: int = 80, **environment: str) -> Window:
            made = Window(install(), columns, **environment)
            windows.callback(made.close)
            made.until(lambda: ">" in made.lines, "the prompt")
            return made

        yield opened


def with_a_card(window: Window, asked: str = "delete notes.txt") -> Window:
    """The window once a card is in it."""
    window.press(asked + ENTER)
    window.until(lambda: window.countdown, "the countdown")
    return window


@pytest.mark.parametrize("columns", [100, 50])
def test_the_greeting_breaks_between_words(window: Callable[..., Window], columns: int) -> None:
    """What it says reads the same in any window."""
    greeting = say("offline.welcome", help=say("offline.help"))
    opened = window(columns)

    assert greeting.split() == [word for line in opened.lines for word in line.split() if word != ">"]


@pytest.mark.parametrize("columns", [80, 40])
def test_the_card_appears_beside_a_bar_within_the_window(window: Callable[..., Window], columns: int) -> None:
    """It begins with what is needed and the risk; no line of it is broken by the window's edge."""
    shown = with_a_card(window(columns), "write notes.txt " + "many words " * 20)

    assert says(shown.box[0], "terminal.title", risk=say("terminal.risk.medium"))
    assert columns >= max(map(len, shown.box))
    assert not [line for line in shown.box if "words words" in line]


def test_the_countdown_moves(window: Callable[..., Window]) -> None:
    """The time that is left stands in the bottom line, and runs down by itself; it is gone with the card."""
    shown = with_a_card(window(120))
    first = shown.countdown
    shown.until(lambda: shown.countdown != first, "the countdown to move")

    assert "4:5" in shown.countdown
    shown.press("r" + ENTER)
    shown.until(lambda: not shown.countdown, "the countdown to go")


@pytest.mark.parametrize(
    ("keys", "told", "particulars", "there"),
    [
        ("a", "by.approved", {"who": "you"}, False),
        ("r", "by.rejected", {"who": "you"}, True),
        ("yes", "by.approved", {"who": "you"}, False),
        ("no because I need it", "ending.rejected.reason", {"reason": "“I need it”"}, True),
        ("absolutely not", "by.rejected", {"who": "you"}, True),
    ],
)
def test_keys_and_words_decide(
    window: Callable[..., Window],
    keys: str,
    told: str,
    particulars: dict[str, str],
    there: bool,  # noqa: FBT001
) -> None:
    """`a` and `r` count as whole lines, words by what they say. The decided card takes the place of its box."""
    shown = with_a_card(window())
    shown.press(keys + ENTER)
    shown.shows(told, **particulars)
    shown.until(lambda: "┃" not in shown.text, "the box to go")

    assert there is (shown.workspace / "notes.txt").exists()


def test_d_shows_the_details_and_decides_nothing(window: Callable[..., Window]) -> None:
    """The whole digest is in the details; the call waits on and can be approved."""
    shown = with_a_card(window())
    shown.press("d" + ENTER)
    shown.shows("details.digest")
    assert (shown.workspace / "notes.txt").exists()

    shown.press("a" + ENTER)
    shown.shows("by.approved", who="you")
    assert not (shown.workspace / "notes.txt").exists()


@pytest.mark.parametrize("early", ["a", "yes"])
def test_what_was_typed_before_the_card_appeared_decides_nothing(window: Callable[..., Window], early: str) -> None:
    """Typed ahead, in the same burst as the request that leads to the card: nobody can have meant the card."""
    shown = with_a_card(window(), f"delete notes.txt{ENTER}{early}")
    shown.press("d" + ENTER)
    shown.shows("details.digest")

    assert (shown.workspace / "notes.txt").exists()
    assert "approved" not in shown.text


def test_a_line_begun_before_the_card_appeared_decides_nothing(window: Callable[..., Window]) -> None:
    """Half a word typed ahead, the rest after the card: still not an answer to it."""
    shown = window()
    shown.press(f"delete notes.txt{ENTER}y")
    shown.until(lambda: shown.countdown, "the card")
    shown.press("es" + ENTER)
    shown.press("d" + ENTER)
    shown.shows("details.digest")

    assert (shown.workspace / "notes.txt").exists()


def test_control_d_ends_well_and_leaves_the_terminal_as_it_was(window: Callable[..., Window]) -> None:
    """Exit status 0, what waited is withdrawn, and the line discipline is the old one."""
    shown = with_a_card(window())
    shown.press(CONTROL_D)

    assert 0 == shown.ends()
    assert shown.modes == shown.still()
    assert says(shown.text, "by.withdrawn")
    assert (shown.workspace / "notes.txt").exists()


def test_no_color_means_none(window: Callable[..., Window]) -> None:
    """The card is the same with NO_COLOR, without any colour in it."""
    shown = with_a_card(window(NO_COLOR="1"))
    plain = shown.written.split("┃".encode(), 1)[1].rsplit("┃".encode(), 1)[0]

    assert b"\x1b[33m" not in plain
    assert b"\x1b[2m" not in plain


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_as_the_end_of_input_does(window: Callable[..., Window], number: signal.Signals) -> None:
    """What waits is withdrawn, and the status is 0: what was made for it is taken away again."""
    shown = with_a_card(window())
    shown.process.send_signal(number)

    assert 0 == shown.ends()
    shown.shows("by.withdrawn")
