"""Translates updates of the Bot API into neutral events, and does nothing else.

These functions never judge who may decide. Some messages can't be anybody's decision: messages of bots, anonymous
admins and channels, and forwarded or edited messages. These functions set the event's `barred` to a reason, because
only Telegram's own fields identify such messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from telegram import (
    Chat,
    Message,
    MessageEntity,
    ReactionTypeEmoji,
    Update,
    User,
)

from adapters.telegram.formatting import cut_off, spans_of
from adapters.telegram.surface import PLATFORM, message_of, place_of
from hitl.events import BEFORE_NAME, Command, Heard, Moved, Press, Reaction, Text
from hitl.replies import Span, SpanKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DECIDING = frozenset({"approve", "reject", "withdraw", "cancel"})
#: Characters that may follow the bot's name at the end of a text.
_AFTER_WORDS = " .!"
#: Commands of this bot that the reply reader understands inside a text, such as `/approve REF` after the bot's name.
_OURS = frozenset({"/approve", "/reject"})
_SLASH = re.compile(r"\s*(/\S*)")
_COMMAND = re.compile(r"/(\w+)(?:@(\w+))?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own id and user name."""

    id: int
    username: str


def order_of(update: Mapping[str, Any]) -> str:
    """Return an update's lane: a chat, or one person's presses in it. The updates of one lane are handled one after the
    other.

    A press names its call, so the press needn't wait for other people's messages. Telegram's own webhook queue orders
    updates in the same way.
    """
    pressed = _fields(update.get("callback_query"))
    if pressed:
        chat = _fields(_fields(pressed.get("message")).get("chat"))
        return f"{PLATFORM}:{chat.get('id')}/press/{_fields(pressed.get('from')).get('id')}"
    chats = (_fields(_fields(part).get("chat")).get("id") for part in update.values())
    return f"{PLATFORM}:{next(filter(None, chats), '')}"


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


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
    return _message(update.message, me) if update.message else None


def _message(message: Message, me: Me) -> Heard | None:
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
    command = _command(text, me)
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
    words, spans = _words(message, me)
    private = message.chat.type == Chat.PRIVATE
    return Text(
        **sent,
        answers=message_of(message.chat.id, ours.message_id) if ours else None,
        text=words,
        spans=spans,
        language=message.from_user.language_code if message.from_user else None,
        private=private and (ours is not None or not _answers_something(message)),
        addressed=private or ours is not None or _mentions(message, me),
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
    if not (ours or private or _named(message.text or "", me) or _mentions(message, me)):
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


def _named(text: str, me: Me) -> bool:
    """Return whether a text is a command for this bot.

    Such a command decides, as `/approve` does, or names this bot, as `/word@bot` does.
    """
    command = _command(text, me)
    return command is not None and bool(command["mine"]) and (command["name"] in _DECIDING or bool(command["to"]))


def _command(text: str, me: Me) -> Mapping[str, str] | None:
    found = _COMMAND.fullmatch(text)
    if found is None:
        return None
    to = (found[2] or "").casefold()
    mine = "yes" if to in {"", me.username.casefold()} else ""
    return {"name": found[1].casefold(), "rest": (found[3] or "").strip(), "mine": mine, "to": to}


def _mentions(message: Message, me: Me) -> bool:
    return any(_is_me(message, entity, me) for entity in message.entities)


def _words(message: Message, me: Me) -> tuple[str, tuple[Span, ...]]:
    """Return the text and its formatted spans, without the bot's own name at either end.

    At an end of the text, the bot's name only says that the text is for the bot. Between other words, the name stays in
    the text. It isn't returned as a span there, because a span would count as a mention of another person.
    """
    text = message.text or ""
    spans = spans_of(text, (entity for entity in message.entities if not _is_me(message, entity, me)))
    ours = spans_of(text, (entity for entity in message.entities if _is_me(message, entity, me)))
    start, end = 0, len(text)
    for one in ours:
        if one.start == 0:
            start = len(text) - len(text[one.end :].lstrip(" ,:"))
        elif not text[one.end :].strip(_AFTER_WORDS):
            end = len(text[: one.start].rstrip(BEFORE_NAME))
    text = text[start:end] if start < end else ""
    return text, (*cut_off(spans, start), *_foreign_command(text))


def _foreign_command(text: str) -> tuple[Span, ...]:
    """Return the span of a `/word` at the start of a text, unless the word is a command of this bot.

    Such a word is meant for another bot, so its span has the kind of code, which never decides.
    """
    first = _SLASH.match(text)
    return (Span(first.start(1), first.end(1), SpanKind.CODE),) if first and first[1].casefold() not in _OURS else ()


def _is_me(message: Message, entity: MessageEntity, me: Me) -> bool:
    named = (
        entity.type == MessageEntity.MENTION and message.parse_entity(entity).casefold() == f"@{me.username}".casefold()
    )
    return named or (entity.type == MessageEntity.TEXT_MENTION and entity.user is not None and entity.user.id == me.id)


def _person(user: User | None) -> Mapping[str, Any]:
    """Return an event's fields for its author: the id, which Telegram proves, and the present name and user name."""
    if user is None:
        return {"identity": _identity(user)}
    handle = f"@{user.username}" if user.username else ""
    return {"identity": _identity(user), "called": user.full_name, "handle": handle}


def _identity(user: User | None) -> str:
    return f"{PLATFORM}:{user.id}" if user else f"{PLATFORM}:unknown"


#: The function that reads each kind of update.
TRANSLATORS: Mapping[str, Callable[[Update, Me], Heard | None]] = {
    "message": said,
    "edited_message": edited,
    "callback_query": pressed,
    "message_reaction": reacted,
    "channel_post": posted,
}
#: The kinds of updates that this adapter reads. Telegram gets this list (`allowed_updates`), and sends no other kinds.
ALLOWED_UPDATES = tuple(TRANSLATORS)
