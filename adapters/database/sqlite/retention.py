"""How long events of the inbox are kept once they are handled or set aside, and how they go: a few at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.database import statements as sql
from hitl.times import micros

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

#: Platforms send an event again within a day at most; its row is what tells that it is known.
KEEP = timedelta(days=30)
#: So many rows are looked at in one unit, which takes a few milliseconds.
BATCH = 500


class Retention:
    """Deletes what was handled, or set aside, at least `keep` ago. What is still open stays, however old.

    Each unit goes on where the last one stopped, so an old event that stays open doesn't hide those behind it.
    """

    def __init__(self, keep: timedelta) -> None:
        self._keep = keep
        self._after = 0

    def prune(self, connection: sqlite3.Connection, now: datetime) -> bool:
        """Delete what is too old among the next BATCH rows. Whether there may be more of it behind them."""
        oldest = micros(now - self._keep)
        found = connection.execute(sql.EVENTS_FROM, (self._after, BATCH)).fetchall()
        old = [seq for seq, received_at in found if received_at <= oldest]
        if old:
            connection.execute(sql.DROP_EVENTS, (self._after, old[-1], oldest))
        more = len(old) == BATCH
        self._after = old[-1] if more else 0
        return more
