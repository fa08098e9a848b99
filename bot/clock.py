"""The machine's clock, as the port that everything asks."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Aware UTC."""

    def now(self) -> datetime:
        """The time."""
        return datetime.now(UTC)
