"""Deletes old events of the inbox that were handled or set aside, some rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.database import statements as sql
from hitl.times import micros

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime, timedelta

#: `prune` examines this many rows, which takes a few milliseconds.
BATCH = 500


class Retention:
    """Deletes events that were handled or set aside at least `keep` ago. It never deletes any other event.

    If `prune` returns True, the next call of `prune` begins after the events that were examined. So an old event that
    was never handled doesn't prevent the deletion of later events.
    """

    def __init__(self, keep: timedelta) -> None:
        self._keep = keep
        self._after = 0

    def prune(self, connection: sqlite3.Connection, now: datetime) -> bool:
        """Delete the old events among the next BATCH rows.

        Return whether to call `prune` again: there may be more old events.
        """
        oldest = micros(now - self._keep)
        found = connection.execute(sql.EVENTS_FROM, (self._after, BATCH)).fetchall()
        old = [seq for seq, received_at in found if received_at <= oldest]
        if old:
            connection.execute(sql.DROP_EVENTS, (self._after, old[-1], oldest))
        more = len(old) == BATCH
        self._after = old[-1] if more else 0
        return more
