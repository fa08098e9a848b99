"""The server as python-telegram-bot sees it: a plain Bot, and a polling Application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeChat,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    ReplyParameters,
    Update,
)
from telegram.constants import ChatMemberStatus, MessageEntityType, ParseMode
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)
from telegram.ext import (
    Application,
    CallbackQueryHandler,
    CommandHandler,
    ContextTypes,
    MessageHandler,
    MessageReactionHandler,
    filters,
)
from telegram.request import HTTPXRequest

from simulators.telegram import Chat, DropAnswer, Garbage, Hang, Refuse, Reset, TelegramServer, User
from tests.simulators.conftest import RawBot

BUTTONS = InlineKeyboardMarkup([[InlineKeyboardButton("Approve", callback_data="v1.yes")]])
THUMB = "\N{THUMBS UP SIGN}"


@pytest.fixture
async def bot(raw: RawBot) -> AsyncIterator[Bot]:
    """A library bot with the same account."""
    made = Bot(
        raw.bot.token,
        base_url=raw.telegram.base_url,
        base_file_url=raw.telegram.base_file_url,
        request=HTTPXRequest(read_timeout=2),
    )
    async with made:
        yield made


@pytest.mark.usefixtures("private")
async def test_the_library_reads_what_we_send(bot: Bot, alice: User) -> None:
    """Messages, entities, members, commands and files come as the library's objects."""
    card = await bot.send_message(
        alice.id,
        '<pre><code class="language-json">{}</code></pre> <tg-time unix="5" format="r">soon</tg-time>',
        parse_mode=ParseMode.HTML,
        reply_markup=BUTTONS,
    )
    answer = await bot.send_message(
        alice.id, "and", reply_parameters=ReplyParameters(card.message_id), reply_markup=ForceReply()
    )
    document = await bot.send_document(alice.id, b"bytes", filename="a.txt", caption="see")
    assert document.document is not None
    fetched = await (await bot.get_file(document.document.file_id)).download_as_bytearray()
    await bot.set_my_commands([BotCommand("pending", "What waits")], scope=BotCommandScopeChat(alice.id))

    assert [MessageEntityType.PRE, MessageEntityType.DATE_TIME] == [one.type for one in card.entities]
    assert answer.reply_to_message is not None
    assert card.message_id == answer.reply_to_message.message_id
    assert ("a.txt", b"bytes") == (document.document.file_name, bytes(fetched))
    assert 1 == len(await bot.get_my_commands(scope=BotCommandScopeChat(alice.id)))
    assert "private" == (await bot.get_chat(alice.id)).type


async def test_members_are_the_librarys_classes(bot: Bot, raw: RawBot, group: Chat, alice: User, bob: User) -> None:
    """Owner, administrator, member and kicked are told apart."""
    await raw.telegram.promote(group, raw.bot)
    statuses = [(await bot.get_chat_member(group.id, one)).status for one in (alice.id, bob.id, bot.id)]
    admins = await bot.get_chat_administrators(group.id)

    assert [ChatMemberStatus.OWNER, ChatMemberStatus.MEMBER, ChatMemberStatus.ADMINISTRATOR] == statuses
    assert 2 == len(admins)


@pytest.mark.usefixtures("private")
@pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")
async def test_refusals_are_the_librarys_errors(bot: Bot, raw: RawBot, group: Chat, alice: User) -> None:
    """Each refusal raises the error class that the library has for it."""
    telegram = raw.telegram
    small = await telegram.group("Small", members=[alice], bots=[raw.bot])
    new = await telegram.migrate(small)
    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(small.id, "x")
    rows = [[InlineKeyboardButton("x", callback_data="x" * 200)]]
    with pytest.raises(BadRequest, match="Button_data_invalid"):
        await bot.send_message(alice.id, "x", reply_markup=InlineKeyboardMarkup(rows))
    await telegram.flood()
    await bot.send_message(group.id, "x")
    with pytest.raises(RetryAfter):
        await bot.send_message(group.id, "x")
    await telegram.block(alice)
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(alice.id, "x")
    await bot.set_webhook("http://127.0.0.1:9/")
    with pytest.raises(Conflict):
        await bot.get_updates()

    assert new.id == moved.value.new_chat_id


async def test_a_wrong_token_is_invalid(telegram: TelegramServer) -> None:
    """The library refuses to start with an unknown token."""
    bot = Bot("42:AA", base_url=telegram.base_url)
    with pytest.raises(InvalidToken):
        await bot.initialize()
    await bot.shutdown()


@pytest.mark.usefixtures("private")
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Garbage(), NetworkError),
        (Reset(), NetworkError),
        (DropAnswer(), NetworkError),
        (Hang(3), TimedOut),
        (Refuse(500, "Internal Server Error"), NetworkError),
    ],
)
async def test_trouble_is_a_network_error(
    bot: Bot, telegram: TelegramServer, alice: User, fault: Any, error: type[Exception]
) -> None:
    """Broken answers, connections and outages reach the caller as the library has it."""
    await telegram.fail("sendMessage", fault)

    with pytest.raises(error):
        await bot.send_message(alice.id, "x")


async def on_start(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Answer a command with a card."""
    assert update.message is not None
    await update.message.reply_html("Run <code>rm</code>?", reply_markup=BUTTONS)


async def on_press(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Answer a press and edit the card."""
    query = update.callback_query
    assert query is not None
    await query.answer("Approved")
    await query.edit_message_text(f"Approved by {query.from_user.first_name}")


async def on_text(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Say what was answered."""
    assert update.message is not None
    target = update.message.reply_to_message
    await update.message.reply_text(f"heard {update.message.text} on {target.message_id if target else None}")


async def on_reaction(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Say who reacted."""
    reaction = update.message_reaction
    assert reaction is not None
    who = reaction.user.first_name if reaction.user else "nobody"
    await update.get_bot().send_message(reaction.chat.id, f"{who} reacted on {reaction.message_id}")


@pytest.fixture
async def application(raw: RawBot) -> AsyncIterator[Application[Any, Any, Any, Any, Any, Any]]:
    """A stock polling application."""
    built = Application.builder().token(raw.bot.token).base_url(raw.telegram.base_url).build()
    built.add_handler(CommandHandler("start", on_start))
    built.add_handler(CallbackQueryHandler(on_press))
    built.add_handler(MessageReactionHandler(on_reaction))
    built.add_handler(MessageHandler(filters.TEXT, on_text))
    async with built:
        assert built.updater is not None
        await built.updater.start_polling(allowed_updates=Update.ALL_TYPES)
        await built.start()
        yield built
        await built.updater.stop()
        await built.stop()


@pytest.mark.usefixtures("application")
async def test_a_card_in_private(telegram: TelegramServer, alice: User) -> None:
    """Start, card, press, answer, edit, reply: the whole way."""
    await telegram.say(alice, alice, "/start")
    card = await telegram.wait_message(alice, "Run rm?", button="Approve")
    query = await telegram.press(alice, card, "Approve")
    shown = await telegram.wait_answer(query)
    edited = await telegram.wait_message(alice, "Approved by Alice", edits=1)
    await telegram.say(alice, alice, "thanks", reply_to=card)
    heard = await telegram.wait_message(alice, "heard")

    assert "Approved" == shown.text
    assert (card.id, ()) == (edited.id, edited.labels)
    assert f"heard thanks on {card.id}" == heard.text


@pytest.mark.usefixtures("application")
async def test_a_card_in_a_topic(telegram: TelegramServer, forum: Chat, raw: RawBot, bob: User) -> None:
    """A command in a topic is answered there; a reaction is heard once the bot is an admin."""
    await telegram.promote(forum, raw.bot)
    topic = await telegram.topic(forum, "deploys")
    await telegram.say(bob, forum, "/start@sayso_bot", thread=topic)
    card = await telegram.wait_message(forum, button="Approve")
    await telegram.react(bob, card, THUMB)
    heard = await telegram.wait_message(forum, "reacted")

    assert topic.id == card.thread_id
    assert f"Bob reacted on {card.id}" == heard.text


@pytest.mark.usefixtures("application")
async def test_an_outage_loses_no_message(telegram: TelegramServer, alice: User) -> None:
    """What was written while the server was down is answered after."""
    await telegram.wait_polling()
    await telegram.down()
    await telegram.say(alice, alice, "hello?")
    await telegram.up()

    assert "heard hello? on None" == (await telegram.wait_message(alice, "heard", timeout=20)).text
