"""Running an approved command, and answering signals while people are waited for and while it runs."""

from __future__ import annotations

import os
import signal

from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType
    from typing import Any

#: The status of a command that could not be started, as in a shell.
NOT_STARTED = 127
#: The status of a command whose scripts changed after it was asked: `sayso ask` calls it tampered.
CHANGED = 13
#: A person, a supervisor, or a terminal that is closed.
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended:
    """How a command ended."""

    def __init__(self, status: int, why: str | None = None, *, started: bool = True) -> None:
        #: The exit status as a shell tells it: 128 and the number of the signal that ended the command.
        self.status = status
        #: Why the status isn't 0.
        self.why = why
        #: Whether there was such a command.
        self.started = started


def run(argv: Sequence[str], cwd: str, ref: str) -> Ended:
    """Run the command with SAYSO_REF in its environment, and return how it ended.

    Signals are the command's to answer, so that its end can still be reported.
    """
    import subprocess

    signals = _Signals()
    before = handled(signals.came)
    try:
        process = subprocess.Popen(argv, cwd=cwd, env={**os.environ, "SAYSO_REF": ref})  # noqa: S603 - the approved command
        signals.meant_for(process)
        returned = process.wait()
    except OSError as error:
        why = say("command.not_started", program=argv[0], folder=cwd, error=error.strerror)
        return Ended(NOT_STARTED, why, started=False)
    finally:
        restore(before)
    status = returned if returned >= 0 else 128 - returned
    return Ended(status, say("command.status", status=status) if status else None)


def handled(handler: Callable[[int, FrameType | None], object]) -> dict[signal.Signals, Any]:
    """Handle the signals that end a process, and return the handlers to `restore`.

    A signal that whoever started this process ignores, as `nohup` does, stays ignored.
    """
    chosen = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in chosen}


def restore(before: Mapping[signal.Signals, Any]) -> None:
    """Handle signals as before `handled`."""
    for number, handler in before.items():
        signal.signal(number, handler)


class _Signals:
    """Signals that come while a command is started and runs. Those that came before it ran reach it, too."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def came(self, number: int, _: FrameType | None) -> None:
        """Pass on what only this process is sent; a terminal tells the command itself of interrupts and its own end."""
        if self._process is None:
            self._early.append(number)
        elif number == signal.SIGTERM:
            self._process.send_signal(number)

    def meant_for(self, process: subprocess.Popen[bytes]) -> None:
        """Name the command that runs from now on."""
        self._process = process
        for number in self._early:
            process.send_signal(number)
