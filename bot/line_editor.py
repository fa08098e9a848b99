"""A conversation on a TTY: a line editor below, cards and answers above, a live countdown at the bottom."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import termios
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.patch_stdout import patch_stdout

from adapters.terminal.messages import countdown, fitted
from adapters.terminal.screen import Screen
from bot.console import Console
from hitl.call import Status

if TYPE_CHECKING:
    from datetime import datetime

    from bot.service import Service
    from hitl.call import Call

_REFRESH_S = 0.5
_PROMPT = "> "


class Talk:
    """One person's conversation on a TTY. It reads lines, and stores the time at which each line was begun.

    A line that was begun before a card appeared can't answer that card.
    """

    def __init__(self, service: Service, *, identity: str, conversation: str) -> None:
        self._clock = service.gate.clock
        self._conversation = conversation
        self._waiting: dict[str, Call] = {}
        self._begun_at: datetime | None = None
        #: The ref of the request that the bottom line named when the typed line was begun. A key in this line acts on
        #: no other request.
        self._aimed: str | None = None
        self._left = False
        colour = not os.environ.get("NO_COLOR")
        self._screen = Screen(self._write, shutil.get_terminal_size)
        self._console = Console(
            service,
            identity=identity,
            conversation=conversation,
            show=self._screen.show,
            width=_columns,
            colour=colour,
            screen=self._screen,
        )
        # prompt_toolkit erases the typed line, and this class prints the line again. So this class knows all lines
        # above the prompt.
        self._session: PromptSession[str] = PromptSession(
            _PROMPT,
            bottom_toolbar=self._bar,
            refresh_interval=_REFRESH_S,
            erase_when_done=True,
        )
        self._session.default_buffer.on_text_changed += lambda buffer: self._typed(buffer.text)
        service.gate.follow(self.changed)

    def changed(self, call: Call) -> None:
        """Update the requests of the countdown. If a call is pending, drop what the person typed before they could see
        its card.
        """
        if call.origin != self._conversation:
            return
        if call.status is Status.PENDING:
            self._waiting[call.ref] = call
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
            # Drop text that the person typed or pasted after the current line. The terminal read it together with that
            # line, before the card appeared.
            clear_typeahead(self._session.input)
        else:
            self._waiting.pop(call.ref, None)

    async def run(self) -> None:
        """Run until the end of input, or until a supervisor or a closed terminal ends it."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self._leave)
        with patch_stdout(raw=True):
            while not self._left and (line := await _ask(self._session)) is not None:
                if line.strip():
                    self._screen.show(f"{_PROMPT}{line}")
                begun_at, self._begun_at = self._begun_at, None
                aimed, self._aimed = self._aimed, None
                await self._console.hear(line, begun_at=begun_at, aimed=aimed)
        await self._console.withdraw_all()

    def _write(self, erased: int, text: str) -> None:
        """Erase lines above the line that is being typed, and show a text in their place."""

        def write() -> None:
            output = self._session.output
            if erased:
                output.cursor_up(erased)
                output.erase_down()
                output.flush()
            print_formatted_text(ANSI(text), output=output)

        if self._session.app.is_running:
            run_in_terminal(write)
        else:
            write()

    def _leave(self) -> None:
        self._left = True
        if self._session.app.is_running:
            self._session.app.exit(exception=EOFError)

    def _typed(self, text: str) -> None:
        if not text:
            self._begun_at = self._aimed = None
        elif self._begun_at is None:
            self._begun_at = self._clock.now()
            focus = self._console.focus(list(self._waiting.values()))
            self._aimed = focus.ref if focus else None

    def _bar(self) -> str:
        """Return the bottom line: the request that a key acts on now, or the request for which the typed line was
        begun.
        """
        waiting = list(self._waiting.values())
        call = self._waiting.get(self._aimed or "") or self._console.focus(waiting)
        return countdown(call, len(waiting) - 1, self._clock.now(), _columns(), self._console.wording())


async def _ask(session: PromptSession[str]) -> str | None:
    try:
        return await session.prompt_async()
    except (EOFError, KeyboardInterrupt):
        return None


def _columns() -> int:
    return shutil.get_terminal_size().columns


def tell(text: str) -> None:
    """Show text above the line that is being typed. If the screen is narrower than a line, break the line between
    words.
    """
    print_formatted_text(ANSI(fitted(text, _columns())))
