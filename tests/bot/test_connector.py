"""What keeps a chat platform connected, without any platform."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from bot.connector import Connector
from bot.errors import SettingsError
from hitl.events import Heard, Text
from hitl.ports import PlatformError
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import Route

    from bot.compose import Running
    from bot.connector import ReadBody
    from bot.service import Service
    from hitl.model import Incoming


class Carrier(Connector):
    """A platform that connects as it is told to, and whose events are words."""

    def __init__(self, service: Service, *troubles: Exception) -> None:
        super().__init__("carrier", service, self._heard)
        self.heard: list[str] = []
        self._troubles = list(troubles)

    async def _connect(self) -> str:
        if self._troubles:
            raise self._troubles.pop(0)
        return "pigeon"

    async def _understand(self, event: Incoming) -> Heard | None:
        return Text(text=event.body.decode()) if event.body else None

    def _route(self, read_body: ReadBody) -> Route:
        raise ValueError(f"a carrier needs a ring before {read_body}")

    async def _heard(self, heard: Heard) -> None:
        assert isinstance(heard, Text)
        assert heard.event
        self.heard.append(f"{heard.event[1]}: {heard.text}")
        raise PlatformError("nobody listens", passing=False)


async def _until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - troubles are asked for, by probes too
            await asyncio.sleep(0.005)


async def test_it_comes_up_when_the_platform_does(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    """What was in the way is told until then, under the platform's name; nothing is read before."""
    carrier = Carrier(running.service, PlatformError("the loft is shut", passing=True))
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
    carrier = Carrier(running.service, ZeroDivisionError())
    caplog.set_level(logging.INFO)
    await carrier.start()
    await _until(lambda: "stopped" in carrier.troubles()[0])
    await carrier.stop()

    assert ["carrier: stopped by ZeroDivisionError; restart the service"] == carrier.troubles()
    assert [("carrier.stopped", "error")] == [(one.message, one.levelname.lower()) for one in caplog.records]


async def test_an_event_that_says_nothing_is_done(running: Running) -> None:
    """It is not handed on, and not read again."""
    carrier = Carrier(running.service)
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
        Carrier(running.service).routes(lambda _: asyncio.sleep(0, b""))


async def test_what_never_started_stops(running: Running) -> None:
    """As when something before it fails."""
    carrier = Carrier(running.service)
    await carrier.stop()

    assert ["carrier: not connected yet"] == carrier.troubles()
