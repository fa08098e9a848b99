"""The checks of `sayso doctor` for Telegram: token, privacy mode, how updates arrive, chats, approvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from telegram import ChatMemberRestricted, ReactionTypeEmoji
from telegram.constants import ChatAction, ChatMemberStatus, ChatType
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError

from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.platform import make_bot
from adapters.telegram.refusals import reason
from adapters.telegram.setup import missing, url_of
from adapters.telegram.surface import PLATFORM, parse_place
from hitl.platforms import Check, Health
from hitl.records import replace
from hitl.replies import Meaning as Says
from hitl.replies import read, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from telegram import Bot, ChatFullInfo, ChatMember, ReactionType, WebhookInfo

    from adapters.telegram.settings import TelegramSettings
    from hitl.people import Directory

_AGAIN = "run: sayso deploy telegram"


async def report(settings: TelegramSettings, people: Directory, port: int | None) -> list[Check]:
    """Check everything that cards and answers on Telegram depend on, as far as the Bot API shows it.

    `port` is the port of the service's HTTP server, or None without a server. Raises SettingsError.
    """
    try:
        async with make_bot(settings) as bot:
            return await _checks(bot, settings, people, port)
    except InvalidToken as error:
        return [Check("telegram", Health.RED, reason(error))]
    except TelegramError as error:
        return [Check("telegram", Health.RED, f"{reason(error)}. Look whether {settings.api} is within reach")]


async def _checks(bot: Bot, settings: TelegramSettings, people: Directory, port: int | None) -> list[Check]:
    me = await bot.get_me()
    return [
        Check("telegram token", Health.GREEN, f"belongs to @{me.username}"),
        _privacy(sees_all=bool(me.can_read_all_group_messages)),
        _receiving(await bot.get_webhook_info(), settings, port),
        *[await _place(bot, place, me.id) for place in people.places_on(PLATFORM)],
        *[await _approver(bot, identity) for identity in people.approvers_on(PLATFORM)],
    ]


def _privacy(*, sees_all: bool) -> Check:
    if sees_all:
        text = (
            "off: the bot reads everything in its groups, more than it needs. Turn it on with BotFather's /setprivacy"
        )
        return Check("telegram privacy mode", Health.YELLOW, text)
    text = "on: in groups it reads commands, mentions and replies to its own messages, which is all that it needs"
    return Check("telegram privacy mode", Health.GREEN, text)


def _receiving(info: WebhookInfo, settings: TelegramSettings, port: int | None) -> Check:
    state, text = _pushed(info, settings, port) if settings.is_pushed else _polled(info)
    return Check("telegram receiving", state, text)


def _polled(info: WebhookInfo) -> tuple[Health, str]:
    if info.url:
        return Health.RED, f"by polling, but a webhook ({info.url}) takes the updates; {_AGAIN}"
    return Health.GREEN, f"by polling; {info.pending_update_count} updates wait"


def _pushed(info: WebhookInfo, settings: TelegramSettings, port: int | None) -> tuple[Health, str]:
    if why := missing(settings):
        return Health.RED, f"{why} Set it in sayso.toml"
    if port is None:
        return Health.RED, "by webhook, but nothing listens for it: set http.port"
    if info.url != url_of(settings):
        return Health.RED, f"the webhook is {info.url or 'not set'}, not {url_of(settings)}; {_AGAIN}"
    if set(info.allowed_updates or ()) != set(ALLOWED_UPDATES):
        return Health.RED, f"the webhook takes other updates than are read; {_AGAIN}"
    if info.last_error_message and info.last_error_date:
        return Health.YELLOW, (
            f"by webhook; {info.pending_update_count} updates wait, and the last call that failed was at"
            f" {info.last_error_date:%Y-%m-%d %H:%M:%S} UTC: {info.last_error_message}. If it is newer than your last"
            f" change, look at the proxy before the service; else {_AGAIN}"
        )
    return Health.GREEN, f"by webhook; {info.pending_update_count} updates wait"


async def _place(bot: Bot, place: str, me: int) -> Check:
    try:
        chat_id, topic = parse_place(place)
    except ValueError:
        return Check(place, Health.RED, "isn't a chat of Telegram. Write telegram:ID or telegram:ID/TOPIC")
    try:
        chat = await bot.get_chat(chat_id)
        member = None if chat.type == ChatType.PRIVATE else await bot.get_chat_member(chat_id, me)
        if isinstance(member, ChatMemberRestricted) and not member.can_send_messages:
            return Check(
                place,
                Health.RED,
                "cards can't reach it: the bot may not write there. Let it send messages, in the group's permissions",
            )
        # This request only shows "typing". Where Telegram would refuse a card, it also refuses this request.
        await bot.send_chat_action(chat_id, ChatAction.TYPING, message_thread_id=topic)
    except ChatMigrated as error:
        now = await _place(bot, f"{PLATFORM}:{error.new_chat_id}", me)
        return replace(now, name=place, text=f"became {now.name}; {now.text}")
    except (BadRequest, Forbidden) as error:
        return Check(place, Health.RED, f"cards can't reach it: {reason(error)}. Add the bot to that chat")
    return Check(place, *_reactions(chat, member))


def _reactions(chat: ChatFullInfo, member: ChatMember | None) -> tuple[Health, str]:
    """Return whether reactions to cards arrive from this chat, and whether people can approve with a reaction."""
    if member is not None and member.status != ChatMemberStatus.ADMINISTRATOR:
        return (
            Health.YELLOW,
            "cards reach it; reactions count only where the bot is an administrator. Make it one, with no rights",
        )
    if not decides(chat.available_reactions or ()):
        return (
            Health.YELLOW,
            "cards reach it; its settings offer no reaction that says yes. Allow 👍 in the group's settings",
        )
    return Health.GREEN, "cards and reactions work there"


def decides(offered: Sequence[ReactionType]) -> bool:
    """Return whether a chat offers a reaction that means yes.

    An empty list means that the chat offers all reactions (Bot API, ChatFullInfo).
    """
    emojis = [one.emoji for one in offered if isinstance(one, ReactionTypeEmoji)]
    return not offered or any(verdict(read(emoji)).verdict is Says.APPROVE for emoji in emojis)


async def _approver(bot: Bot, identity: str) -> Check:
    number = identity.removeprefix(f"{PLATFORM}:")
    if not number.isdecimal():
        return Check(identity, Health.RED, "isn't anybody on Telegram. Write telegram:NUMBER, as /whoami says")
    try:
        await bot.send_chat_action(int(number), ChatAction.TYPING)
    except (BadRequest, Forbidden) as error:
        text = f"approver, but not in private: {reason(error)}. They must send the bot /start there"
        return Check(identity, Health.YELLOW, text)
    return Check(identity, Health.GREEN, "approver, can be written to in private")
