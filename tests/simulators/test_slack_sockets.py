"""Socket Mode on the wire: hello, envelopes, acknowledgements, connections that end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from simulators.slack import Channel, SlackServer, User
from tests.simulators.conftest import RawApp


@pytest.fixture
async def socketed(slack: SlackServer, hands: RawApp) -> RawApp:
    """The app with Socket Mode on."""
    await slack.socket_mode(hands.app)
    return hands


async def opened(hands: RawApp) -> str:
    """Return the address for a socket."""
    headers = {"Authorization": f"Bearer {hands.app.app_token}"}
    async with hands.http.post(f"{hands.slack.api_url}apps.connections.open", headers=headers) as answer:
        return str((await answer.json())["url"])


@asynccontextmanager
async def socket(hands: RawApp) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A connection that has been greeted."""
    async with hands.http.ws_connect(await opened(hands)) as connection:
        assert "hello" == (await taken(connection))["type"]
        yield connection


async def taken(connection: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    """Return the next message."""
    message: dict[str, Any] = json.loads(await connection.receive_str(timeout=5))
    return message


async def acknowledge(
    connection: aiohttp.ClientWebSocketResponse, envelope: dict[str, Any], payload: Any = None
) -> None:
    """Say that an envelope has come, and perhaps something more."""
    answer = {"envelope_id": envelope["envelope_id"], **({"payload": payload} if payload else {})}
    await connection.send_str(json.dumps(answer))


async def test_hello(slack: SlackServer, socketed: RawApp) -> None:
    """A socket on loopback greets with the app's id and the number of connections."""
    url = await opened(socketed)
    async with socketed.http.ws_connect(url) as first, socket(socketed):
        hello = await taken(first)
        numbers = [one.number for one in await slack.links()]

    assert url.startswith("ws://127.0.0.1:")
    assert (1, socketed.app.id) == (hello["num_connections"], hello["connection_info"]["app_id"])
    assert [1, 2] == numbers


async def test_an_event_is_acknowledged(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """An envelope of type events_api holds what would be posted."""
    async with socket(socketed) as connection:
        said = await slack.say(ada, ops, "hi")
        envelope = await taken(connection)
        await acknowledge(connection, envelope)
        await slack.wait_drained()

    assert ("events_api", False, 0) == tuple(
        envelope[name] for name in ("type", "accepts_response_payload", "retry_attempt")
    )
    assert said.ts == envelope["payload"]["event"]["ts"]


async def test_what_is_not_acknowledged_goes_elsewhere(
    slack: SlackServer, socketed: RawApp, ops: Channel, ada: User
) -> None:
    """After three seconds the event goes over another connection, as a retry."""
    async with socket(socketed) as first, socket(socketed) as second:
        await slack.say(ada, ops, "hi")
        before = await taken(first)
        await slack.advance(3.5)
        again = await taken(second)
        await acknowledge(second, again)
        await slack.wait_drained()

    assert (1, "timeout") == (again["retry_attempt"], again["retry_reason"])
    assert before["payload"] == again["payload"]
    assert before["envelope_id"] != again["envelope_id"]


async def test_each_event_goes_to_one(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """Two connections share the events."""
    async with socket(socketed) as first, socket(socketed) as second:
        for text in ("one", "two"):
            await slack.say(ada, ops, text)
        texts = [(await taken(connection))["payload"]["event"]["text"] for connection in (first, second)]

    assert {"one", "two"} == set(texts)


async def test_a_press_answered_over_the_socket(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """Interactions and commands come as their own types; a command's answer is shown to who gave it."""
    card = await socketed.card(ops)
    async with socket(socketed) as connection:
        pressed = await slack.press(ada, card, "Approve")
        envelope = await taken(connection)
        await acknowledge(connection, envelope)
        given = await slack.command(ada, ops, "/sayso", "list")
        command = await taken(connection)
        await acknowledge(connection, command, {"text": "nothing"})
        whisper = await slack.wait_ephemeral(ada, "nothing")

    assert pressed is not None
    assert ("interactive", "slash_commands") == (envelope["type"], command["type"])
    assert "v1.yes" == envelope["payload"]["actions"][0]["value"]
    assert ["delivered", "delivered"] == [pressed.state, given.state]
    assert ada.id == whisper.visible_to


async def test_a_press_that_nobody_acknowledges(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """It fails after three seconds and is not repeated."""
    card = await socketed.card(ops)
    async with socket(socketed) as connection:
        pressed = await slack.press(ada, card, "Approve")
        await taken(connection)
        await slack.advance(3.5)
        assert pressed is not None
        await slack.wait_delivery(pressed)

    assert ("failed", "timeout", 1) == (pressed.state, pressed.error, len(pressed.attempts))


async def test_a_broken_socket_hands_over(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """What was on its way over a connection that breaks goes over another at once."""
    async with socket(socketed) as first:
        await slack.say(ada, ops, "hi")
        await taken(first)
        async with socket(socketed) as second:
            await first.close()
            envelope = await taken(second)
            await acknowledge(second, envelope)
            await slack.wait_drained()

    assert "hi" == envelope["payload"]["event"]["text"]


async def test_a_refresh_is_told_and_ends(slack: SlackServer, socketed: RawApp) -> None:
    """A warning changes nothing; refresh_requested closes the socket ten seconds later."""
    async with socket(socketed) as connection:
        await slack.disconnect(reason="warning")
        await slack.disconnect()
        told = [await taken(connection) for _ in range(2)]
        await slack.advance(11)
        ended = await connection.receive(timeout=5)

    assert [("disconnect", "warning"), ("disconnect", "refresh_requested")] == [
        (one["type"], one["reason"]) for one in told
    ]
    assert aiohttp.WSMsgType.CLOSE is ended.type or aiohttp.WSMsgType.CLOSED is ended.type


async def test_the_eleventh_socket_is_one_too_many(slack: SlackServer, socketed: RawApp) -> None:
    """It is told so and closed."""
    ten = [await socketed.http.ws_connect(await opened(socketed)) for _ in range(10)]
    await slack.wait_connected(count=len(ten))
    eleventh = await socketed.http.ws_connect(await opened(socketed))

    assert "too_many_websockets" == (await taken(eleventh))["reason"]


async def test_a_ticket_is_used_once(socketed: RawApp) -> None:
    """An address opens one socket."""
    url = await opened(socketed)
    first = await socketed.http.ws_connect(url)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await socketed.http.ws_connect(url)

    assert not first.closed


async def test_a_deaf_socket_is_silent(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """Pings are answered until the socket is made deaf; then nothing comes, and events go over another."""
    async with socketed.http.ws_connect(await opened(socketed), autoping=False) as connection:
        await taken(connection)
        await connection.ping(b"1")
        pong = await connection.receive(timeout=5)
        await slack.deafen()
        await connection.ping(b"2")
        await slack.say(ada, ops, "hi")
        with pytest.raises(TimeoutError):
            await connection.receive(timeout=0.1)
        async with socket(socketed) as other:
            await slack.advance(3.5)
            envelope = await taken(other)

    assert aiohttp.WSMsgType.PONG is pong.type
    assert ("hi", 1) == (envelope["payload"]["event"]["text"], envelope["retry_attempt"])


async def test_switched_off(slack: SlackServer, hands: RawApp, socketed: RawApp) -> None:
    """Without Socket Mode sockets are told to go and none is to be had; a bot token gets none either."""
    async with socket(socketed) as connection:
        await slack.socket_mode(enabled=False)
        told = await taken(connection)
    headers = {"Authorization": f"Bearer {hands.app.app_token}"}
    async with hands.http.post(f"{slack.api_url}apps.connections.open", headers=headers) as answer:
        refusal = await answer.json()

    assert "link_disabled" == told["reason"]
    assert "socket_mode_not_enabled" == refusal["error"]
    assert "not_allowed_token_type" == await hands.refused("apps.connections.open")


async def test_no_socket_no_event(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """Without a connection an event waits for its next try; a press fails at once."""
    card = await socketed.card(ops)
    pressed = await slack.press(ada, card, "Approve")
    await slack.say(ada, ops, "hi")
    assert pressed is not None
    await slack.wait_delivery(pressed)
    async with socket(socketed) as connection:
        await slack.advance(61)
        texts = [(await taken(connection))["payload"]["event"]["text"] for _ in range(2)]

    assert "connection_failed" == pressed.error
    assert {"A card", "hi"} == set(texts)


async def test_an_outage_cuts_sockets(slack: SlackServer, socketed: RawApp, ops: Channel, ada: User) -> None:
    """Down breaks the sockets; what is written meanwhile is delivered after."""
    connection = await socketed.http.ws_connect(await opened(socketed))
    await taken(connection)
    await slack.down()
    ended = await connection.receive(timeout=5)
    await slack.say(ada, ops, "hello?")
    [delivery] = await slack.deliveries("message")
    await slack.wait_for(lambda: len(delivery.attempts) == 2)
    await slack.up()
    async with socket(socketed) as again:
        await slack.advance(61)
        envelope = await taken(again)
        await acknowledge(again, envelope)
        await slack.wait_delivery(delivery)

    assert ended.type in {aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR, aiohttp.WSMsgType.CLOSE}
    assert (2, "connection_failed") == (envelope["retry_attempt"], envelope["retry_reason"])
    assert "delivered" == delivery.state
