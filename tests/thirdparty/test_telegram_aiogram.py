"""Aiogram on our Telegram server: its strict types, and a bot of its own kind polling.

Aiogram's models keep what they don't know in `model_extra`; here nothing may be left in it, on any
level, so that our objects have no field that the Bot API lacks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import aiohttp
import pytest
from aiogram import Bot, Dispatcher, F, Router
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
)
from aiogram.filters import Command
from aiogram.types import (
    BotCommand,
    BufferedInputFile,
    CallbackQuery,
    ChatFullInfo,
    ForceReply,
    InaccessibleMessage,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    Message,
    MessageReactionUpdated,
    ReactionTypeEmoji,
    ReplyParameters,
    TelegramObject,
    Update,
    WebhookInfo,
)
from pydantic import BaseModel

from simulators.telegram import Bot as Account
from simulators.telegram import Chat, TelegramServer, User

pytestmark = pytest.mark.thirdparty

THUMB = "\N{THUMBS UP SIGN}"
BUTTONS = InlineKeyboardMarkup(
    inline_keyboard=[
        [
            InlineKeyboardButton(text="Approve", callback_data="v1.yes", style="success"),
            InlineKeyboardButton(text="Docs", url="https://docs.example/"),
        ]
    ]
)
ALL = [
    "message",
    "edited_message",
    "channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
    "chat_member",
]


def leftovers(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every field that aiogram does not know."""
    if isinstance(value, BaseModel):
        yield from (f"{path}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from leftovers(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from leftovers(one, f"{path}[{index}]")


T = TypeVar("T", bound=BaseModel)


def known(value: T) -> T:
    """Return an object in which nothing is unknown."""
    assert [] == list(leftovers(value, type(value).__name__))

    return value


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    """A running server."""
    async with TelegramServer() as server:
        yield server


@pytest.fixture
async def account(telegram: TelegramServer) -> Account:
    """A bot's account."""
    return await telegram.bot()


@pytest.fixture
async def bot(telegram: TelegramServer, account: Account) -> AsyncIterator[Bot]:
    """An aiogram bot on it."""
    session = AiohttpSession(api=TelegramAPIServer.from_base(telegram.root_url))
    made = Bot(account.token, session=session)
    yield made
    await session.close()


@pytest.fixture
async def alice(telegram: TelegramServer) -> User:
    """A person."""
    return await telegram.user("Alice", username="alice_a", last_name="Archer")


@pytest.fixture
async def forum(telegram: TelegramServer, account: Account, alice: User) -> Chat:
    """A forum that the bot runs."""
    room = await telegram.supergroup("Forum", members=[alice], bots=[account], forum=True, username="forum_x")
    await telegram.promote(room, account)
    return room


async def test_every_returned_object_is_known(bot: Bot, telegram: TelegramServer, alice: User, forum: Chat) -> None:
    """Messages of every kind, chats, members, commands, texts, files and webhooks pass the types."""
    topic = await telegram.topic(forum, "deploys")
    await telegram.private(alice)
    html = (
        "<b>a</b> <i>b</i> <u>c</u> <s>d</s> <tg-spoiler>e</tg-spoiler>"
        ' <pre><code class="language-json">{}</code></pre>'
        " <code>f</code> <a href='https://a.example/'>g</a> <blockquote expandable>h</blockquote>"
        f" <a href='tg://user?id={alice.id}'>i</a>"
        " <tg-time unix='1764280000' format='r'>j</tg-time> @alice_a #k"
    )
    card = known(await bot.send_message(alice.id, html, parse_mode="HTML", reply_markup=BUTTONS))
    known(await bot.send_message(forum.id, "x", message_thread_id=topic.id, protect_content=True))
    known(
        await bot.send_message(
            alice.id,
            "x",
            reply_parameters=ReplyParameters(message_id=card.message_id),
            reply_markup=ForceReply(),
        )
    )
    document = known(
        await bot.send_document(alice.id, BufferedInputFile(b"x", "a.txt"), caption="<b>c</b>", parse_mode="HTML")
    )
    edited = await bot.edit_message_text("y", chat_id=alice.id, message_id=card.message_id)
    assert isinstance(edited, Message)
    known(edited)
    known(await bot.forward_message(forum.id, alice.id, card.message_id))
    known(await bot.get_me())
    for chat_id in (alice.id, forum.id):
        assert isinstance(known(await bot.get_chat(chat_id)), ChatFullInfo)
    for member in await bot.get_chat_administrators(forum.id):
        known(member)
    known(await bot.get_chat_member(forum.id, alice.id))
    bob = await telegram.user("Bob")
    await telegram.join(bob, forum)
    await telegram.mute(forum, bob)
    known(await bot.get_chat_member(forum.id, bob.id))
    await bot.set_my_commands([BotCommand(command="pending", description="What waits")])
    assert ["pending"] == [known(one).command for one in await bot.get_my_commands()]
    await bot.set_my_description("Asks people")
    assert "Asks people" == known(await bot.get_my_description()).description
    assert document.document is not None
    known(await bot.get_file(document.document.file_id))
    await bot.set_webhook("http://127.0.0.1:9/", allowed_updates=ALL)
    assert isinstance(known(await bot.get_webhook_info()), WebhookInfo)
    kinds = {one.type for one in card.entities or []}
    assert {"date_time", "expandable_blockquote", "text_mention", "pre", "mention", "hashtag"} <= kinds


async def test_every_update_is_known(
    bot: Bot, telegram: TelegramServer, account: Account, alice: User, forum: Chat
) -> None:
    """Whatever people do comes as updates that the types know wholly."""
    await bot.get_updates(allowed_updates=ALL)
    bob = await telegram.user("Bob")
    topic = await telegram.topic(forum, "deploys")
    private = await telegram.private(alice)
    card = (await bot.send_message(forum.id, "Run?", message_thread_id=topic.id, reply_markup=BUTTONS)).message_id
    await telegram.join(bob, forum)
    said = await telegram.say(alice, forum, "/no@sayso_bot to @bob", reply_to=card)
    await telegram.edit(alice, said, "yes")
    await telegram.say(alice, forum, "secret", thread=topic, anonymous=True)
    await telegram.react(bob, card, THUMB, chat=forum)
    await telegram.react(alice, card, THUMB, chat=forum, anonymous=True)
    await telegram.press(alice, card, "Approve", chat=forum)
    await telegram.press(alice, card, data="forged", chat=forum, shape="inaccessible")
    await telegram.press(alice, card, data="forged", chat=forum, shape="inline")
    await telegram.forward(alice, said, private)
    await telegram.close_topic(forum, topic)
    channel = await telegram.channel("News", members=[alice], bots=[account])
    post = await telegram.channel_post(channel, "hello", signature="Alice")
    await telegram.forward(alice, post, private)
    small = await telegram.group("Small", members=[alice], bots=[account])
    await telegram.promote(await telegram.migrate(small), account, title="keeper")
    await telegram.leave(bob, forum)
    await telegram.block(alice)
    updates = [known(update) for update in await bot.get_updates()]

    kinds = {name for update in updates for name in update.model_fields_set} - {"update_id"}
    assert set(ALL) == kinds
    inaccessible = [one.callback_query for one in updates if one.callback_query][1]
    assert isinstance(inaccessible.message, InaccessibleMessage)
    assert all(isinstance(one, Update) for one in updates)


async def test_refusals_are_aiograms_errors(bot: Bot, telegram: TelegramServer, account: Account, alice: User) -> None:
    """Its error classes fit ours."""
    small = await telegram.group("Small", members=[alice], bots=[account])
    new = await telegram.migrate(small)
    await telegram.block(alice)
    with pytest.raises(TelegramForbiddenError):
        await bot.send_message(alice.id, "x")
    with pytest.raises(TelegramBadRequest, match="can't parse entities"):
        await bot.send_message(new.id, "<x>", parse_mode="HTML")
    with pytest.raises(TelegramMigrateToChat) as moved:
        await bot.send_message(small.id, "x")
    await bot.set_webhook("http://127.0.0.1:9/")
    with pytest.raises(TelegramConflictError):
        await bot.get_updates()

    assert new.id == moved.value.migrate_to_chat_id


def routes() -> Router:
    """Return the handlers of a small approving bot."""
    router = Router()

    @router.message(Command("start"))
    async def start(message: Message) -> None:
        await message.answer("Run it?", reply_markup=BUTTONS)

    @router.callback_query(F.data == "v1.yes")
    async def press(query: CallbackQuery, bot: Bot) -> None:
        await query.answer("Approved")
        assert query.message is not None
        await bot.edit_message_text(
            f"Approved by {query.from_user.first_name}",
            chat_id=query.message.chat.id,
            message_id=query.message.message_id,
        )

    @router.message_reaction()
    async def react(reaction: MessageReactionUpdated, bot: Bot) -> None:
        emoji = [one.emoji for one in reaction.new_reaction if isinstance(one, ReactionTypeEmoji)]
        await bot.send_message(reaction.chat.id, f"reacted {emoji[0]}")

    return router


@pytest.fixture
async def polling(bot: Bot) -> AsyncIterator[Dispatcher]:
    """An aiogram dispatcher that polls."""
    dispatcher = Dispatcher()
    dispatcher.include_router(routes())
    running = asyncio.create_task(
        dispatcher.start_polling(bot, handle_signals=False, close_bot_session=False, polling_timeout=5)
    )
    yield dispatcher
    await dispatcher.stop_polling()
    await running


@pytest.mark.usefixtures("forum")
@pytest.mark.usefixtures("polling")
async def test_an_aiogram_bot_polls(telegram: TelegramServer, alice: User) -> None:
    """Command, card, press, answer, edit and reaction work for a bot that others' library drives."""
    await telegram.say(alice, alice, "/start")
    card = await telegram.wait_message(alice, button="Approve")
    query = await telegram.press(alice, card, "Approve")
    shown = await telegram.wait_answer(query)
    edited = await telegram.wait_message(alice, "Approved by Alice", edits=1)
    await telegram.react(alice, edited, THUMB)
    reacted = await telegram.wait_message(alice, "reacted")

    assert "Approved" == shown.text
    assert f"reacted {THUMB}" == reacted.text


async def test_an_answer_of_the_wire_is_strict(telegram: TelegramServer, account: Account, alice: User) -> None:
    """Nothing is lost between wire and types: the dumped message is what was sent."""
    await telegram.private(alice)
    url = f"{telegram.base_url}{account.token}/sendMessage"
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, json={"chat_id": alice.id, "text": "x"}) as answer,
    ):
        wire = (await answer.json())["result"]
    message: TelegramObject = Message.model_validate(wire)

    assert set(wire) == {type(message).model_fields[name].alias or name for name in message.model_fields_set}
