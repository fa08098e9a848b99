"""A platform refuses a card for good: `/readyz`, `doctor`, the record and the asker say so, in the platform's words."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hitl.outcomes import Unfit
from simulators.slack import SlackServer
from simulators.telegram import Refuse, TelegramServer
from tests.acceptance.installation import ME, until
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.acceptance.installation import Installation

#: The exit status of `sayso ask` for a request that nobody could be asked about.
UNDELIVERABLE = 13

pytestmark = pytest.mark.forked


def settings(approver: str, route: str, section: str) -> str:
    """The settings of a service whose cards go to one room."""
    people = {"requesters": ME, "operators": ME, "approvers": approver, "routes": route}
    lists = "".join(f"{name} = [{json.dumps(one)}]\n" for name, one in people.items())
    return f"{lists}\n[http]\nport = 0\n{section}"


@dataclass
class Heard:
    """All that people and programs hear after a card was refused."""

    asker: Any
    ready: httpx.Response
    doctor: Any
    record: dict[str, str]


def hear(service: Installation) -> Heard:
    """Ask from a command line, and look at the probe, at `doctor` and at the record."""
    asker = service.run("ask", "deploy", "--json", "--", "true")
    ref = json.loads(asker.stdout)["ref"]
    port = until(lambda: re.search(r"http\.ready.*? port=(\d+)", service.log), "the port")[1]
    record = {line.event: line.data for line in service.chains()[ref]}
    return Heard(asker, httpx.get(f"http://127.0.0.1:{port}/readyz"), service.run("doctor"), record)


def check(heard: Heard, route: str, words: str, remedy: str) -> None:
    """Each names the place and the platform's words; those for the operator name what to do."""
    ready, answer = heard.ready, heard.ready.json()

    assert (503, False) == (ready.status_code, answer["ready"])
    assert any(says(one, "trouble.route", route=route, why=words) and says(one, remedy) for one in answer["troubles"])
    assert 0 != heard.doctor.returncode
    assert says(heard.doctor.stdout, "trouble.route", route=route, why=words), heard.doctor.stdout
    assert says(heard.doctor.stdout, remedy)
    assert {"route": route, "why": words} == json.loads(heard.record["not_shown"])
    assert "undeliverable" in heard.record
    assert UNDELIVERABLE == heard.asker.returncode
    assert says(json.loads(heard.asker.stdout)["message"], Unfit.UNSHOWN, why=f"{route}: {words}")


async def telegram_kicks(server: TelegramServer, room: Any, bot: Any) -> None:
    """Throw the bot out of the group."""
    await server.kick(room, bot)


async def telegram_loses(server: TelegramServer, room: Any, bot: Any) -> None:
    """Let the group be gone."""
    del bot
    del server.world.chats[room.key]


async def telegram_revokes(server: TelegramServer, room: Any, bot: Any) -> None:
    """Let the bot's token be worth nothing, as after BotFather's /revoke."""
    del room, bot
    await server.fail("*", Refuse(401, "Unauthorized"), times=100_000)


@pytest.mark.parametrize(
    ("act", "words", "remedy"),
    [
        (telegram_kicks, "Forbidden: bot was kicked from the supergroup chat", "remedy.telegram.member"),
        (telegram_loses, "Chat not found", "remedy.telegram.chat"),
        (telegram_revokes, "Unauthorized", "remedy.telegram.token"),
    ],
)
async def test_a_card_that_telegram_refuses_is_everybodys_news(
    install: Callable[..., Installation],
    act: Callable[[TelegramServer, Any, Any], Awaitable[None]],
    words: str,
    remedy: str,
) -> None:
    """The bot was removed, the group is gone, or the token was revoked, while the service ran."""
    async with TelegramServer() as server:
        bot, ann = await server.bot(), await server.user("Ann")
        room = await server.supergroup("Ops", members=[ann], bots=[bot])
        section = f'\n[telegram]\napi = "{server.root_url}"\ntimeout_s = 2\n'
        told = {"SAYSO_TELEGRAM__TOKEN": bot.token}
        service = install(settings=settings(f"telegram:{ann.id}", f"telegram:{room.id}", section), environment=told)
        await asyncio.to_thread(service.start)
        await server.wait_polling(timeout=20)
        await act(server, room, bot)
        heard = await asyncio.to_thread(hear, service)

    check(heard, f"telegram:{room.id}", words, remedy)


async def slack_removes(server: SlackServer, room: Any, app: Any) -> None:
    """Remove the app from the channel, which is private: Slack then says that there is none."""
    await server.leave(app.user_id, room)


async def slack_archives(server: SlackServer, room: Any, app: Any) -> None:
    """Archive the channel."""
    del app
    await server.archive(room)


async def slack_uninstalls(server: SlackServer, room: Any, app: Any) -> None:
    """Remove the app from the workspace, with its tokens."""
    del room
    await server.uninstall(app)


@pytest.mark.parametrize(
    ("act", "words", "remedy"),
    [
        (slack_removes, "channel_not_found", "remedy.slack.invite"),
        (slack_archives, "is_archived", "remedy.slack.archived"),
        (slack_uninstalls, "account_inactive", "remedy.slack.token"),
    ],
)
async def test_a_card_that_slack_refuses_is_everybodys_news(
    install: Callable[..., Installation],
    act: Callable[[SlackServer, Any, Any], Awaitable[None]],
    words: str,
    remedy: str,
) -> None:
    """The app was removed, the channel is archived, or the tokens were revoked, while the service ran."""
    async with SlackServer() as server:
        app, ann = await server.app(socket_mode=True), await server.user("Ann")
        room = await server.channel("ops", members=[ann, app.user_id], private=True)
        place, section = f"slack:{room.team_id}/{room.id}", f'\n[slack]\napi = "{server.api_url}"\npace = 0\n'
        told = {"SAYSO_SLACK__BOT_TOKEN": app.bot_token, "SAYSO_SLACK__APP_TOKEN": app.app_token}
        service = install(settings=settings(f"slack:{ann.team_id}/{ann.id}", place, section), environment=told)
        await asyncio.to_thread(service.start)
        await server.wait_connected(timeout=20)
        await act(server, room, app)
        heard = await asyncio.to_thread(hear, service)

    check(heard, place, words, remedy)
