"""`sayso test` with approvers on Telegram and on Slack: each presses on their own phone, and one presses nothing."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from hitl.cards.wording import say
from simulators.slack import SlackServer
from simulators.telegram import TelegramServer
from tests.acceptance.installation import ME
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.long

#: Seconds that each approver has. The one who presses nothing makes the test last that long.
WAIT_S = "20"
PRESSES = {"ann": "approved", "bob": "rejected"}
LABELS = {"approved": say("button.approve"), "rejected": say("button.reject")}
PEOPLE = (*PRESSES, "cyd")


def settings(section: str, approvers: dict[str, str]) -> str:
    """The settings of a service whose cards go to all approvers in private."""
    return (
        f"requesters = [{json.dumps(ME)}]\noperators = [{json.dumps(ME)}]\n"
        f'approvers = {json.dumps([*approvers.values()])}\nroutes = ["approvers"]\n{section}'
    )


def asked(approver: str) -> str:
    """The words of the card that asks this approver. The others' cards are in the same places."""
    return say("test.note", name=approver)


async def tried(
    service: Installation, press: Callable[[str, str], Awaitable[Any]], *options: str
) -> tuple[int, str, str]:
    """The exit status and the output of the command, while those who press do so on their cards."""
    await asyncio.to_thread(service.start)
    command = service.begin("test", "--wait", WAIT_S, *options)
    try:
        for who, wanted in PRESSES.items():
            await press(who, LABELS[wanted])
        told, errors = await asyncio.to_thread(command.communicate)
    finally:
        command.kill()
    return command.returncode, told, errors


def check(surface: str, approvers: dict[str, str], ended: tuple[int, str, str]) -> None:
    """Those who pressed passed, each with what they pressed; the one who didn't is named; nothing was run."""
    status, told, errors = ended

    assert 1 == status, errors
    for who, wanted in PRESSES.items():
        name = say("test.name", name=approvers[who], surface=surface)
        assert says(told, "test.pressed", name=name, status=wanted, surface=surface)
    silent = [line for line in told.splitlines() if line.startswith("✗")]
    assert 1 == len(silent)
    assert says(silent[0], "test.silent", name=say("test.name", name=approvers["cyd"], surface=surface))


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    """A Telegram of our own."""
    async with TelegramServer() as server:
        yield server


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """A Slack of our own."""
    async with SlackServer() as server:
        yield server


async def test_the_report_names_who_pressed_nothing_on_telegram(
    install: Callable[..., Installation], telegram: TelegramServer
) -> None:
    """Each approver presses in their private chat with the bot."""
    bot = await telegram.bot()
    people = {who: await telegram.user(who.title()) for who in PEOPLE}
    chats = {who: await telegram.private(person, bot) for who, person in people.items()}
    approvers = {who: f"telegram:{person.id}" for who, person in people.items()}
    section = f'[telegram]\napi = "{telegram.root_url}"\n'
    service = install(settings=settings(section, approvers), environment={"SAYSO_TELEGRAM__TOKEN": bot.token})

    async def press(who: str, label: str) -> None:
        card = await telegram.wait_message(chats[who], asked(approvers[who]), button=label, timeout=20)
        await telegram.press(people[who], card, label)

    check("telegram", approvers, await tried(service, press))


async def test_the_report_names_who_pressed_nothing_on_slack(
    install: Callable[..., Installation], slack: SlackServer
) -> None:
    """Each approver presses in their direct conversation with the app."""
    app = await slack.app(socket_mode=True)
    people = {who: await slack.user(who.title()) for who in PEOPLE}
    approvers = {who: f"slack:{person.team_id}/{person.id}" for who, person in people.items()}
    section = f'[slack]\napi = "{slack.api_url}"\npace = 0\n'
    tokens = {"SAYSO_SLACK__BOT_TOKEN": app.bot_token, "SAYSO_SLACK__APP_TOKEN": app.app_token}
    service = install(settings=settings(section, approvers), environment=tokens)

    async def press(who: str, label: str) -> None:
        room = await slack.direct(people[who], app)
        card = await slack.wait_message(room, asked(approvers[who]), button=label, timeout=20)
        await slack.press(people[who], card, label)

    check("slack", approvers, await tried(service, press))


async def test_a_press_on_one_surface_proves_nothing_about_the_other(
    install: Callable[..., Installation], telegram: TelegramServer, slack: SlackServer
) -> None:
    """Ann has accounts on both. She presses on Telegram alone, so the report names her on Slack."""
    bot, app = await telegram.bot(), await slack.app(socket_mode=True)
    person, member = await telegram.user("Ann"), await slack.user("Ann")
    chat = await telegram.private(person, bot)
    accounts = [f"telegram:{person.id}", f"slack:{member.team_id}/{member.id}"]
    section = (
        f"[principals]\nann = {json.dumps(accounts)}\n"
        f'[telegram]\napi = "{telegram.root_url}"\n[slack]\napi = "{slack.api_url}"\npace = 0\n'
    )
    tokens = {"SAYSO_TELEGRAM__TOKEN": bot.token}
    tokens |= {"SAYSO_SLACK__BOT_TOKEN": app.bot_token, "SAYSO_SLACK__APP_TOKEN": app.app_token}
    service = install(settings=settings(section, {"ann": "ann"}), environment=tokens)
    await asyncio.to_thread(service.start)
    command = service.begin("test", "--wait", "10", "--json")
    try:
        label = say("button.approve")
        card = await telegram.wait_message(chat, asked("ann"), button=label, timeout=20)
        await telegram.press(person, card, label)
        told, errors = await asyncio.to_thread(command.communicate)
    finally:
        command.kill()

    assert 1 == command.returncode, errors
    found = {one["asked_on"]: (one["passed"], one["status"], one["missed"]) for one in json.loads(told)["tests"]}
    assert {"telegram": (True, "approved", []), "slack": (False, "expired", [])} == found
