"""Hands recorded updates to python-telegram-bot's own dispatcher: `Application.process_update` and its handlers.

Two applications share the bot. The first has our handlers, the second has the operator's handlers, if there are any.
Each update goes to our application first. So an operator's handler can't come before ours, and `ApplicationHandlerStop`
stops only other handlers of the operator.

The library doesn't pass on a handler's exceptions, and drops an update that no handler takes. The inbox must know about
both, so that it retries the event or sets it aside. So an error handler stores each exception, and `dispatch` raises
the first of them.

Our handlers translate an update into a neutral event, and do nothing else. They never judge who may decide. Some
messages can't be anybody's decision: messages of bots, anonymous admins and channels, and forwarded or edited messages.
For these, a handler sets the event's `barred` to a reason, because only Telegram's own fields identify such messages.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from telegram import Chat, Message, ReactionTypeEmoji, Update
from telegram.ext import (
    ApplicationBuilder,
    CallbackQueryHandler,
    ChatMemberHandler,
    MessageHandler,
    MessageReactionHandler,
    filters,
)

from adapters.telegram.surface import PLATFORM, message_of, place_of
from adapters.telegram.words import command_of, is_command_for, mentions, words_of
from hitl.events import Command, Heard, Moved, Press, Reaction, Text
from hitl.platforms import Untaken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from telegram import Bot, User
    from telegram.ext import Application, BaseHandler, CallbackContext

    from adapters.telegram.words import Me
    from hitl.call import Incoming
    from hitl.platforms import Hear, Register

    #: Translates an update of one kind into an event, or returns None if nothing in the update concerns Sayso.
    Translate: TypeAlias = Callable[[Update, Me], Heard | None]
    App: TypeAlias = Application[Any, Any, Any, Any, Any, Any]

#: The function that gets the event of this task's update, and the list of the exceptions that handlers raised.
_hear: ContextVar[Hear] = ContextVar("hear")
_raised: ContextVar[list[Exception]] = ContextVar("raised")


class Dispatcher:
    """The two applications of one bot. Call `start` before `dispatch`."""

    def __init__(self, bot: Bot, register: Register | None = None) -> None:
        self._bot = bot
        self._apps = [_application(bot), *([_application(bot)] if register else [])]
        if register:
            register(self._apps[1])

    async def start(self, me: Me) -> None:
        """Initialize the library, which asks Telegram who the bot is, and add our handlers. Raises TelegramError."""
        for app in self._apps:
            await app.initialize()
        self._apps[0].handlers.clear()
        self._apps[0].add_handlers(list(_handlers(me)))

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Hand a recorded update to our handlers, then to the operator's.

        `hear` gets our translation of the update. Raises the first exception of a handler, or Untaken if no handler
        took it. Raises LookupError, TypeError, ValueError or AttributeError if the event isn't an update.
        """
        update = Update.de_json(json.loads(event.body), self._bot)
        _hear.set(hear)
        raised: list[Exception] = []
        _raised.set(raised)
        taking = [app for app in self._apps if _takes(app, update)]
        for app in taking:
            await app.process_update(update)
            if raised:
                raise raised[0]
        if not taking:
            raise Untaken


def _application(bot: Bot) -> App:
    """Return an application that only passes updates to its handlers: it fetches nothing, queues nothing, and stores
    nothing.
    """
    app = ApplicationBuilder().bot(bot).updater(None).job_queue(None).build()
    app.add_error_handler(_keep)
    return app


async def _keep(update: object, context: CallbackContext[Any, Any, Any, Any]) -> None:
    del update
    if isinstance(context.error, Exception):
        _raised.get().append(context.error)


async def _pass_over(update: object, context: CallbackContext[Any, Any, Any, Any]) -> None:
    """Do nothing. This handler is for updates that don't concern Sayso, so that they aren't reported as unhandled."""
    del update, context


def _takes(app: App, update: Update) -> bool:
    """Return whether a handler wants the update. The library checks this too, but doesn't return the result."""
    checks = (handler.check_update(update) for group in app.handlers.values() for handler in group)
    return any(check is not None and check is not False for check in checks)


def _handlers(me: Me) -> Iterator[BaseHandler[Any, Any, Any]]:
    """Return our handlers, one for each kind of update in `ALLOWED_UPDATES`."""

    def handing_on(translate: Translate) -> Any:
        async def handle(update: Update, context: CallbackContext[Any, Any, Any, Any]) -> None:
            del context
            heard = translate(update, me)
            if heard is not None:
                await _hear.get()(heard)

        return handle

    # Telegram learns from the first poll which kinds of updates this adapter reads. Until then, it also sends changes
    # of the bot's own membership in chats.
    yield ChatMemberHandler(_pass_over, ChatMemberHandler.MY_CHAT_MEMBER)
    yield from (kind.handler(handing_on(kind.translate)) for kind in KINDS.values())


def pressed(update: Update, me: Me) -> Heard | None:
    """Return the event for a button press. Return None if the update has no button press."""
    del me
    query = update.callback_query
    if query is None:
        return None
    message = query.message
    chat_id = message.chat.id if message else query.from_user.id
    place = _place(message) if isinstance(message, Message) else place_of(chat_id, None)
    return Press(
        **_person(query.from_user),
        conversation=place,
        message=message_of(chat_id, message.message_id) if message else None,
        data=query.data or "",
        press=query.id,
        barred="chat.bot" if query.from_user.is_bot else None,
    )


def reacted(update: Update, me: Me) -> Heard | None:
    """Return the event for the emoji that were added to a message, or None if emoji were only removed."""
    del me
    reaction = update.message_reaction
    if reaction is None:
        return None
    added = [kind.emoji for kind in reaction.new_reaction if isinstance(kind, ReactionTypeEmoji)]
    before = {kind.emoji for kind in reaction.old_reaction if isinstance(kind, ReactionTypeEmoji)}
    new = [emoji for emoji in added if emoji not in before]
    if not new:
        return None
    barred = "chat.anonymous" if reaction.user is None else "chat.bot" if reaction.user.is_bot else None
    return Reaction(
        **_person(reaction.user),
        conversation=place_of(reaction.chat.id, None),
        message=message_of(reaction.chat.id, reaction.message_id),
        text="".join(new),
        barred=barred,
        at=reaction.date,
    )


def edited(update: Update, me: Me) -> Heard | None:
    """Return the event for an edited message, which never decides."""
    return _barred_reply(update.edited_message, "chat.edited", me) if update.edited_message else None


def posted(update: Update, me: Me) -> Heard | None:
    """Return the event for a post in a channel. A post has no author who could decide."""
    return _barred_reply(update.channel_post, "chat.channel", me) if update.channel_post else None


def said(update: Update, me: Me) -> Heard | None:
    """Return the event for a new message, or None. A special message announces that its group became a supergroup."""
    message = update.message
    if message is None:
        return None
    if message.migrate_to_chat_id:
        moved_to = place_of(message.migrate_to_chat_id, None)
        return Moved(conversation=_place(message), moved_to=moved_to)
    if barred := _barred(message):
        return _barred_reply(message, barred, me)
    return _said(message, me)


def _said(message: Message, me: Me) -> Heard | None:
    """Translate a message that somebody sent.

    Return None for another bot's command. A message without text (a picture, a sticker) gives an event only if it
    replies to a message of the bot. Such a reply is neither a yes nor a no.
    """
    text = message.text or ""
    command = command_of(text, me)
    ours = _ours(message, me)
    if (not text and not ours) or (command is not None and not command["mine"]):
        return None
    sent: dict[str, Any] = {
        **_person(message.from_user),
        "conversation": _place(message),
        "message": message_of(message.chat.id, message.message_id),
        "at": message.date,
    }
    if command:
        return Command(**sent, name=command["name"], text=command["rest"])
    words, spans = words_of(message, me)
    private = message.chat.type == Chat.PRIVATE
    return Text(
        **sent,
        answers=message_of(message.chat.id, ours.message_id) if ours else None,
        text=words,
        spans=spans,
        language=message.from_user.language_code if message.from_user else None,
        private=private and (ours is not None or not _answers_something(message)),
        addressed=private or ours is not None or mentions(message, me),
    )


def _ours(message: Message, me: Me) -> Message | None:
    """Return the message of the bot to which this message replies, or None."""
    answered = message.reply_to_message
    ours = answered is not None and answered.from_user is not None and answered.from_user.id == me.id
    return answered if ours else None


def _answers_something(message: Message) -> bool:
    """Return whether the message replies to anything: a message of this chat or another chat, or a story."""
    return bool(message.reply_to_message or message.external_reply or message.reply_to_story)


def _place(message: Message) -> str:
    return place_of(message.chat.id, message.message_thread_id if message.is_topic_message else None)


def _barred(message: Message) -> str | None:
    """Return the reason why a message can't decide a call, or None if it can."""
    if message.sender_chat is not None:
        return "chat.anonymous" if message.sender_chat.id == message.chat.id else "chat.channel"
    if message.from_user is None or message.from_user.is_bot or message.sender_business_bot or message.via_bot:
        return "chat.bot"
    return "chat.forwarded" if message.forward_origin else None


def _barred_reply(message: Message, why: str, me: Me) -> Heard | None:
    """Return the event for a message that can't decide, if the message was meant for the bot; otherwise return None.

    A message was meant for the bot if it was sent in private, replies to a message of the bot, or names the bot.
    """
    ours = _ours(message, me)
    private = message.chat.type == Chat.PRIVATE
    if not (ours or private or is_command_for(message.text or "", me) or mentions(message, me)):
        return None
    return Text(
        identity=_identity(message.from_user),
        conversation=_place(message),
        message=message_of(message.chat.id, message.message_id),
        answers=message_of(message.chat.id, ours.message_id) if ours else None,
        private=private,
        barred=why,
        program=why == "chat.bot" and not message.via_bot,
        at=message.date,
    )


def _person(user: User | None) -> Mapping[str, Any]:
    """Return an event's fields for its author: the id, which Telegram proves, and the current name and user name."""
    if user is None:
        return {"identity": _identity(user)}
    handle = f"@{user.username}" if user.username else ""
    return {"identity": _identity(user), "called": user.full_name, "handle": handle}


def _identity(user: User | None) -> str:
    return f"{PLATFORM}:{user.id}" if user else f"{PLATFORM}:unknown"


class Kind(NamedTuple):
    """One kind of update: the library's handler for it, and the function that translates it."""

    handler: Callable[[Any], BaseHandler[Any, Any, Any]]
    translate: Translate


#: The kinds of updates that this adapter reads.
KINDS: Mapping[str, Kind] = {
    "message": Kind(partial(MessageHandler, filters.UpdateType.MESSAGE), said),
    "edited_message": Kind(partial(MessageHandler, filters.UpdateType.EDITED_MESSAGE), edited),
    "callback_query": Kind(CallbackQueryHandler, pressed),
    "message_reaction": Kind(MessageReactionHandler, reacted),
    "channel_post": Kind(partial(MessageHandler, filters.UpdateType.CHANNEL_POST), posted),
}
#: Telegram gets this list (`allowed_updates`), and sends no other kinds.
ALLOWED_UPDATES = tuple(KINDS)
