"""A running Telegram server and a bot's bare hands for its tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from tests.wire.telegram import Bot, Chat, TelegramServer, User


@dataclass(frozen=True, slots=True)
class RawBot:
    """A bot that calls methods with plain HTTP and JSON."""

    telegram: TelegramServer
    bot: Bot
    http: aiohttp.ClientSession

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer of a method."""
        url = f"{self.telegram.base_url}{self.bot.token}/{method}"
        async with self.http.post(url, json=params) as answer:
            body: dict[str, Any] = await answer.json()
            return body

    async def do(self, method: str, **params: Any) -> Any:
        """Return the result of a method that must be granted."""
        answer = await self.call(method, **params)
        assert answer["ok"], answer
        return answer["result"]

    async def refused(self, method: str, **params: Any) -> str:
        """Return the description of a refusal."""
        answer = await self.call(method, **params)
        assert not answer["ok"], answer
        return str(answer["description"])

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
