"""Where a call goes: the chat, topic and message that it names, or the refusal.

The order of the checks is the server's: is there such a chat, may the bot write there, is there
such a topic, is there such a message.
"""

from __future__ import annotations

from typing import Final

from simulators.telegram import errors
from simulators.telegram.errors import ApiError, Refusal
from simulators.telegram.params import Params, to_int
from simulators.telegram.platform import Platform
from simulators.telegram.state import GENERAL_TOPIC, Bot, Chat, Message

DELETE_WINDOW: Final = 48 * 3600


def find_room(platform: Platform, bot: Bot, name: str) -> Chat:
    """Return the chat with this id or @username that the bot knows."""
    if not name:
        raise ApiError(errors.CHAT_ID_EMPTY)
    number = to_int(name)
    if number is None:
        room = platform.world.chat_by_username(name) if name.startswith("@") else None
    else:
        room = platform.world.chat(number, bot.id)
    if room is None:
        raise ApiError(_unknown(platform, number))
    if room.migrated_to is not None:
        raise ApiError(errors.migrated(room.migrated_to))
    return room


def _unknown(platform: Platform, number: int | None) -> Refusal:
    """Say why there is no such chat: a person who never wrote to the bot has none with it."""
    user = platform.world.users.get(number) if number is not None else None
    if user is None:
        return errors.CHAT_NOT_FOUND
    return errors.BOTS_CANT_WRITE_TO_BOTS if user.is_bot else errors.CANT_INITIATE


def readable(platform: Platform, bot: Bot, params: Params) -> Chat:
    """Return the call's chat, which the bot must be in."""
    room = find_room(platform, bot, params.text("chat_id"))
    if room.kind != "private" and not room.has(bot.id):
        member = room.member(bot.id)
        kicked = member is not None and member.status == "kicked"
        raise ApiError(errors.not_a_member(room.kind, kicked=kicked))
    return room


def writable(platform: Platform, bot: Bot, params: Params) -> Chat:
    """Return the call's chat, which the bot must be allowed to write to."""
    room = readable(platform, bot, params)
    refusal = _private_refusal(platform, room) if room.kind == "private" else _group_refusal(bot, room)
    if refusal:
        raise ApiError(refusal)
    return room


def _private_refusal(platform: Platform, room: Chat) -> Refusal | None:
    if platform.world.users[room.id].deactivated:
        return errors.USER_DEACTIVATED
    return errors.BOT_BLOCKED if room.blocked else None


def _group_refusal(bot: Bot, room: Chat) -> Refusal | None:
    if room.kind == "channel" and not room.admin(bot.id):
        return errors.NEED_ADMIN_IN_CHANNEL
    member = room.member(bot.id)
    return errors.NO_RIGHT_TO_SEND if member and member.silent else None


def find_thread(bot: Bot, room: Chat, params: Params) -> int | None:
    """Return the topic that the call names; General has no name (its id is refused)."""
    thread = params.number("message_thread_id")
    if not thread:
        return None
    topic = room.topics.get(thread)
    if topic is None or thread == GENERAL_TOPIC:
        raise ApiError(errors.THREAD_NOT_FOUND)
    if topic.closed and not room.admin(bot.id):
        raise ApiError(errors.TOPIC_CLOSED)
    return thread


def find_reply(room: Chat, params: Params, thread: int | None) -> Message | None:
    """Return the message that the call answers, None if it answers none.

    A message in another topic than the named one is refused, whatever
    `allow_sending_without_reply` says.
    """
    wanted, forgiving = _reply_wish(params)
    if not wanted:
        return None
    target = room.messages.get(wanted)
    astray = target is not None and thread is not None and target.thread_id != thread
    if astray or (target is None and not forgiving):
        raise ApiError(errors.REPLIED_NOT_FOUND)
    return target


def _reply_wish(params: Params) -> tuple[int, bool]:
    given = params.parsed("reply_parameters", errors.REPLY_NOT_JSON)
    if given is None:
        return params.number("reply_to_message_id"), params.flag("allow_sending_without_reply")
    if not isinstance(given, dict):
        raise ApiError(errors.REPLY_NOT_JSON)
    return to_int(given.get("message_id")) or 0, bool(given.get("allow_sending_without_reply"))


def find_message(room: Chat, params: Params, missing: Refusal) -> Message:
    """Return the message that the call names, or refuse with what is missing."""
    number = params.number("message_id")
    if not number:
        raise ApiError(errors.NO_MESSAGE_ID)
    if number not in room.messages:
        raise ApiError(missing)
    return room.messages[number]


def check_own(bot: Bot, message: Message) -> None:
    """Refuse an edit of what the bot didn't write."""
    if message.author_bot != bot.id or message.service or message.origin:
        raise ApiError(errors.CANT_BE_EDITED)


def check_deletable(bot: Bot, room: Chat, message: Message, now: float) -> None:
    """Refuse to delete what is older than 48 hours, or others' messages in a chat the bot doesn't run."""
    own = message.author_bot == bot.id
    allowed = room.admin(bot.id) or (now - message.date <= DELETE_WINDOW and (own or room.kind == "private"))
    if not allowed:
        raise ApiError(errors.CANT_BE_DELETED)
