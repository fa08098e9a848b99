"""Scripted trouble: every kind of fault, on the wire."""

from __future__ import annotations

import time

import aiohttp
import pytest

from simulators.slack import Channel, DropAnswer, Garbage, Hang, Refuse, Reset, SlackServer
from tests.simulators.conftest import RawApp

METHOD = "chat.postMessage"


async def test_a_refusal_of_choice(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """Error, status and Retry-After are as scripted, once; nothing is written."""
    await slack.fail(METHOD, Refuse("ratelimited", 429, 7))
    form = {"channel": ops.id, "text": "x"}
    async with hands.http.post(f"{slack.api_url}{METHOD}", data=form, headers=hands.bearer) as answer:
        refusal = answer.status, answer.headers["Retry-After"], (await answer.json())["error"]

    assert (429, "7", "ratelimited") == refusal
    assert {} == ops.messages
    await hands.send(ops)


async def test_not_json(slack: SlackServer, hands: RawApp) -> None:
    """A proxy's page comes with its status."""
    await slack.fail("*", Garbage(502, "<html>"))
    async with hands.http.post(f"{slack.api_url}{METHOD}", headers=hands.bearer) as answer:
        assert (502, "text/html", "<html>") == (answer.status, answer.content_type, await answer.text())


@pytest.mark.parametrize(("fault", "written"), [(Reset(), 0), (DropAnswer(), 1)])
async def test_a_broken_connection(
    slack: SlackServer, hands: RawApp, ops: Channel, fault: Reset | DropAnswer, written: int
) -> None:
    """It breaks before the message is written, or after."""
    await slack.fail(METHOD, fault)
    with pytest.raises(aiohttp.ClientError):
        await hands.call(METHOD, channel=ops.id, text="x")

    assert written == len(ops.messages)


async def test_a_slow_answer(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """The call waits, then is carried out."""
    await slack.fail(METHOD, Hang(0.2))
    began = time.monotonic()
    await hands.send(ops)

    assert time.monotonic() - began >= 0.2


async def test_faults_are_used_up_in_order(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """Each call takes the first that fits; healing forgets the rest; the log has all."""
    await slack.fail(METHOD, Refuse("internal_error"), times=2)
    await slack.fail("auth.test", Refuse("fatal_error"))
    errors = [await hands.refused(METHOD, channel=ops.id, text="x"), await hands.refused("auth.test")]
    await slack.heal()
    await hands.send(ops)

    assert ["internal_error", "fatal_error"] == errors
    assert ["internal_error", ""] == [one.error for one in await slack.calls(METHOD)]
    assert 0 == slack.platform.faults.left()


async def test_a_response_url_fails_too(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """It is scripted as the method response_url."""
    card, ada = await hands.card(ops), await slack.person("ada")
    pressed = await slack.press(ada, card, "Approve")
    assert pressed is not None
    await slack.fail("response_url", Refuse("internal_error", 500))
    async with hands.http.post(pressed.payload["response_url"], json={"text": "x"}) as answer:
        assert 500 == answer.status


async def test_an_outage(slack: SlackServer, hands: RawApp) -> None:
    """Down refuses connections, up takes them on the same port."""
    await slack.down()
    with pytest.raises(aiohttp.ClientError):
        await hands.call("auth.test")
    await slack.up()
    await slack.up()

    assert hands.app.team_id == (await hands.do("auth.test"))["team_id"]
