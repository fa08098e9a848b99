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

from simulators.telegram import Chat, ControlError, TelegramServer, User
from simulators.telegram.client import TelegramTerminal, run
from tests.simulators.conftest import RawBot

ROOT = Path(__file__).parents[2]


async def test_a_whole_talk_over_http(raw: RawBot, telegram: TelegramServer) -> None:
    """People are made, write, press and see answers by JSON alone."""
    carol = await raw.control("user", first_name="Carol")
    await raw.control("say", user="Carol", chat="@sayso_bot", text="hello")
    room = await telegram.private("Carol")
    card = await raw.card(room, "Run?")
    seen = await raw.control("wait_message", chat="Carol", button="Approve")
    query = await raw.control("press", user="Carol", message=card, chat="Carol", button="approve")
    await raw.do("answerCallbackQuery", callback_query_id=query["id"], text="Done")
    answer = await raw.control("wait_answer", query=query["id"])
    messages = await raw.control("messages", chat=carol["id"])
    calls = await raw.control("calls", method="sendMessage")

    assert ("Run?", [["Approve", "Reject"]]) == (
        seen["text"],
        [[button["text"] for button in row] for row in seen["buttons"]],
    )
    assert "v1.yes" == query["data"]
    assert "Done" == answer["text"]
    assert ["hello", "Run?"] == [one["text"] for one in messages]
    assert [200] == [one["status"] for one in calls]


@pytest.mark.usefixtures("private")
async def test_trouble_over_http(raw: RawBot, telegram: TelegramServer) -> None:
    """Faults, flood control, the clock and an outage are switched by JSON; the control stays up."""
    await raw.control("fail", method="getMe", kind="refuse", status=500, description="Internal Server Error")
    assert 500 == (await raw.call("getMe"))["error_code"]
    before = telegram.platform.clock.now()
    assert await raw.control("advance", seconds=100) >= before + 100
    await raw.control("flood", enabled=True)
    await raw.control("down")
    assert [] == await raw.control("pending")
    await raw.control("up")
    assert (await raw.do("getMe"))["is_bot"]


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("nothing", {}),
        ("__init__", {}),
        ("say", {"user": "Nobody", "chat": "Ops", "text": "x"}),
        ("say", {"text": "x"}),
        ("fail", {"method": "getMe", "kind": "nothing"}),
        ("message", {"message": 5}),
        ("wait_calls", {"method": "getMe", "timeout": 0.01}),
    ],
)
async def test_what_cannot_be_done_is_a_400(raw: RawBot, verb: str, arguments: dict[str, Any]) -> None:
    """Unknown verbs and people, and wrong arguments, are told and change nothing."""
    async with raw.http.post(f"{raw.telegram.control_url}/{verb}", json=arguments) as answer:
        body = await answer.json()

    assert (400, False) == (answer.status, body["ok"])


@pytest.mark.usefixtures("private")
async def test_people_are_named_in_many_ways(telegram: TelegramServer, alice: User) -> None:
    """Record, id, username and first name are one person; an ambiguous name is none."""
    named = [await telegram.person(ref) for ref in (alice, alice.id, "@alice_a", "alice")]
    await telegram.user("Alice")

    assert [alice] * 4 == named
    with pytest.raises(ControlError, match="2 match 'Alice'"):
        await telegram.person("Alice")


async def test_a_person_writes_to_a_bot(telegram: TelegramServer, raw: RawBot, alice: User) -> None:
    """A bot as the chat is the private chat with it, opened on the way; oneself is that with the first."""
    other = await telegram.bot("other_bot")
    chats = [
        (await telegram.say(alice, ref, "hi")).bot_id
        for ref in (other, "@other_bot", other.id, raw.bot, alice, "Alice", alice.id)
    ]

    assert [other.id] * 3 + [raw.bot.id] * 4 == chats


@pytest.mark.usefixtures("private")
async def test_acts_that_the_apps_do_not_offer(
    raw: RawBot, telegram: TelegramServer, group: Chat, alice: User, bob: User
) -> None:
    """Strangers can't write, people edit their own only, unknown emoji and topics are refused."""
    carol = await telegram.user("Carol")
    card = await raw.card(group)
    impossible: list[Callable[[], Awaitable[object]]] = [
        lambda: telegram.say(carol, group, "x"),
        lambda: telegram.edit(alice, card, "x", chat=group),
        lambda: telegram.react(bob, card, "\N{WHITE HEAVY CHECK MARK}", chat=group),
        lambda: telegram.say(bob, group, "x", thread=7),
        lambda: telegram.topic(group, "x"),
        lambda: telegram.migrate(group),
        lambda: telegram.press(bob, card),
        lambda: telegram.say(bob, carol, "x"),
        lambda: telegram.messages(raw.bot),
        lambda: telegram.press(bob, 99, "x", chat=group),
        lambda: telegram.add_bot("Nowhere", raw.bot),
    ]

    for act in impossible:
        with pytest.raises(ControlError):
            await act()


async def test_without_a_bot_there_is_nobody_to_write_to(telegram: TelegramServer, alice: User) -> None:
    """A private chat needs a bot."""
    with pytest.raises(ControlError, match="there is no bot"):
        await telegram.private(alice)


async def test_any_emoji_can_be_forced(raw: RawBot, telegram: TelegramServer, group: Chat, bob: User) -> None:
    """A reaction that Telegram doesn't offer can be sent for a bot that must ignore it."""
    card = await raw.card(group)
    tinted = "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}"
    reacted = await telegram.react(bob, card, tinted, chat=group, any_emoji=True)

    assert (tinted,) == reacted.reacted(bob.id)


@pytest.mark.usefixtures("bob")
async def test_typed_lines(raw: RawBot, telegram: TelegramServer, group: Chat, alice: User) -> None:
    """Each line of the client is one act; what isn't understood is said."""
    printed: list[str] = []
    terminal = TelegramTerminal(telegram, printed.append)
    await terminal.obey("alice: hello there")
    room = await telegram.private(alice)
    card = await raw.card(room, "Run?")
    for line in (
        "alice reply 2 no, wait",
        "alice react 2 thumbs",
        "alice react 2",
        "alice press 2 Approve",
        "alice press reject",
        "alice reply hurry",
        "alice react down",
        "alice edit 1 hello",
        "in Ops",
        "bob: in the group",
        "bob forward 2 Ops",
        "promote",
        "demote",
        "remove",
        "add",
        "promote",
        "in private",
        "bob block",
        "bob unblock",
        "advance 1",
        "down",
        "up",
        "",
    ):
        assert await terminal.obey(line)

    assert [] == printed
    assert ["hello", "Run?", "no, wait", "hurry"] == [one.text for one in room.messages.values()]
    assert ["v1.yes", "v1.no"] == [one.data for one in await telegram.answers()]
    assert [card, card] == [room.messages[number].reply_to for number in (3, 4)]
    assert ("\N{THUMBS DOWN SIGN}",) == room.messages[card].reacted(alice.id)
    assert group.admin(raw.bot.id)
    assert ["in the group", "in the group"] == [one.text for one in list(group.messages.values())[1:] if one.text]
    wrong = [
        "alice dance",
        "nobody: x",
        "alice react x",
        "alice press 99 x",
        "in Nowhere",
        "alice",
        "bob reply 1",
        "in",
    ]
    assert [True] * len(wrong) == [await terminal.obey(line) for line in wrong]
    assert len(wrong) == len([line for line in printed if line.startswith("? ")])
    assert not await terminal.obey("quit")


async def test_show_and_help(raw: RawBot, telegram: TelegramServer, alice: User) -> None:
    """`show` prints messages with numbers and buttons, `help` what can be typed."""
    printed: list[str] = []
    terminal = TelegramTerminal(telegram, printed.append)
    await terminal.obey("alice: hello")
    card = await raw.card(await telegram.private(alice), "Run?")
    await raw.do("editMessageText", chat_id=alice.id, message_id=card, text="Done")
    await terminal.obey("show")
    await terminal.obey("help")

    assert ["Alice #1 Alice: hello", "Alice #2 Sayso (edited): Done"] == printed[:2]
    assert "ada press 12 Approve" in printed[2]


async def test_news_is_printed(raw: RawBot) -> None:
    """The running client prints messages, edits and answers as they come."""
    printed: asyncio.Queue[str] = asyncio.Queue()
    typed: asyncio.Queue[str] = asyncio.Queue()

    async def lines() -> AsyncIterator[str]:
        while True:
            yield await typed.get()

    options = argparse.Namespace(port=0, control_port=0, token="42:AA", people=["Alice"], group="Ops")
    running = asyncio.create_task(run(options, lines(), printed.put_nowait))
    opening = [await printed.get() for _ in range(11)]
    base_url = opening[5].split()[-1]
    await typed.put("alice: hi")
    first = [await printed.get() for _ in range(2)]
    rows = [[{"text": "Yes", "callback_data": "y"}]]
    body = {"chat_id": 501000001, "text": "Run?", "reply_markup": {"inline_keyboard": rows}}
    async with raw.http.post(f"{base_url}42:AA/sendMessage", json=body):
        card = await printed.get()
    await typed.put("alice press Yes")
    async with raw.http.post(f"{base_url}42:AA/getUpdates", json={"timeout": 5, "offset": -1}) as answer:
        query = (await answer.json())["result"][0]["callback_query"]["id"]
    async with raw.http.post(f"{base_url}42:AA/answerCallbackQuery", json={"callback_query_id": query, "text": "ok"}):
        seen = await printed.get()
    await typed.put("quit")
    await running

    assert "export SAYSO_TELEGRAM__TOKEN=42:AA" == opening[2]
    assert f"export SAYSO_TELEGRAM__API={base_url.removesuffix('/bot')}" == opening[3]
    assert {"Ops #1 Alice: new_chat_members", "Alice #1 Alice: hi"} == set(first)
    assert "Alice #2 Sayso: Run? [Yes]" == card
    assert "  (Alice sees: ok)" == seen


def test_the_module_starts_and_ends_with_its_input() -> None:
    """`python -m simulators.telegram` says how to point a bot at it and stops at the end of input."""
    done = subprocess.run(
        [sys.executable, "-m", "simulators.telegram", "--person", "Alice"],
        input="alice: hi\nshow\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=True,
    )

    assert "export SAYSO_TELEGRAM__API=http://127.0.0.1:" in done.stdout
    assert "Alice #1 Alice: hi" in done.stdout
    assert "" == done.stderr
