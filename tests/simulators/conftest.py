"""Running Telegram and Slack servers, and a bot's bare hands for their tests."""

from __future__ import annotations

import abc
import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import parse_qs

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from simulators.common.server import Served
from simulators.slack import App, Channel, Message, SlackServer
from simulators.slack import User as Colleague
from simulators.telegram import Bot, Chat, TelegramServer, User


class Raw(abc.ABC):
    """Calls a platform's methods with plain HTTP. `reason` is the field of an answer that says why it refuses."""

    http: aiohttp.ClientSession
    reason: ClassVar[str]

    @abc.abstractmethod
    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer of a method."""

    @property
    @abc.abstractmethod
    def server(self) -> Served:
        """Return the server."""

    async def granted(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer of a method that must be granted."""
        answer = await self.call(method, **params)
        assert answer["ok"], answer
        return answer

    async def refused(self, method: str, **params: Any) -> str:
        """Return why a method refuses."""
        answer = await self.call(method, **params)
        assert not answer["ok"], answer
        return str(answer[self.reason])

    async def control(self, verb: str, **arguments: Any) -> Any:
        """Return the result of a verb over HTTP."""
        async with self.http.post(f"{self.server.control_url}/{verb}", json=arguments) as answer:
            body = await answer.json()
            assert body["ok"], body
            return body["result"]


@dataclass(frozen=True, slots=True)
class RawBot(Raw):
    """A bot that calls methods with plain HTTP and JSON."""

    telegram: TelegramServer
    bot: Bot
    http: aiohttp.ClientSession
    reason = "description"

    @property
    def server(self) -> TelegramServer:
        """Return the server."""
        return self.telegram

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer of a method."""
        url = f"{self.telegram.base_url}{self.bot.token}/{method}"
        async with self.http.post(url, json=params) as answer:
            body: dict[str, Any] = await answer.json()
            return body

    async def do(self, method: str, **params: Any) -> Any:
        """Return the result of a method that must be granted."""
        return (await self.granted(method, **params))["result"]

    async def updates(self, **params: Any) -> list[dict[str, Any]]:
        """Return what waits, and acknowledge it."""
        found: list[dict[str, Any]] = await self.do("getUpdates", **params)
        if found:
            await self.do("getUpdates", offset=found[-1]["update_id"] + 1)
        return found

    async def send(self, chat: Chat, text: str = "A card", **params: Any) -> dict[str, Any]:
        """Write a message and return it."""
        sent: dict[str, Any] = await self.do("sendMessage", chat_id=chat.id, text=text, **params)
        return sent

    async def card(self, chat: Chat, text: str = "A card", **params: Any) -> int:
        """Write a message with two buttons and return its id."""
        rows = [[{"text": "Approve", "callback_data": "v1.yes"}, {"text": "Reject", "callback_data": "v1.no"}]]
        sent = await self.send(chat, text, reply_markup={"inline_keyboard": rows}, **params)
        return int(sent["message_id"])


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    """A running server."""
    async with TelegramServer() as server:
        yield server


@pytest.fixture
async def raw(telegram: TelegramServer) -> AsyncIterator[RawBot]:
    """A bot with privacy mode on."""
    async with aiohttp.ClientSession() as http:
        yield RawBot(telegram, await telegram.bot(), http)


@pytest.fixture
async def alice(telegram: TelegramServer) -> User:
    """A person."""
    return await telegram.user("Alice", username="alice_a")


@pytest.fixture
async def bob(telegram: TelegramServer) -> User:
    """Another person."""
    return await telegram.user("Bob")


@pytest.fixture
async def private(telegram: TelegramServer, raw: RawBot, alice: User) -> Chat:
    """Alice's chat with the bot."""
    return await telegram.private(alice, raw.bot)


@pytest.fixture
async def group(telegram: TelegramServer, raw: RawBot, alice: User, bob: User) -> Chat:
    """A supergroup that Alice owns, with Bob and the bot in it; what led there is acknowledged."""
    room = await telegram.supergroup("Ops", members=[alice, bob], bots=[raw.bot])
    await raw.updates()
    return room


@pytest.fixture
async def forum(telegram: TelegramServer, raw: RawBot, alice: User, bob: User) -> Chat:
    """A supergroup with topics."""
    room = await telegram.supergroup("Forum", members=[alice, bob], bots=[raw.bot], forum=True)
    await raw.updates()
    return room


BUTTONS: list[dict[str, Any]] = [
    {"type": "button", "text": {"type": "plain_text", "text": label}, "action_id": name, "value": f"v1.{name}"}
    for label, name in (("Approve", "yes"), ("Reject", "no"))
]
CARD: list[dict[str, Any]] = [
    {"type": "section", "text": {"type": "plain_text", "text": "Run it?"}},
    {"type": "actions", "block_id": "decide", "elements": BUTTONS},
]


@dataclass(frozen=True, slots=True)
class RawApp(Raw):
    """An app that calls methods with plain HTTP."""

    slack: SlackServer
    app: App
    http: aiohttp.ClientSession
    reason = "error"

    @property
    def server(self) -> SlackServer:
        """Return the server."""
        return self.slack

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer of a method, asked with a form."""
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
        async with self.http.post(f"{self.slack.api_url}{method}", data=form, headers=self.bearer) as answer:
            body: dict[str, Any] = await answer.json()
            return body

    @property
    def bearer(self) -> dict[str, str]:
        """Return the headers that say who calls."""
        return {"Authorization": f"Bearer {self.app.bot_token}"}

    async def do(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer of a method that must be granted."""
        return await self.granted(method, **params)

    async def send(self, channel: Channel, text: str = "A card", **params: Any) -> Message:
        """Write a message and return it as the server has it."""
        sent = await self.do("chat.postMessage", channel=channel.id, text=text, **params)
        return await self.slack.message(sent["ts"], sent["channel"])

    async def card(self, channel: Channel, text: str = "A card", **params: Any) -> Message:
        """Write a message with two buttons and return it."""
        return await self.send(channel, text, blocks=CARD, **params)


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """A running Slack."""
    async with SlackServer() as server:
        yield server


@pytest.fixture
async def hands(slack: SlackServer) -> AsyncIterator[RawApp]:
    """An installed app."""
    async with aiohttp.ClientSession() as http:
        yield RawApp(slack, await slack.app(), http)


@pytest.fixture
async def ada(slack: SlackServer, hands: RawApp) -> Colleague:
    """A person in the app's workspace."""
    return await slack.user("ada", team=hands.app.team_id)


@pytest.fixture
async def ben(slack: SlackServer, hands: RawApp) -> Colleague:
    """Another person in the app's workspace."""
    return await slack.user("ben", team=hands.app.team_id)


@pytest.fixture
async def ops(slack: SlackServer, hands: RawApp, ada: Colleague, ben: Colleague) -> Channel:
    """A public channel with Ada, Ben and the app in it."""
    return await slack.channel("ops", members=[ada, ben, hands.app])


@dataclass(slots=True)
class Endpoint:
    """An app's request URL that answers as told and remembers what came; `gate` holds the answers back."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[web.Response] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.Response:
        """Take one delivery."""
        self.bodies.append(await request.read())
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        await self.gate.wait()
        return self.answers.pop(0) if self.answers else web.Response()

    @property
    def events(self) -> list[dict[str, Any]]:
        """Return the events that came."""
        return [json.loads(one)["event"] for one in self.bodies if one.startswith(b"{")]

    @property
    def payloads(self) -> list[dict[str, Any]]:
        """Return the interactions that came."""
        forms = [parse_qs(one.decode()) for one in self.bodies if one.startswith(b"payload=")]
        return [json.loads(one["payload"][0]) for one in forms]

    @property
    def retries(self) -> list[tuple[str | None, str | None]]:
        """Return what each request said of being a retry."""
        return [(one.get("x-slack-retry-num"), one.get("x-slack-retry-reason")) for one in self.headers]


@pytest.fixture
async def endpoint(slack: SlackServer, hands: RawApp) -> AsyncIterator[Endpoint]:
    """The app's request URL, which listens and answers at once."""
    target = Endpoint()
    target.gate.set()
    application = web.Application()
    application.router.add_post("/slack/events", target.handle)
    async with TestServer(application, host="127.0.0.1") as server:
        target.url = str(server.make_url("/slack/events"))
        await slack.point(hands.app, target.url)
        yield target
        target.gate.set()
