"""The machine's clock, as the port that everything asks."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: A clock that lags by less is being corrected slowly, as network time does; one that lags by more was set back.
_SET_BACK = timedelta(seconds=1)


def _machine() -> datetime:
    return datetime.now(UTC)


class SystemClock:
    """Aware UTC. While the machine's clock is set back, time goes on from where it was, as fast as the seconds pass.

    So a clock that is set back gives nobody more time to answer.
    """

    def __init__(
        self, machine: Callable[[], datetime] = _machine, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        self._machine = machine
        self._elapsed = elapsed
        self._last, self._at = machine(), elapsed()

    def now(self) -> datetime:
        """The time; it never goes back."""
        at, told = self._elapsed(), self._machine()
        expected = self._last + timedelta(seconds=at - self._at)
        self._last, self._at = expected if told < expected - _SET_BACK else max(told, self._last), at
        return self._last

    def go_on_from(self, newest: datetime) -> None:
        """Take a moment that was recorded for the least that the time can be."""
        self._last = max(self.now(), newest)
