"""How long to wait before something that failed is tried again."""

from __future__ import annotations

_PAUSES_S = (1.0, 2.0, 5.0, 15.0)
#: No pause is longer.
LONGEST_S = _PAUSES_S[-1]


def pause_after(failures: int) -> float:
    """Return for how many seconds to wait after a failure that so many others preceded in a row."""
    return _PAUSES_S[min(failures, len(_PAUSES_S) - 1)]


class Backoff:
    """Pauses, in seconds, that grow with each failure in a row: 1, 2, 5, then always 15."""

    def __init__(self) -> None:
        self._failures = 0

    def next(self) -> float:
        """Count a failure, and return how long to wait after it."""
        pause = pause_after(self._failures)
        self._failures += 1
        return pause

    def reset(self) -> None:
        """It went well: the next failure is the first again."""
        self._failures = 0
