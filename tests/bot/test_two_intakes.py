"""Two platforms, one inbox: each takes its own events, and neither takes the other's place."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.workers.inbox import Intake
from hitl.ports import Change, adding
from hitl.testing import MemoryStore, SetClock
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from hitl.call import Incoming
    from hitl.events import Heard
    from hitl.platforms import Hear

NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
MANY = 350


async def test_events_of_another_platform_are_left_to_it() -> None:
    """However many of its conversations wait, as while it is down."""
    store = MemoryStore(SetClock(NOON))
    handled: list[str] = []

    async def dispatch(event: Incoming, _hear: Hear) -> None:
        handled.append(event.source)
        await store.commit(adding(Change(handled=(event.source, event.id))))

    async def unheard(heard: Heard) -> None:
        raise AssertionError(heard)

    for number in range(MANY):
        await store.receive("telegram", str(number), f"telegram:{number}", b"{}")
    await store.receive("slack", "1", "slack:C1", b"{}")
    intake = Intake(store, "slack", dispatch, unheard)
    running = asyncio.create_task(intake.run())
    async with asyncio.timeout(PATIENCE_S):
        while not handled:
            intake.wake()
            await asyncio.sleep(0.005)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert ["slack"] == handled
    assert MANY == len(await store.incoming(MANY + 1))
