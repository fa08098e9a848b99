"""The inbox at work: in order within a conversation, none waits for another, and nothing stops it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from bot.workers.inbox import ASIDE_AFTER, Intake
from hitl.call import Event
from hitl.errors import IllegalTransition, Tampered, Unavailable
from hitl.ports import Change, PlatformError, adding
from hitl.records import replace
from hitl.testing import MemoryStore, SetClock
from tests.hitl.world import NOON
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from hitl.call import Incoming
    from hitl.events import Heard
    from hitl.platforms import Hear


async def unheard(heard: Heard) -> None:
    """Nothing is heard here: what a dispatcher makes of an event is tested elsewhere."""
    raise AssertionError(heard)


class Desk:
    """A dispatcher that notes what it was given, and does what the test set for an event."""

    def __init__(self) -> None:
        self.store = MemoryStore(SetClock(NOON))
        self.intake = Intake(self.store, "telegram", self.dispatch, unheard)
        self.given: list[str] = []
        self.done: list[str] = []
        self.errors: dict[str, list[Exception]] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self._changed = asyncio.Event()

    async def bring(self, *events: tuple[str, str]) -> None:
        """Record events, each with its conversation."""
        for event, order in events:
            await self.store.receive("telegram", event, order, b"{}")
        self.intake.wake()

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Note it; wait, or fail, as was set."""
        del hear
        self.given.append(event.id)
        self._change()
        if event.id in self.gates:
            await self.gates[event.id].wait()
        if errors := self.errors.get(event.id):
            raise errors.pop(0)
        await self.store.commit(adding(Change(handled=(event.source, event.id))))
        self.done.append(event.id)
        self._change()

    async def until_done(self, *events: str) -> None:
        """Wait until these are done."""
        await self._until(lambda: set(events) <= set(self.done))

    async def until_given(self, event: str) -> None:
        """Wait until this was begun."""
        await self._until(lambda: event in self.given)

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    def _change(self) -> None:
        self._changed.set()

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """While the intake runs."""
        running = asyncio.create_task(self.intake.run())
        try:
            yield
            assert not running.done()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_conversation_keeps_its_order_and_holds_up_no_other() -> None:
    """The first of a waits for a test; b goes on, the second of a doesn't."""
    desk = Desk()
    desk.gates["1"] = asyncio.Event()
    await desk.bring(("1", "a"), ("2", "a"), ("3", "b"), ("4", "b"))
    async with desk.working():
        await desk.until_done("3", "4")
        meanwhile = list(desk.given)
        desk.gates["1"].set()
        await desk.until_done("1", "2")

    assert "2" not in meanwhile
    assert ["3", "4", "1", "2"] == desk.done


@pytest.mark.parametrize(
    "error", [ValueError("?"), Tampered(), IllegalTransition("?"), RecursionError(), KeyError("x")]
)
async def test_what_fails_again_and_again_is_set_aside(error: Exception) -> None:
    """After five times, whatever it is; the conversation goes on."""
    desk = Desk()
    desk.errors["1"] = [error] * 9
    await desk.bring(("1", "a"), ("2", "a"))
    async with desk.working():
        await desk.until_done("2")

    assert ["1"] * ASIDE_AFTER + ["2"] == desk.given


async def test_trouble_of_the_platform_gives_it_time() -> None:
    """A passing failure is tried again later, as late as the platform asks; others go on meanwhile."""
    desk = Desk()
    desk.errors["1"] = [PlatformError("slow down", passing=True, retry_s=0.2)]
    await desk.bring(("1", "a"), ("2", "b"))
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with desk.working():
        await desk.until_done("1", "2")

    assert ["2", "1"] == desk.done
    assert loop.time() - began >= 0.2


async def test_trouble_of_the_store_counts_against_no_event() -> None:
    """It is tried again for as long as it takes."""
    desk = Desk()
    desk.errors["1"] = [Unavailable()]
    await desk.bring(("1", "a"))
    async with desk.working():
        await desk.until_done("1")
    assert ["1", "1"] == desk.given


async def test_a_stop_lets_what_was_begun_end() -> None:
    """What wasn't begun is there at the next start."""
    desk = Desk()
    desk.gates["1"] = asyncio.Event()
    await desk.bring(("1", "a"), ("2", "a"))
    async with desk.working():
        await desk.until_given("1")
        desk.gates["1"].set()

    assert ["1"] == desk.done
    assert ["2"] == [event.id for event in await desk.store.incoming()]


async def test_what_a_handler_did_nothing_about_is_done_all_the_same() -> None:
    """It was nothing to anybody; it isn't handed over again."""
    store = MemoryStore(SetClock(NOON))
    given: list[str] = []

    async def ignore(event: Incoming, _hear: Hear) -> None:
        given.append(event.id)

    await store.receive("telegram", "1", "a", b"{}")
    await _until_done(Intake(store, "telegram", ignore, unheard), store)

    assert ["1"] == given


async def test_an_event_that_was_made_up_in_the_database_is_handed_to_nobody() -> None:
    """It is put on record, and done by that."""

    class Spoilt(MemoryStore):
        """A store whose events aren't as they came."""

        async def incoming(self, limit: int = 100) -> Sequence[Incoming]:
            """The events, each changed."""
            return [replace(event, intact=False) for event in await super().incoming(limit)]

    store = Spoilt(SetClock(NOON))
    given: list[str] = []

    async def dispatch(event: Incoming, _hear: Hear) -> None:
        given.append(event.id)

    await store.receive("telegram", "1", "a", b"{}")
    await _until_done(Intake(store, "telegram", dispatch, unheard), store)

    assert [] == given
    assert [Event.TAMPERED] == [line.event for line in await store.history("")]


async def _until_done(intake: Intake, store: MemoryStore) -> None:
    """Run the intake until nothing is left to handle."""
    running = asyncio.create_task(intake.run())
    async with asyncio.timeout(PATIENCE_S):
        while await store.incoming():  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.005)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
