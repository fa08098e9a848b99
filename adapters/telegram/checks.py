"""The checks of `sayso doctor` for Telegram: token, privacy mode, how updates arrive, chats, approvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from telegram import ChatMemberRestricted, ReactionTypeEmoji
from telegram.constants import ChatAction, ChatMemberStatus, ChatType
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError

from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.platform import make_bot
from adapters.telegram.refusals import reason, remedy
from adapters.telegram.setup import missing, url_of
from adapters.telegram.surface import PLATFORM, parse_place
from adapters.telegram.wording import say
from hitl.platforms import Check, Health
from hitl.records import replace
from hitl.replies import Meaning as Says
from hitl.replies import read, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from telegram import Bot, ChatFullInfo, ChatMember, ReactionType, WebhookInfo

    from adapters.telegram.settings import TelegramSettings
    from hitl.people import Directory


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
        return [Check("telegram", Health.RED, say("doctor.telegram.unreached", why=reason(error), api=settings.api))]


async def _checks(bot: Bot, settings: TelegramSettings, people: Directory, port: int | None) -> list[Check]:
    me = await bot.get_me()
    return [
        Check("telegram token", Health.GREEN, say("doctor.telegram.token", name=me.username)),
        _privacy(sees_all=bool(me.can_read_all_group_messages)),
        _receiving(await bot.get_webhook_info(), settings, port),
        *[await _place(bot, place, me.id) for place in people.places_on(PLATFORM)],
        *[await _approver(bot, identity) for identity in people.approvers_on(PLATFORM)],
    ]


def _privacy(*, sees_all: bool) -> Check:
    if sees_all:
        return Check("telegram privacy mode", Health.YELLOW, say("doctor.telegram.privacy.off"))
    return Check("telegram privacy mode", Health.GREEN, say("doctor.telegram.privacy"))


def _receiving(info: WebhookInfo, settings: TelegramSettings, port: int | None) -> Check:
    state, text = _pushed(info, settings, port) if settings.is_pushed else _polled(info)
    return Check("telegram receiving", state, text)


def _polled(info: WebhookInfo) -> tuple[Health, str]:
    if info.url:
        return Health.RED, say("doctor.telegram.polling.webhook", url=info.url)
    return Health.GREEN, say("doctor.telegram.polling", count=info.pending_update_count)


def _pushed(info: WebhookInfo, settings: TelegramSettings, port: int | None) -> tuple[Health, str]:
    if why := missing(settings):
        return Health.RED, say("doctor.telegram.webhook.missing", why=why)
    if port is None:
        return Health.RED, say("doctor.telegram.webhook.port")
    if info.url != (url := url_of(settings)):
        key = "doctor.telegram.webhook.other" if info.url else "doctor.telegram.webhook.none"
        return Health.RED, say(key, found=info.url, url=url)
    if set(info.allowed_updates or ()) != set(ALLOWED_UPDATES):
        return Health.RED, say("doctor.telegram.webhook.updates")
    if info.last_error_message and info.last_error_date:
        at = f"{info.last_error_date:%Y-%m-%d %H:%M:%S}"
        waiting, why = info.pending_update_count, info.last_error_message
        return Health.YELLOW, say("doctor.telegram.webhook.failed", count=waiting, at=at, why=why)
    return Health.GREEN, say("doctor.telegram.webhook", count=info.pending_update_count)


async def _place(bot: Bot, place: str, me: int) -> Check:
    try:
        chat_id, topic = parse_place(place)
    except ValueError:
        return Check(place, Health.RED, say("doctor.telegram.place"))
    try:
        chat = await bot.get_chat(chat_id)
        member = None if chat.type == ChatType.PRIVATE else await bot.get_chat_member(chat_id, me)
        if isinstance(member, ChatMemberRestricted) and not member.can_send_messages:
            return Check(place, Health.RED, say("doctor.telegram.place.muted"))
        # This request only shows "typing". If Telegram would refuse a card, it also refuses this request.
        await bot.send_chat_action(chat_id, ChatAction.TYPING, message_thread_id=topic)
    except ChatMigrated as error:
        now = await _place(bot, f"{PLATFORM}:{error.new_chat_id}", me)
        return replace(now, name=place, text=say("doctor.telegram.place.moved", name=now.name, found=now.text))
    except (BadRequest, Forbidden) as error:
        why = reason(error)
        mend = say(remedy(why) or "remedy.telegram.member")
        return Check(place, Health.RED, say("doctor.telegram.place.unreached", why=why, remedy=mend))
    return Check(place, *_reactions(chat, member))


def _reactions(chat: ChatFullInfo, member: ChatMember | None) -> tuple[Health, str]:
    """Return the health and the text of a check: whether reactions arrive from this chat, and whether people can
    approve by reaction.
    """
    if member is not None and member.status != ChatMemberStatus.ADMINISTRATOR:
        return Health.YELLOW, say("doctor.telegram.reactions.rights")
    if not decides(chat.available_reactions or ()):
        return Health.YELLOW, say("doctor.telegram.reactions.none")
    return Health.GREEN, say("doctor.telegram.reactions")


def decides(offered: Sequence[ReactionType]) -> bool:
    """Return whether a chat offers a reaction that means yes.

    An empty list means that the chat offers all reactions (Bot API, ChatFullInfo).
    """
    emojis = [one.emoji for one in offered if isinstance(one, ReactionTypeEmoji)]
    return not offered or any(verdict(read(emoji)).verdict is Says.APPROVE for emoji in emojis)


async def _approver(bot: Bot, identity: str) -> Check:
    number = identity.removeprefix(f"{PLATFORM}:")
    if not number.isdecimal():
        return Check(identity, Health.RED, say("doctor.telegram.approver.nobody"))
    try:
        await bot.send_chat_action(int(number), ChatAction.TYPING)
    except (BadRequest, Forbidden) as error:
        return Check(identity, Health.YELLOW, say("doctor.telegram.approver.unreached", why=reason(error)))
    return Check(identity, Health.GREEN, say("doctor.telegram.approver"))
