"""A store for tests of what comes in."""

from __future__ import annotations

from hitl.errors import Unavailable
from hitl.testing import MemoryStore


class Disk(MemoryStore):
    """A store that can be full."""

    full = False

    async def receive(self, source: str, event: str, order: str, body: bytes) -> bool:
        """Keep it, if there is room."""
        if self.full:
            raise Unavailable
        return await super().receive(source, event, order, body)
