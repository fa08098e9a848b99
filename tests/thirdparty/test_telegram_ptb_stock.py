"""A stock python-telegram-bot application, with rate limiter and webhook, on our Telegram server."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.ext import (
    AIORateLimiter,
    Application,
    CallbackQueryHandler,
    CommandHandler,
    ContextTypes,
)

from simulators.telegram import TelegramServer

pytestmark = pytest.mark.thirdparty

SECRET = "s" * 32
Stock = Application[Any, Any, Any, Any, Any, Any]


async def on_start(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Answer with a card."""
    assert update.message is not None
    rows = [[InlineKeyboardButton("Approve", callback_data="y")]]
    await update.message.reply_text("Run it?", reply_markup=InlineKeyboardMarkup(rows))


async def on_press(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Answer and edit."""
    assert update.callback_query is not None
    await update.callback_query.answer("ok")
    await update.callback_query.edit_message_text("done")


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    """A running server with a bot."""
    async with TelegramServer() as server:
        await server.bot()
        yield server


@pytest.fixture
async def stock(telegram: TelegramServer) -> AsyncIterator[Stock]:
    """An application that takes its updates from a webhook of our own."""
    token = next(iter(telegram.world.bots.values())).token
    limiter = AIORateLimiter(max_retries=3)
    builder = Application.builder().token(token).base_url(telegram.base_url).rate_limiter(limiter)
    built = builder.updater(None).concurrent_updates(8).build()
    built.add_handler(CommandHandler("start", on_start))
    built.add_handler(CallbackQueryHandler(on_press))
    async with built:
        await built.start()
        yield built
        await built.stop()


@pytest.fixture
async def address(stock: Stock) -> AsyncIterator[str]:
    """Where the webhook listens."""

    async def handle(request: web.Request) -> web.Response:
        given = request.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        if not hmac.compare_digest(given, SECRET):
            return web.Response(status=403)
        await stock.process_update(Update.de_json(await request.json(), stock.bot))
        return web.Response()

    application = web.Application()
    application.router.add_post("/", handle)
    async with TestServer(application, host="127.0.0.1") as server:
        yield str(server.make_url("/"))


async def test_cards_over_a_webhook(telegram: TelegramServer, stock: Stock, address: str) -> None:
    """Command, card, press, answer and edit go their way without polling."""
    await stock.bot.set_webhook(address, secret_token=SECRET, allowed_updates=Update.ALL_TYPES)
    alice = await telegram.user("Alice")
    await telegram.say(alice, alice, "/start")
    card = await telegram.wait_message(alice, button="Approve")
    query = await telegram.press(alice, card, "Approve")

    assert "ok" == (await telegram.wait_answer(query)).text
    assert card.id == (await telegram.wait_message(alice, "done", edits=1)).id


@pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")
async def test_the_rate_limiter_waits_as_told(telegram: TelegramServer, stock: Stock) -> None:
    """With flood control on, the library waits for the told seconds and the message arrives."""
    alice = await telegram.user("Alice")
    await telegram.private(alice)
    await telegram.flood()
    await stock.bot.send_message(alice.id, "one")
    await stock.bot.send_message(alice.id, "two")

    assert ["one", "two"] == [one.text for one in await telegram.messages(alice)]
    assert [200, 429, 200] == [one.status for one in await telegram.calls("sendMessage")]
