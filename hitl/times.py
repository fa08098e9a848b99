"""Times as whole microseconds since 1970-01-01T00:00:00Z, and a clock that never goes back.

These numbers are exact and equal in every database and hash.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from hitl.errors import MisfitError
from hitl.outcomes import Misfit

if TYPE_CHECKING:
    from hitl.ports import Clock

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


# The results are cached, because a call has only a few different times, but they are converted about 24 times in all.
@lru_cache(maxsize=1024)
def micros(at: datetime) -> int:
    """Return the microseconds since the epoch. Raises TypeError for a datetime without a time zone."""
    return (at - _EPOCH) // _TICK


def moment(since_epoch: int) -> datetime:
    """Return the aware UTC datetime that is this number of microseconds after the epoch."""
    return _EPOCH + timedelta(microseconds=since_epoch)


def span(text: str) -> timedelta:
    """Return the span of time that a text such as `90m` or `7d` means: a whole number and a unit, s, m, h, d or w.

    Raises ValueError for any other text.
    """
    if text[-1:] not in _UNITS or not text[:-1].isdecimal():
        raise MisfitError(Misfit.SPAN)
    try:
        return timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
    except OverflowError as error:
        raise MisfitError(Misfit.ENDLESS) from error


class Steady:
    """A clock that never goes back.

    `Steady` reads another clock, such as the machine's. If somebody sets that clock back, `Steady` repeats its newest
    time. Otherwise a late answer could count again, and a newer line of the audit record could have an earlier time
    than an older line.
    """

    def __init__(self, clock: Clock, newest: datetime | None = None) -> None:
        self._clock = clock
        self._newest = newest or _EPOCH
        clock.go_on_from(self._newest)

    def now(self) -> datetime:
        """Return the time of the other clock, or the newest known time if that is later."""
        now = self._clock.now()
        if now < self._newest:
            return self._newest
        self._newest = now
        return now

    def go_on_from(self, newest: datetime) -> None:
        """Make `now` return no time before `newest`."""
        self._newest = max(self._newest, newest)
        self._clock.go_on_from(newest)
