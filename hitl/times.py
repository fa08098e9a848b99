"""Times as whole microseconds since 1970-01-01T00:00:00Z: exact, and the same in every database and hash."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


def micros(at: datetime) -> int:
    """Microseconds since the epoch. Raises TypeError for a naive datetime, which names no moment."""
    return (at - _EPOCH) // _TICK


def moment(since_epoch: int) -> datetime:
    """The aware UTC datetime so many microseconds after the epoch."""
    return _EPOCH + timedelta(microseconds=since_epoch)
