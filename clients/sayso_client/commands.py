"""Runs an approved command, and handles signals during the wait for people and during the run."""

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
#: The status of a command whose scripts have changed since the request. `sayso ask` reports it as tampered.
CHANGED = 13
#: The signals that a person, a supervisor or a closed terminal sends to end a process. Windows has no SIGHUP.
_ENDS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__)


class Ended:
    """The result of a command."""

    def __init__(self, status: int, why: str | None = None, *, started: bool = True) -> None:
        #: The exit status as a shell reports it: after signal N, it is 128 + N.
        self.status = status
        #: A sentence that says why the status isn't 0, or None.
        self.why = why
        #: Whether the command could be started.
        self.started = started
        #: Whether the service knows this result.
        self.reported = True


def run(argv: Sequence[str], cwd: str, ref: str) -> Ended:
    """Run the command with SAYSO_REF in its environment, and return how it ended.

    Meanwhile, signals don't end this process, so that it can still report the command's result.
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
    """Install the handler for the signals that end a process. Return the old handlers for `restore`.

    A signal that is ignored already, as under `nohup`, stays ignored.
    """
    chosen = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in chosen}


def restore(before: Mapping[signal.Signals, Any]) -> None:
    """Restore the handlers that `handled` returned."""
    for number, handler in before.items():
        signal.signal(number, handler)


class _Signals:
    """Handles signals while a command starts and runs. Earlier signals are passed on when the command runs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def came(self, number: int, _: FrameType | None) -> None:
        """Pass SIGTERM on to the command. Don't pass on SIGINT and SIGHUP: a terminal sends them to the command too."""
        if self._process is None:
            self._early.append(number)
        elif number == signal.SIGTERM:
            self._process.send_signal(number)

    def meant_for(self, process: subprocess.Popen[bytes]) -> None:
        """Set the process of the started command, and pass on to it the signals that came before the start."""
        self._process = process
        for number in self._early:
            process.send_signal(number)
