"""Recorded updates on their way through python-telegram-bot: to our handlers, then to an operator's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from telegram import Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, TypeHandler, filters

from adapters.telegram.handlers import Dispatcher
from adapters.telegram.platform import make_bot
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.words import Me
from hitl.call import Incoming
from hitl.events import Heard, Press, Reaction, Text
from hitl.platforms import Untaken
from simulators.telegram import TelegramServer
from tests.hitl.world import NOON

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from telegram import Bot

ANN = {"id": 42, "is_bot": False, "first_name": "Ann"}
PRIVATE = {"id": 42, "type": "private", "first_name": "Ann"}
MESSAGE = {"message_id": 9, "date": 1, "chat": PRIVATE, "from": ANN, "text": "yes"}
PRESS = {"id": "1", "from": ANN, "chat_instance": "x", "data": "d", "message": MESSAGE}
THUMB = [{"type": "emoji", "emoji": "👍"}]
REACTION = {"chat": PRIVATE, "message_id": 5, "date": 1, "user": ANN, "old_reaction": [], "new_reaction": THUMB}


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    """A bot of a Telegram server of ours."""
    async with TelegramServer() as server:
        account = await server.bot()
        made = make_bot(TelegramSettings.model_validate({"token": account.token, "api": server.root_url}))
        async with made:
            yield made


async def heard(bot: Bot, register: Callable[[Any], None] | None = None, **kind: Any) -> list[Heard]:
    """What our handlers hand on of an update."""
    found: list[Heard] = []

    async def hear(one: Heard) -> None:
        found.append(one)

    await dispatched(bot, hear, register, **kind)
    return found


async def dispatched(bot: Bot, hear: Any, register: Callable[[Any], None] | None = None, **kind: Any) -> None:
    """An update on its way to whoever hears it."""
    dispatcher = Dispatcher(bot, register)
    await dispatcher.start(Me(bot.id, bot.username))
    body = json.dumps({"update_id": 1, **kind}).encode()
    await dispatcher.dispatch(Incoming("telegram", "1", "telegram:42", body, NOON), hear)


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ({"message": MESSAGE}, Text),
        ({"edited_message": MESSAGE}, Text),
        ({"callback_query": PRESS}, Press),
        ({"message_reaction": REACTION}, Reaction),
    ],
)
async def test_each_kind_of_update_has_a_handler(bot: Bot, kind: dict[str, Any], event: type[Heard]) -> None:
    """It is heard once."""
    assert [event] == [type(one) for one in await heard(bot, **kind)]


@pytest.mark.parametrize("kind", [{"edited_channel_post": MESSAGE}, {"poll_of_tomorrow": {}}])
async def test_an_update_that_no_handler_takes_comes_back(bot: Bot, kind: dict[str, Any]) -> None:
    """It is not done, so that the inbox sets it aside in view."""
    with pytest.raises(Untaken):
        await heard(bot, **kind)


async def test_what_a_handler_raises_comes_back(bot: Bot) -> None:
    """The library would log it and go on."""

    async def hear(_: Heard) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await dispatched(bot, hear, message=MESSAGE)


async def test_an_operators_handler_comes_after_ours_and_cannot_stop_it(bot: Bot) -> None:
    """Not even from the lowest group, with `ApplicationHandlerStop`."""
    order: list[str] = []

    async def stop(update: Update, context: Any) -> None:
        del context
        order.append(f"theirs: {update.message.text if update.message else ''}")
        raise ApplicationHandlerStop

    async def hear(_: Heard) -> None:
        order.append("ours")

    await dispatched(bot, hear, lambda app: app.add_handler(TypeHandler(Update, stop), group=-100), message=MESSAGE)

    assert ["ours", "theirs: yes"] == order


async def test_what_an_operators_handler_raises_comes_back(bot: Bot) -> None:
    """The event is not done; an update that only their handler takes is theirs alone."""

    async def fail(update: Update, context: Any) -> None:
        del update, context
        raise ZeroDivisionError

    def register(app: Any) -> None:
        app.add_handler(MessageHandler(filters.UpdateType.EDITED_CHANNEL_POST, fail))

    with pytest.raises(ZeroDivisionError):
        await heard(bot, register, edited_channel_post=MESSAGE)
