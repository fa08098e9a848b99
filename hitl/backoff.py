"""The pauses between the attempts at an action that fails, such as sending a message."""

from __future__ import annotations

_PAUSES_S = (1.0, 2.0, 5.0, 15.0)
#: The longest pause, in seconds.
LONGEST_S = _PAUSES_S[-1]


def pause_after(failures: int) -> float:
    """Return the pause in seconds after a failure. `failures` is the number of failures in a row before it."""
    return _PAUSES_S[min(failures, len(_PAUSES_S) - 1)]


class Backoff:
    """Counts failures in a row, and gives the pause after each: 1, 2, 5, and then always 15 seconds."""

    def __init__(self) -> None:
        self._failures = 0

    def next(self) -> float:
        """Count a failure, and return the pause after it in seconds."""
        pause = pause_after(self._failures)
        self._failures += 1
        return pause

    def reset(self) -> None:
        """Forget the failures, after a success."""
        self._failures = 0
