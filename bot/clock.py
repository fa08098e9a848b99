"""The machine's clock, with the methods that the gate and the store need."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: If the machine's clock is less than this behind the expected time, NTP is probably correcting it slowly. If it is
#: further behind, somebody set it back.
_SET_BACK_S = 1.0
_SET_BACK = timedelta(seconds=_SET_BACK_S)


def _machine() -> datetime:
    return datetime.now(UTC)


class SystemClock:
    """Returns aware UTC times.

    If the machine's clock is set back, the returned time doesn't go back, so nobody gains time to answer.
    """

    def __init__(
        self, machine: Callable[[], datetime] = _machine, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        self._machine = machine
        self._elapsed = elapsed
        self._last, self._at = machine(), elapsed()

    def now(self) -> datetime:
        """Return the current time. The returned time never goes back."""
        at, told = self._elapsed(), self._machine()
        # Nearly every call comes soon after the one before it. Then the time can't be far behind the expected time.
        if told < self._last or at - self._at > _SET_BACK_S:
            expected = self._last + timedelta(seconds=at - self._at)
            told = expected if told < expected - _SET_BACK else max(told, self._last)
        self._last, self._at = told, at
        return told

    def go_on_from(self, newest: datetime) -> None:
        """Let the clock continue from `newest`, the newest recorded time, if it is later than now."""
        self._last = max(self.now(), newest)
