"""What a bot gets to see: privacy mode, other bots, reactions.

The rules are those of "Privacy mode" in the bots' feature guide. With privacy on, a bot in a
group that it does not run sees service messages, replies to itself, mentions of itself, commands
addressed to it, and bare commands while no other bot has spoken last.
"""

from __future__ import annotations

from simulators.telegram.entities import covered
from simulators.telegram.state import ANONYMOUS_ADMIN, CHANNEL_BOT, Bot, Chat, Message

STAND_INS = frozenset({ANONYMOUS_ADMIN.id, CHANNEL_BOT.id})


def sees(bot: Bot, room: Chat, message: Message) -> bool:
    """Whether a new or edited message reaches the bot."""
    if message.author_bot == bot.id:
        return False
    if room.kind == "private":
        return True
    if _by_a_bot(message) and not bot.sees_bots:
        return bool(message.service)
    unrestricted = room.kind == "channel" or room.admin(bot.id) or not bot.privacy
    return unrestricted or bool(message.service) or _meant_for(bot, room, message)


def sees_reactions(bot: Bot, room: Chat, actor: int, bots: frozenset[int]) -> bool:
    """Whether a changed reaction reaches the bot: it must run the chat, and no bot's counts."""
    return actor not in bots and (room.kind == "private" or room.admin(bot.id))


def _by_a_bot(message: Message) -> bool:
    sender = message.sender
    return sender is not None and sender.is_bot and sender.id not in STAND_INS


def _meant_for(bot: Bot, room: Chat, message: Message) -> bool:
    return _answers(bot, room, message) or _names(bot, message) or _commands(bot, room, message)


def _answers(bot: Bot, room: Chat, message: Message) -> bool:
    target = room.messages.get(message.reply_to or 0)
    return target is not None and target.author_bot == bot.id


def _names(bot: Bot, message: Message) -> bool:
    at_name = f"@{bot.user.username}".lower()
    mentions = (one for one in message.entities if one.type == "mention")
    return ("user_id", bot.id) in [pair for one in message.entities for pair in one.extra] or any(
        covered(message.text, one).lower() == at_name for one in mentions
    )


def _commands(bot: Bot, room: Chat, message: Message) -> bool:
    commands = [covered(message.text, one) for one in message.entities if one.type == "bot_command"]
    return any(_addressed(command, bot, room) for command in commands)


def _addressed(command: str, bot: Bot, room: Chat) -> bool:
    _, at, name = command.partition("@")
    return name.lower() == bot.user.username.lower() if at else room.last_bot in {None, bot.id}
