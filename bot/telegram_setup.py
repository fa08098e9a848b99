"""What Telegram itself must be told once, and asked by `doctor`: webhook or polling, commands, descriptions.

Everything here may be done again: what is right already is left alone, and said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from telegram import BotCommand, ChatMemberRestricted, ReactionTypeEmoji
from telegram.constants import ChatAction, ChatMemberStatus, ChatType
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError

from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.surface import PLATFORM, parse_place
from adapters.telegram.webhook import PATH
from bot.telegram import make_bot
from hitl.errors import SettingsError
from hitl.platforms import Check, Health
from hitl.records import replace
from hitl.redaction import mask
from hitl.replies import Verdict as Says
from hitl.replies import read, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from telegram import Bot, ChatFullInfo, ChatMember, ReactionType, WebhookInfo

    from adapters.telegram.settings import TelegramSettings
    from hitl.people import Directory

#: Commands and what people read beside them, by language (ISO 639-1; '' is everybody else's).
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "": {
        "pending": "What waits for an answer",
        "show": "One call whole: /show REF",
        "approve": "Say yes: /approve REF",
        "reject": "Say no: /reject REF REASON",
        "cancel": "Take back what you asked: /cancel REF",
        "status": "How I am",
        "whoami": "Your id for the configuration",
        "help": "What I do",
    },
    "de": {
        "pending": "Was auf Antwort wartet",
        "show": "Ein Aufruf ganz: /show REF",
        "approve": "Zustimmen: /approve REF",
        "reject": "Ablehnen: /reject REF GRUND",
        "cancel": "Zurücknehmen: /cancel REF",
        "status": "Wie es mir geht",
        "whoami": "Deine Kennung für die Konfiguration",
        "help": "Was ich tue",
    },
    "es": {
        "pending": "Lo que espera respuesta",
        "show": "Una llamada completa: /show REF",
        "approve": "Aprobar: /approve REF",
        "reject": "Rechazar: /reject REF MOTIVO",
        "cancel": "Retirar lo que pediste: /cancel REF",
        "status": "Cómo estoy",
        "whoami": "Tu identificador para la configuración",
        "help": "Lo que hago",
    },
    "fr": {
        "pending": "Ce qui attend une réponse",
        "show": "Un appel en entier : /show REF",
        "approve": "Approuver : /approve REF",
        "reject": "Refuser : /reject REF MOTIF",
        "cancel": "Retirer sa demande : /cancel REF",
        "status": "Mon état",
        "whoami": "Votre identifiant pour la configuration",
        "help": "Ce que je fais",
    },
}
DESCRIPTIONS: Mapping[str, str] = {
    "": "I ask you before an agent does what can't be undone. Silence means no.",
    "de": "Ich frage dich, bevor ein Agent tut, was sich nicht rückgängig machen lässt. Schweigen heißt nein.",
    "es": "Te pregunto antes de que un agente haga lo que no se puede deshacer. El silencio significa no.",
    "fr": "Je vous demande avant qu'un agent ne fasse l'irréversible. Le silence veut dire non.",
}

_AGAIN = "run: make deploy-telegram"


async def set_up(bot: Bot, settings: TelegramSettings) -> list[str]:
    """Make Telegram as configured; what was done or left, a line each. Raises TelegramError, SettingsError."""
    me = await bot.get_me()
    return [
        f"token: belongs to @{me.username}",
        await (_webhook(bot, settings) if settings.is_pushed else _no_webhook(bot)),
        *[await _commands(bot, language, texts) for language, texts in COMMANDS.items()],
        *[await _texts(bot, language, text) for language, text in DESCRIPTIONS.items()],
    ]


async def remove(bot: Bot) -> list[str]:
    """Take back what `set_up` did; the bot itself stays. Raises TelegramError."""
    return [
        await _no_webhook(bot),
        *[await _commands(bot, language, {}) for language in COMMANDS],
        *[await _texts(bot, language, "") for language in DESCRIPTIONS],
    ]


async def report(settings: TelegramSettings, people: Directory, port: int | None) -> list[Check]:
    """Check everything that cards and answers on Telegram depend on, as far as Telegram tells.

    `port` is where our HTTP server listens, None if there is none. Raises SettingsError.
    """
    try:
        async with make_bot(settings) as bot:
            return await _checks(bot, settings, people, port)
    except TelegramError as error:
        return [Check("telegram", Health.RED, f"{reason(error)}. Is {settings.api} within reach?")]


def reason(error: TelegramError) -> str:
    """What went wrong, on one line and without a full stop; the library quotes a refused token, this doesn't."""
    if isinstance(error, InvalidToken):
        return "Telegram doesn't know the token: compare it with what BotFather says"
    return mask(" ".join(error.message.split())).rstrip(".")


async def _checks(bot: Bot, settings: TelegramSettings, people: Directory, port: int | None) -> list[Check]:
    me = await bot.get_me()
    return [
        Check("telegram token", Health.GREEN, f"belongs to @{me.username}"),
        _privacy(sees_all=bool(me.can_read_all_group_messages)),
        _receiving(await bot.get_webhook_info(), settings, port),
        *[await _place(bot, place, me.id) for place in people.places_on(PLATFORM)],
        *[await _approver(bot, identity) for identity in people.approvers_on(PLATFORM)],
    ]


async def _webhook(bot: Bot, settings: TelegramSettings) -> str:
    secret, url = settings.secret("webhook_secret"), _url(settings)
    if missing := _missing(settings):
        raise SettingsError(missing)
    # Always set: Telegram doesn't tell whether the secret that it holds is still ours.
    await bot.set_webhook(url, allowed_updates=ALLOWED_UPDATES, secret_token=secret)
    return f"webhook: {url}, with a secret and just the updates that are read"


def _missing(settings: TelegramSettings) -> str:
    """What a webhook still needs, nothing if it has all. Raises SettingsError."""
    if not settings.webhook_url:
        return "A webhook needs telegram.webhook_url, the https address under which Telegram reaches this service."
    if not settings.secret("webhook_secret"):
        return "A webhook needs a secret: name its file in telegram.webhook_secret_file."
    return ""


def _url(settings: TelegramSettings) -> str:
    return settings.webhook_url.rstrip("/") + PATH


async def _no_webhook(bot: Bot) -> str:
    if not (await bot.get_webhook_info()).url:
        return "webhook: none, so polling works"
    await bot.delete_webhook()
    return "webhook: removed, so polling works; waiting updates are kept"


async def _commands(bot: Bot, language: str, texts: Mapping[str, str]) -> str:
    name = f"commands ({language or 'default'})"
    wanted = [BotCommand(command, text) for command, text in texts.items()]
    if list(await bot.get_my_commands(language_code=language)) == wanted:
        return f"{name}: {'right already' if wanted else 'none'}"
    if wanted:
        await bot.set_my_commands(wanted, language_code=language)
        return f"{name}: set"
    await bot.delete_my_commands(language_code=language)
    return f"{name}: removed"


async def _texts(bot: Bot, language: str, text: str) -> str:
    """The description (an empty chat shows it) and the short one (the profile does)."""
    name = f"descriptions ({language or 'default'})"
    long = (await bot.get_my_description(language_code=language)).description
    short = (await bot.get_my_short_description(language_code=language)).short_description
    if long == short == text:
        return f"{name}: {'right already' if text else 'none'}"
    if long != text:
        await bot.set_my_description(text, language_code=language)
    if short != text:
        await bot.set_my_short_description(text, language_code=language)
    return f"{name}: {'set' if text else 'removed'}"


def _privacy(*, sees_all: bool) -> Check:
    if sees_all:
        text = "off: the bot reads everything in its groups, more than it needs; BotFather's /setprivacy turns it on"
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
    if missing := _missing(settings):
        return Health.RED, missing
    if port is None:
        return Health.RED, "by webhook, but nothing listens for it: set http.port"
    if info.url != _url(settings):
        return Health.RED, f"the webhook is {info.url or 'not set'}, not {_url(settings)}; {_AGAIN}"
    if set(info.allowed_updates or ()) != set(ALLOWED_UPDATES):
        return Health.RED, f"the webhook takes other updates than are read; {_AGAIN}"
    if info.last_error_message and info.last_error_date:
        return Health.YELLOW, (
            f"by webhook; {info.pending_update_count} updates wait, and the last call that failed was at"
            f" {info.last_error_date:%Y-%m-%d %H:%M:%S} UTC: {info.last_error_message}"
        )
    return Health.GREEN, f"by webhook; {info.pending_update_count} updates wait"


async def _place(bot: Bot, place: str, me: int) -> Check:
    try:
        chat_id, topic = parse_place(place)
    except ValueError:
        return Check(place, Health.RED, "isn't a chat of Telegram: telegram:ID, or telegram:ID/TOPIC")
    try:
        chat = await bot.get_chat(chat_id)
        member = None if chat.type == ChatType.PRIVATE else await bot.get_chat_member(chat_id, me)
        if isinstance(member, ChatMemberRestricted) and not member.can_send_messages:
            return Check(place, Health.RED, "cards can't reach it: the bot may not write there")
        # The one call that only shows "typing" is refused where a card would be.
        await bot.send_chat_action(chat_id, ChatAction.TYPING, message_thread_id=topic)
    except ChatMigrated as error:
        now = await _place(bot, f"{PLATFORM}:{error.new_chat_id}", me)
        return replace(now, name=place, text=f"became {now.name}; {now.text}")
    except (BadRequest, Forbidden) as error:
        return Check(place, Health.RED, f"cards can't reach it: {reason(error)}. Is the bot in that chat?")
    return Check(place, *_reactions(chat, member))


def _reactions(chat: ChatFullInfo, member: ChatMember | None) -> tuple[Health, str]:
    """Of a chat that cards reach: whether reactions to them come in and can say anything."""
    if member is not None and member.status != ChatMemberStatus.ADMINISTRATOR:
        return Health.YELLOW, "cards reach it; reactions count only where the bot is an administrator"
    if not decides(chat.available_reactions or ()):
        return Health.YELLOW, "cards reach it; its settings offer no reaction that says yes, such as 👍"
    return Health.GREEN, "cards and reactions work there"


def decides(offered: Sequence[ReactionType]) -> bool:
    """Whether one of the reactions that a chat offers says yes; none listed means all (Bot API, ChatFullInfo)."""
    emojis = [one.emoji for one in offered if isinstance(one, ReactionTypeEmoji)]
    return not offered or any(verdict(read(emoji)).verdict is Says.APPROVE for emoji in emojis)


async def _approver(bot: Bot, identity: str) -> Check:
    number = identity.removeprefix(f"{PLATFORM}:")
    if not number.isdecimal():
        return Check(identity, Health.RED, "isn't anybody on Telegram: an approver is telegram:NUMBER, as /whoami says")
    try:
        await bot.send_chat_action(int(number), ChatAction.TYPING)
    except (BadRequest, Forbidden) as error:
        text = f"approver, but not in private: {reason(error)}. They must send the bot /start there"
        return Check(identity, Health.YELLOW, text)
    return Check(identity, Health.GREEN, "approver, can be written to in private")
