"""What keeps a chat platform connected, without any platform."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import SettingsError
from bot.platform_runner import Connector
from hitl.events import Heard, Text
from hitl.ports import PlatformError
from hitl.surfaces import Surface
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.compose import Running
    from bot.service import Service
    from hitl.call import Incoming
    from hitl.platforms import Endpoint, Hear, Receiver


class Carrier:
    """A platform that connects as it is told to, and whose events are words."""

    surface = Surface(name="carrier")
    chat: Any = SimpleNamespace()

    def __init__(self, *troubles: Exception) -> None:
        self._troubles = list(troubles)

    def receiver(self, woken: Callable[[], None]) -> Receiver | None:
        """Nothing: somebody brings the events."""
        del woken
        return None

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Nobody may push yet."""
        raise SettingsError(f"a carrier needs a ring before {woken}")

    async def connect(self) -> str:
        """Find the loft."""
        if self._troubles:
            raise self._troubles.pop(0)
        return "pigeon"

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Read the words, if there are any; then trip over them, if they say so."""
        if event.body:
            await hear(Text(text=event.body.decode()))
        if event.body == b"trip":
            raise ZeroDivisionError

    async def close(self) -> None:
        """Nothing is open."""


class Loft(Connector):
    """A carrier at work, and what was heard from it."""

    def __init__(self, service: Service, *troubles: Exception, deaf: bool = True) -> None:
        super().__init__(Carrier(*troubles), service, self._listen)
        self.heard: list[str] = []
        self._deaf = deaf

    async def _listen(self, heard: Heard) -> None:
        assert isinstance(heard, Text)
        assert heard.event
        self.heard.append(f"{heard.event[1]}: {heard.text}")
        if self._deaf:
            raise PlatformError("nobody listens", passing=False)


async def _until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - troubles are asked for, by probes too
            await asyncio.sleep(0.005)


async def test_it_comes_up_when_the_platform_does(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """What was in the way is told until then, under the platform's name; nothing is read before."""
    carrier = Loft(running.service, PlatformError("the loft is shut", passing=True))
    await running.store.receive("carrier", "7", "carrier:1", b"coo")
    begun = carrier.troubles()
    caplog.set_level(logging.INFO)
    await carrier.start()
    await _until(lambda: carrier.troubles() == ["carrier: the loft is shut"])
    early = list(carrier.heard)
    await _until(lambda: carrier.heard)
    await carrier.stop()

    assert ["carrier: not connected yet"] == begun
    assert ([], "7: coo", []) == (early, carrier.heard[0], carrier.troubles())
    assert ["carrier.connecting", "carrier.ready"] == caplog.messages[:2]


async def test_a_bug_is_no_silence(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """What ends the work is logged, and said until the service is started again."""
    carrier = Loft(running.service, ZeroDivisionError())
    caplog.set_level(logging.INFO)
    await carrier.start()
    await _until(lambda: "stopped" in carrier.troubles()[0])
    await carrier.stop()

    assert ["carrier: stopped by ZeroDivisionError; restart the service"] == carrier.troubles()
    assert [("carrier.stopped", "error")] == [(one.message, one.levelname.lower()) for one in caplog.records]


async def test_an_event_that_says_nothing_is_done(running: Running) -> None:
    """It is not handed on, and not read again."""
    carrier = Loft(running.service)
    await running.store.receive("carrier", "7", "carrier:1", b"")
    await carrier.start()
    async with asyncio.timeout(PATIENCE_S):
        while await running.store.incoming():  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.005)
    await carrier.stop()

    assert [] == carrier.heard


async def test_a_route_that_anybody_could_use_is_a_mistake_in_the_settings(running: Running) -> None:
    """Told before anything listens."""
    with pytest.raises(SettingsError, match="a carrier needs a ring"):
        Loft(running.service).endpoints()


async def test_a_handler_that_fails_after_ours_does_not_repeat_ours(running: Running) -> None:
    """The event is tried again until it is set aside, and what it says is done once."""
    loft = Loft(running.service, deaf=False)
    await running.store.receive("carrier", "7", "carrier:1", b"trip")
    await loft.start()
    async with asyncio.timeout(PATIENCE_S):
        while await running.store.incoming():  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.005)
    await loft.stop()

    assert ["7: trip"] == loft.heard


async def test_what_never_started_stops(running: Running) -> None:
    """As when something before it fails."""
    carrier = Loft(running.service)
    await carrier.stop()

    assert ["carrier: not connected yet"] == carrier.troubles()
