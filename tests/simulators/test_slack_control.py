"""The control over HTTP and the text client."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from simulators.slack import Channel, ControlError, SlackServer, User
from simulators.slack.client import SlackTerminal, run
from tests.simulators.conftest import CARD, Endpoint, RawApp

ROOT = Path(__file__).parents[2]
FORM = {
    "type": "modal",
    "title": {"type": "plain_text", "text": "Reject"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text"},
        }
    ],
}


async def test_a_whole_talk_over_http(hands: RawApp, endpoint: Endpoint) -> None:
    """People are made, write, press, fill in a form and see by JSON alone."""
    carol = await hands.control("user", name="Carol")
    room = await hands.control("channel", name="deploys", members=["carol", "sayso"])
    said = await hands.control("mention", user="carol", channel="deploys", text="go")
    sent = await hands.do("chat.postMessage", channel=room["id"], thread_ts=said["ts"], text="Run?", blocks=CARD)
    seen = await hands.control("wait_message", channel="deploys", button="Approve", thread=said["ts"])
    pressed = await hands.control("press", user="Carol", target=sent["ts"], channel="deploys", button="Reject")
    await hands.do("views.open", trigger_id=pressed["payload"]["trigger_id"], view=FORM)
    view = await hands.control("wait_view", user="carol")
    await hands.control("submit", user="carol", view=view["id"], values={"Reason": "no"})
    await hands.control("wait_drained")
    deliveries = await hands.control("deliveries", kind="view_submission")
    await hands.do("chat.postEphemeral", channel=room["id"], user=carol["id"], text="Thanks")
    calls = await hands.control("calls", method="chat.postMessage")

    assert ("Run it?", ["Approve", "Reject"]) == (seen["shown"], [one["label"] for one in seen["buttons"]])
    assert ["Reason"] == [one["label"] for one in view["fields"]]
    assert ["delivered"] == [one["state"] for one in deliveries]
    assert [""] == [one["error"] for one in calls]
    assert "Thanks" == (await hands.control("wait_ephemeral", user="carol"))["shown"]
    assert 1 == len(await hands.control("thread", message=said["ts"], channel="deploys"))
    assert endpoint.bodies


async def test_trouble_over_http(slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel) -> None:
    """Faults, forgeries, replays, flood control, the clock and an outage are switched by JSON; the control stays up."""
    await hands.control("fail", method="auth.test", kind="refuse", error="internal_error", status=500)
    assert "internal_error" == await hands.refused("auth.test")
    forged = await hands.control("forge", kind="events_api", payload={}, flaw="old")
    await hands.send(ops)
    [told] = await hands.control("deliveries", kind="message")
    await hands.control("wait_delivery", delivery=told["id"])
    again = await hands.control("replay", delivery=told["id"])
    await hands.control("wait_drained")
    before = slack.platform.clock.now()
    assert await hands.control("advance", seconds=100) >= before + 100
    await hands.control("flood", enabled=True)
    await hands.control("down")
    assert hands.app.bot_token == (await hands.control("point", request_url=""))["bot_token"]
    await hands.control("up")

    assert (200, told["id"], 3) == (forged["status"], again["id"], len(endpoint.bodies))
    assert hands.app.team_id == (await hands.do("auth.test"))["team_id"]


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("nothing", {}),
        ("__init__", {}),
        ("say", {"user": "Nobody", "channel": "ops", "text": "x"}),
        ("say", {"text": "x"}),
        ("fail", {"method": "auth.test", "kind": "nothing"}),
        ("message", {"message": "1.2"}),
        ("message", {"message": "1.2", "channel": "ops"}),
        ("press", {"user": "ada", "target": "V0"}),
        ("replay", {"delivery": "Ev0"}),
        ("wait_calls", {"method": "auth.test", "timeout": 0.01}),
    ],
)
@pytest.mark.usefixtures("ops")
async def test_what_cannot_be_done_is_a_400(hands: RawApp, verb: str, arguments: dict[str, Any]) -> None:
    """Unknown verbs and people, and wrong arguments, are told and change nothing."""
    async with hands.http.post(f"{hands.slack.control_url}/{verb}", json=arguments) as answer:
        body = await answer.json()

    assert (400, False) == (answer.status, body["ok"])


async def test_people_are_named_in_many_ways(slack: SlackServer, ada: User) -> None:
    """Record, id, name and real name are one person; an ambiguous name is none."""
    named = [await slack.person(ref) for ref in (ada, ada.id, "@ada", "Ada")]
    await slack.user("ada", team=await slack.team("Other"))

    assert [ada] * 4 == named
    with pytest.raises(ControlError, match="2 match 'ada'"):
        await slack.person("ada")


async def test_a_person_writes_to_an_app(slack: SlackServer, hands: RawApp, ada: User) -> None:
    """An app as the channel, by record, name or user id, is the direct conversation with it."""
    rooms = {
        (await slack.say(ada, ref, "hi")).channel_id for ref in (hands.app, "Sayso", "@sayso", hands.app.user_id, ada)
    }

    assert [rooms.pop()] == [(await slack.direct(ada)).id]
    assert set() == rooms


async def test_acts_that_the_apps_do_not_offer(
    slack: SlackServer, hands: RawApp, ops: Channel, ada: User, ben: User
) -> None:
    """Strangers can't write or react, people edit and delete their own, archived channels are closed."""
    carol = await slack.user("carol")
    said = await slack.say(ada, ops, "mine")
    card = await hands.card(ops)
    impossible: list[Callable[[], Awaitable[object]]] = [
        lambda: slack.say(carol, ops, "x"),
        lambda: slack.react(carol, card, "+1"),
        lambda: slack.edit(ben, said, "x"),
        lambda: slack.edit(ada, card, "x"),
        lambda: slack.delete(ben, said),
        lambda: slack.press(ada, said, "Approve"),
    ]
    for act in impossible:
        with pytest.raises(ControlError):
            await act()
    await slack.archive(ops)
    with pytest.raises(ControlError, match="archived"):
        await slack.say(ada, ops, "x")


async def test_waiting_says_what_happened(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """A wait in vain names what was looked for, and the last calls."""
    await hands.send(ops)
    with pytest.raises(TimeoutError, match=r"a message with 'never'.*chat.postMessage -> 200"):
        await slack.wait_message(ops, "never", timeout=0.05)


async def test_a_scaled_clock() -> None:
    """With speed 100 a server's minute passes in under a second, and ts stay unique and in order."""
    async with SlackServer(speed=100) as fast:
        before = fast.platform.clock.now()
        await asyncio.wait_for(fast.platform.clock.sleep_until(before + 60), 5)
        ada, app = await fast.user("ada"), await fast.app()
        stamps = [(await fast.say(ada, app, "x")).ts for _ in range(100)]

    assert stamps == sorted(set(stamps))
    assert float(stamps[0]) > before + 60


@pytest.fixture
def spoken() -> list[str]:
    """What the client printed."""
    return []


@pytest.fixture
def terminal(slack: SlackServer, spoken: list[str], ops: Channel) -> SlackTerminal:
    """A client that is in a channel."""
    assert ops.name == "ops"
    return SlackTerminal(slack, spoken.append, "ops")


async def test_lines_are_acts(
    slack: SlackServer, hands: RawApp, terminal: SlackTerminal, spoken: list[str], ops: Channel, ada: User
) -> None:
    """Saying, mentioning, replying, reacting, editing, pressing, filling in: each is a line."""
    card = await hands.card(ops)
    terminal.look()
    for line in (
        "ada: hello all",
        "ada mention deploy",
        "ada reply 1 no, wait",
        "ada react 1 +1",
        "ada unreact +1",
        "ada press 1 Approve",
        "ada press Reject",
        "ada command pending",
    ):
        assert await terminal.obey(line)
    terminal.look()
    assert await terminal.obey("ada edit 2 hello everyone")
    assert await terminal.obey("ada delete 3")
    pressed = (await slack.deliveries("block_actions"))[-1]
    await hands.do("views.open", trigger_id=pressed.payload["trigger_id"], view=FORM)
    terminal.look()
    assert await terminal.obey("ada submit too risky")
    assert await terminal.obey("ada submit Reason=still")
    assert await terminal.obey("ada close")
    terminal.look()
    values = [
        one.payload["view"]["state"]["values"]["why"]["text"]["value"]
        for one in await slack.deliveries("view_submission")
    ]

    assert "#ops 1 Sayso: Run it? [Approve] [Reject]" == spoken[0]
    assert "#ops 2 ada (edited): hello everyone" in spoken
    assert "  (ada has the form 'Reject' with Reason)" in spoken
    assert ["yes", "no"] == [one.payload["actions"][0]["action_id"] for one in await slack.deliveries("block_actions")]
    assert ["too risky", "still"] == values
    assert ["no, wait"] == [one.text for one in await slack.thread(card)]
    assert [] == await slack.views(ada)
    assert [] == [one for one in spoken if one.startswith("?")]


async def test_lines_that_set_the_scene(terminal: SlackTerminal, spoken: list[str], slack: SlackServer) -> None:
    """Places, clock, outage, help; what isn't understood is said; quit ends."""
    before = slack.platform.clock.now()
    for line in ("", "in private", "ada: psst", "in #ops", "advance 60", "down", "up", "show", "help"):
        assert await terminal.obey(line)
    assert slack.platform.clock.now() >= before + 60
    for line in ("ada", "ada dance", "in nowhere", "advance soon", "nobody: hi", "ada press 99 x", "ada close"):
        assert await terminal.obey(line)

    assert not await terminal.obey("quit")
    assert 7 == len([one for one in spoken if one.startswith("?")])
    assert any(one.startswith("private 1 ada: psst") for one in spoken)


async def typed(*lines: str) -> AsyncIterator[str]:
    """Yield lines as if they were typed."""
    for line in lines:
        yield line


async def test_the_client_furnishes_a_server() -> None:
    """It says what an app needs to know, and prints what happens until the end."""
    said: list[str] = []
    options = argparse.Namespace(
        port=0,
        control_port=0,
        bot_token="xoxb-mine",
        app_token="",
        signing_secret="",
        request_url="",
        people=[],
        channel="ops",
    )
    await run(options, typed("ada: hello", "quit"), said.append)

    assert "export SAYSO_SLACK__BOT_TOKEN=xoxb-mine" in said
    assert any(one.startswith("channel  #ops") for one in said)
    assert "#ops 1 Ada: hello" in said


def test_the_client_as_a_process() -> None:
    """`python -m` serves until quit."""
    done = subprocess.run(
        [sys.executable, "-m", "simulators.slack", "--person", "Ada", "--channel", "ops"],
        input="ada: hello\nquit\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert 0 == done.returncode, done.stderr
    assert "#ops 1 Ada: hello" in done.stdout
