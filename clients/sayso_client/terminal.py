"""Writes messages of commands to people: in one format, with colours only on a terminal, without control characters."""

from __future__ import annotations

import os
import sys

from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

#: The exit status after Ctrl-C, as in a shell: 128 plus the number of SIGINT.
INTERRUPTED = 130
#: The colours that commands use, with the parameters of their escape sequences (ECMA-48, SGR).
_COLOURS = {"red": 31, "green": 32, "yellow": 33, "bright_yellow": 93}
#: Characters that shape letters and emoji. They change nothing else on a terminal, so they stay.
_SHAPING = frozenset("\u200c\u200d")


def tell(message: str, colour: str = "") -> None:
    """Write a message to stderr, in the form of all errors and notices of commands."""
    print(f"{painted('sayso:', colour, sys.stderr)} {message}", file=sys.stderr, flush=True)


def interrupted() -> int:
    """Say that a person has interrupted the command. Return its exit status."""
    tell(say("command.interrupted"))
    return INTERRUPTED


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Return the text in a colour if the stream (default: stdout) is a terminal and NO_COLOR is unset or empty."""
    shown = (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if shown and colour else text


def visible(text: str) -> str:
    """Return the text with an escape for each character that could control a terminal. Line feeds and tabs stay."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t" or character in _SHAPING
        else f"\\u{{{ord(character):x}}}"
        for character in text
    )


def clock_of(at: str) -> str:
    """Return the time of day of an ISO 8601 time in UTC, with the date before it unless the date is today."""
    from datetime import UTC, datetime

    day, _, clock = at[:19].partition("T")
    return clock if day == datetime.now(UTC).date().isoformat() else f"{day} {clock}"


def carry_any_text() -> None:
    """Make the standard streams accept any text.

    Input characters that the encoding can't read are replaced. Output characters that it can't write are escaped.
    """
    from io import TextIOWrapper

    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)
