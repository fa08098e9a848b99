"""Socket Mode: several connections, made anew whenever they end; whatever comes is acknowledged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.receiver import EventRecorder, Sockets
from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Told
from hitl.testing import MemoryStore, SetClock
from simulators.slack import Refuse, SlackServer
from tests.hitl.world import NOON
from tests.patience import PATIENCE_S
from tests.scenarios.harness import saying
from tests.scenarios.slack.surface import Room, SlackStage, staged
from tests.wired_slack import up

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def stage() -> AsyncIterator[SlackStage]:
    """The stage, by Socket Mode, with three connections."""
    async with staged("socket", connections=3) as stage:
        await stage.surface.server.wait_connected(count=3)
        yield stage


def slack(stage: SlackStage) -> Any:
    """The platform of the running service."""
    assert stage.surface.wires is not None
    return stage.surface.wires.slack


async def test_each_event_comes_once_over_some_connection(stage: SlackStage) -> None:
    """And several share the work."""
    calls = [await stage.ask(args={"path": str(number)}) for number in range(4)]
    for call in calls:
        await stage.surface.press("ann", call, Verb.APPROVE)
    links = await stage.surface.server.links()

    assert [Status.SUCCEEDED] * 4 == [await stage.status(call) for call in calls]
    assert 3 == len(links)
    assert all(link.sent for link in links)


@pytest.mark.parametrize("how", ["refresh", "cut"])
async def test_a_connection_that_ends_is_made_anew(stage: SlackStage, how: str) -> None:
    """By Slack's wish or by a fault; nothing is lost, and it is well again."""
    call = await stage.ask()
    server = stage.surface.server
    opened = len(await server.calls("apps.connections.open"))
    await (server.disconnect() if how == "refresh" else server.cut())
    await server.wait_calls("apps.connections.open", opened + 3, timeout=PATIENCE_S)
    await up(slack(stage))
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)


async def test_what_nobody_reads_is_acknowledged(stage: SlackStage) -> None:
    """Else people would see a warning, and Slack would send it again."""
    room = stage.surface
    await room.server.open_home(room.people["ann"], room.app)
    call = await stage.ask()
    await room.press("ann", call, Verb.REJECT)
    window = await room.server.wait_view(room.people["ann"], say("window.title.why"))
    await room.server.close(room.people["ann"], window)
    await room.settle()

    assert {"delivered"} == {one.state for one in await room.server.deliveries()}


async def test_when_it_is_switched_off_that_is_said(stage: SlackStage) -> None:
    """In `doctor` and `/readyz`, until it is on again."""
    server = stage.surface.server
    await server.socket_mode(enabled=False)
    async with asyncio.timeout(PATIENCE_S):
        while not slack(stage).troubles():  # noqa: ASYNC110 - troubles are asked for, by probes too
            await asyncio.sleep(0.01)
    (trouble,) = slack(stage).troubles()
    await server.socket_mode(enabled=True)
    await up(slack(stage))

    assert trouble.startswith("slack: ")


async def test_what_was_said_while_no_event_came_stands_between(stage: SlackStage) -> None:
    """Slack delivers none of it later, but keeps it: a bare yes to it decides nothing."""
    room = stage.surface
    call = await stage.ask()
    await room.server.socket_mode(enabled=False)
    async with asyncio.timeout(PATIENCE_S):
        while not slack(stage).troubles():  # noqa: ASYNC110 - troubles are asked for, by probes too
            await asyncio.sleep(0.01)
    await room.server.say(room.people["bob"], room.room, "Shall we have lunch?", thread=room.root)
    await room.server.socket_mode(enabled=True)
    await up(slack(stage))
    await room.write("ann", "yes")

    assert Status.PENDING == await stage.status(call)
    assert saying(room.whispers("ann"), Told.POINT, short=call.short)


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_a_pause_that_slack_asks_for_is_kept(method: str) -> None:
    """Also at the start: who asks again too soon is only made to wait longer."""
    async with SlackServer() as server:
        await server.fail(method, Refuse("ratelimited", 429, 2))
        stage = SlackStage(await Room.gather(server), "socket", connections=1)
        await stage.start()
        await stage.halt()
        first, second = await server.calls(method)

    assert second.at - first.at >= 2


async def test_a_connection_that_answers_no_ping_is_left() -> None:
    """It looks alive, but nothing would come over it."""
    async with SlackServer() as server:
        app = await server.app(socket_mode=True)
        inbox = EventRecorder(MemoryStore(SetClock(NOON)), lambda: None)
        async with aiohttp.ClientSession() as session:
            client = AsyncWebClient(app.bot_token, base_url=server.api_url, session=session)
            sockets = Sockets(inbox, client, session, app.app_token, connections=1, heartbeat_s=0.2)
            running = asyncio.create_task(sockets.run())
            await server.wait_connected(app)
            await server.deafen(app)
            await server.wait_calls("apps.connections.open", 2, timeout=PATIENCE_S)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    assert 2 <= len(await server.calls("apps.connections.open"))
