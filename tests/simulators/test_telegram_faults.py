"""Trouble on the way: scripted refusals, broken connections, outages."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

import aiohttp
import pytest

from simulators.telegram import Chat, DropAnswer, Garbage, Hang, Refuse, Reset, TelegramServer, User
from tests.simulators.conftest import RawBot


async def test_the_next_calls_are_refused_as_told(raw: RawBot, telegram: TelegramServer, private: Chat) -> None:
    """So many calls of the method are refused with status, description and parameters; nothing happens."""
    await telegram.fail("sendMessage", Refuse(429, "Too Many Requests: retry after 3", {"retry_after": 3}), 2)
    refused = [await raw.call("sendMessage", chat_id=private.id, text="x") for _ in range(2)]
    assert (await raw.do("getMe"))["is_bot"]
    assert [3, 3] == [one["parameters"]["retry_after"] for one in refused]
    assert {} == private.messages
    assert (await raw.send(private))["text"] == "A card"


@pytest.mark.usefixtures("private")
async def test_a_proxy_answers(raw: RawBot, telegram: TelegramServer) -> None:
    """A 502 comes with a body that is not JSON."""
    await telegram.fail("*", Garbage())
    url = f"{telegram.base_url}{raw.bot.token}/getMe"
    async with raw.http.get(url) as answer:
        body = await answer.text()

    assert (502, "text/html") == (answer.status, answer.content_type)
    assert "Bad Gateway" in body


async def test_a_slow_call_is_carried_out_all_the_same(raw: RawBot, telegram: TelegramServer, private: Chat) -> None:
    """A call that hangs takes its time; a client that gives up does not undo it."""
    await telegram.fail("sendMessage", Hang(0.2), 2)
    begun = time.monotonic()
    await raw.send(private, "slow")
    took = time.monotonic() - begun
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(raw.send(private, "given up"), 0.05)
    await telegram.wait_calls("sendMessage", 2)

    assert took >= 0.2
    assert ["slow", "given up"] == [one.text for one in private.messages.values()]


async def test_connections_break_before_or_instead_of_the_answer(
    raw: RawBot, telegram: TelegramServer, private: Chat
) -> None:
    """A reset loses the call, a dropped answer only the answer."""
    await telegram.fail("sendMessage", Reset())
    with pytest.raises(aiohttp.ClientConnectionError):
        await raw.send(private, "lost")
    await telegram.fail("sendMessage", DropAnswer())
    with pytest.raises(aiohttp.ClientConnectionError):
        await raw.send(private, "sent")

    assert ["sent"] == [one.text for one in private.messages.values()]
    assert [0, 200] == [one.status for one in await telegram.calls("sendMessage")]


@pytest.mark.usefixtures("private")
async def test_an_outage(raw: RawBot, telegram: TelegramServer, alice: User) -> None:
    """While down, polls are cut and connections refused; people write on; then all is there."""
    polling = asyncio.create_task(raw.call("getUpdates", timeout=30))
    await telegram.wait_polling()
    await telegram.down()
    with pytest.raises(aiohttp.ClientError):
        await polling
    with pytest.raises(aiohttp.ClientConnectorError):
        await raw.call("getMe")
    await telegram.say(alice, alice, "anyone?")
    await telegram.down()
    await telegram.up()
    await telegram.up()

    assert ["anyone?"] == [one["message"]["text"] for one in await raw.updates()]


@pytest.mark.usefixtures("private")
async def test_nobody_else_gets_the_port_of_a_server_that_is_down(raw: RawBot, telegram: TelegramServer) -> None:
    """While a server is down its port stays taken, so another server that starts can't answer in its place."""
    port = int(telegram.root_url.rpartition(":")[2])
    await telegram.down()
    with socket.socket() as another, pytest.raises(OSError, match="in use"):
        another.bind(("127.0.0.1", port))
    with pytest.raises(aiohttp.ClientConnectorError):
        await raw.call("getMe")
    await telegram.up()

    assert (await raw.do("getMe"))["is_bot"]


async def test_planned_trouble_can_be_called_off(raw: RawBot, telegram: TelegramServer) -> None:
    """Healing forgets what was planned."""
    await telegram.fail("getMe", Reset(), 5)
    await telegram.heal()

    assert 0 == telegram.platform.faults.left()
    assert (await raw.do("getMe"))["is_bot"]


@pytest.mark.usefixtures("telegram")
async def test_stopping_ends_polls_with_a_restart(raw: RawBot) -> None:
    """Who polls when the server stops is told of a restart."""
    async with TelegramServer() as other:
        bot = await other.bot()
        url = f"{other.base_url}{bot.token}/getUpdates"
        polling = asyncio.create_task(_status(raw, url))
        await other.wait_polling()

    assert 500 == await polling


async def _status(raw: RawBot, url: str) -> int:
    async with raw.http.post(url, json={"timeout": 30}) as answer:
        return answer.status


async def test_calls_are_logged(raw: RawBot, telegram: TelegramServer, private: Chat) -> None:
    """The log has method, parameters and how it went, of unknown methods too."""
    await raw.send(private, "x", reply_markup='{"inline_keyboard": []}')
    await raw.refused("sendMessage", chat_id=private.id, text="")
    await raw.refused("getNothing")
    sent, empty, unknown = (await telegram.calls())[-3:]

    assert {"chat_id": private.id, "text": "x", "reply_markup": {"inline_keyboard": []}} == sent.params
    assert [(200, ""), (400, "Bad Request: message text is empty"), (404, "Not Found")] == [
        (one.status, one.description) for one in (sent, empty, unknown)
    ]
    assert 2 == len(await telegram.calls("sendmessage"))


async def test_waiting_says_what_it_missed(raw: RawBot, telegram: TelegramServer) -> None:
    """A wait that ends in vain names what was waited for and the last calls."""
    await raw.do("getMe")
    nothing: Callable[[], None] = lambda: None  # noqa: E731
    with pytest.raises(TimeoutError, match=r"no sign of a card in 0\.01 s; last calls: \['getMe -> 200'\]"):
        await telegram.wait_for(nothing, 0.01, "a card")


@pytest.mark.usefixtures("alice")
async def test_a_faster_clock() -> None:
    """With a speed of 1000 a fifth of a second is more than three minutes: presses expire."""
    async with TelegramServer(speed=1000) as telegram:
        begun = telegram.platform.clock.now()
        await telegram.platform.clock.sleep_until(begun + 200)

        assert telegram.platform.clock.now() >= begun + 200
        assert 1 == telegram.platform.clock.real_seconds(500)
