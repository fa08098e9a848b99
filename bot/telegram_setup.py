"""What Telegram itself must be told once, and asked by `doctor`: webhook or polling, commands, descriptions.

Everything here may be done again: what is right already is left alone, and said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from telegram import BotCommand
from telegram.error import TelegramError

from adapters.telegram.handlers import ALLOWED_UPDATES, parse_place
from adapters.telegram.webhook import PATH
from bot.checks import Check, Health
from bot.settings import SettingsError
from bot.telegram import make_bot
from hitl.people import is_chat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from telegram import Bot, WebhookInfo

    from bot.settings import Settings, TelegramSettings

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


async def set_up(bot: Bot, settings: TelegramSettings) -> list[str]:
    """Make Telegram as configured; what was done or left, a line each. Raises TelegramError, SettingsError."""
    me = await bot.get_me()
    lines = [f"token: belongs to @{me.username}"]
    lines.append(await (_webhook(bot, settings) if settings.receive == "webhook" else _polling(bot)))
    for language, texts in COMMANDS.items():
        lines.append(await _commands(bot, language, texts))
    for language, text in DESCRIPTIONS.items():
        lines.append(await _description(bot, language, text))
    return lines


async def remove(bot: Bot) -> list[str]:
    """Take back what `set_up` did; the bot itself stays. Raises TelegramError."""
    await bot.delete_webhook()
    for language in COMMANDS:
        await bot.delete_my_commands(language_code=language)
    for language in DESCRIPTIONS:
        await bot.set_my_description("", language_code=language)
        await bot.set_my_short_description("", language_code=language)
    return ["webhook: removed", "commands: removed", "descriptions: removed"]


async def report(settings: Settings) -> list[Check]:
    """Everything that cards and answers on Telegram depend on, as far as Telegram tells. Raises SettingsError."""
    if settings.telegram is None:
        return []
    try:
        async with make_bot(settings.telegram) as bot:
            return await _checks(bot, settings, settings.telegram)
    except TelegramError as error:
        text = f"{type(error).__name__}: {error.message}. Is the token right, and the network up?"
        return [Check("telegram", Health.RED, text)]


async def _checks(bot: Bot, settings: Settings, telegram: TelegramSettings) -> list[Check]:
    me = await bot.get_me()
    return [
        Check("telegram token", Health.GREEN, f"belongs to @{me.username}"),
        _privacy(sees_all=bool(me.can_read_all_group_messages)),
        _receiving(await bot.get_webhook_info(), telegram),
        *await _places(bot, settings, me.id),
    ]


async def _webhook(bot: Bot, settings: TelegramSettings) -> str:
    secret = settings.secret("webhook_secret")
    if not secret or not settings.webhook_url:
        raise SettingsError("A webhook needs telegram.webhook_url and a secret (telegram.webhook_secret_file).")
    url = settings.webhook_url.rstrip("/") + PATH
    # Always set: Telegram doesn't tell whether the secret that it holds is still ours.
    await bot.set_webhook(url, allowed_updates=ALLOWED_UPDATES, secret_token=secret)
    return f"webhook: {url}, with a secret and just the updates that are read"


async def _polling(bot: Bot) -> str:
    if not (await bot.get_webhook_info()).url:
        return "polling: no webhook is in the way"
    await bot.delete_webhook()
    return "polling: the webhook is removed; waiting updates are kept"


async def _commands(bot: Bot, language: str, texts: Mapping[str, str]) -> str:
    wanted = [BotCommand(name, text) for name, text in texts.items()]
    if list(await bot.get_my_commands(language_code=language)) == wanted:
        return f"commands ({language or 'default'}): right already"
    await bot.set_my_commands(wanted, language_code=language)
    return f"commands ({language or 'default'}): set"


async def _description(bot: Bot, language: str, text: str) -> str:
    if (await bot.get_my_description(language_code=language)).description == text:
        return f"description ({language or 'default'}): right already"
    await bot.set_my_description(text, language_code=language)
    await bot.set_my_short_description(text, language_code=language)
    return f"description ({language or 'default'}): set"


def _privacy(*, sees_all: bool) -> Check:
    if sees_all:
        text = "off: the bot reads everything in its groups, replies to cards need no mention"
        return Check("telegram privacy mode", Health.YELLOW, text)
    text = "on: in groups it reads commands, mentions and replies to its own messages, which is all that it needs"
    return Check("telegram privacy mode", Health.GREEN, text)


def _receiving(info: WebhookInfo, settings: TelegramSettings) -> Check:
    name = "telegram receiving"
    if settings.receive == "polling":
        if info.url:
            return Check(name, Health.RED, "a webhook takes the updates; run: make deploy-telegram")
        return Check(name, Health.GREEN, f"polling, {info.pending_update_count} updates wait")
    wanted = settings.webhook_url.rstrip("/") + PATH
    if info.url != wanted:
        return Check(
            name, Health.RED, f"the webhook is {info.url or 'not set'}, not {wanted}; run: make deploy-telegram"
        )
    if set(info.allowed_updates or ()) != set(ALLOWED_UPDATES):
        return Check(name, Health.RED, "the webhook takes other updates than are read; run: make deploy-telegram")
    if info.last_error_message:
        return Check(name, Health.YELLOW, f"webhook, but Telegram's last call failed: {info.last_error_message}")
    return Check(name, Health.GREEN, f"webhook, {info.pending_update_count} updates wait")


async def _places(bot: Bot, settings: Settings, me: int) -> list[Check]:
    """Each chat that gets cards, and each approver who would be told in private."""
    people = settings.directory()
    places = {place.partition("/")[0] for place in (*people.conversations, *people.routes) if is_chat(place)}
    found = [await _place(bot, place, me) for place in sorted(places)]
    identities = _telegram_ids(people.approvers, people.principals)
    return [*found, *[await _reachable(bot, identity) for identity in identities]]


async def _place(bot: Bot, place: str, me: int) -> Check:
    chat_id, _ = parse_place(place)
    try:
        chat = await bot.get_chat(chat_id)
        member = await bot.get_chat_member(chat_id, me)
    except TelegramError as error:
        return Check(place, Health.RED, f"cards can't reach it: {error.message}. Add the bot to that chat.")
    if chat.type != "private" and member.status != "administrator":
        return Check(place, Health.YELLOW, "cards reach it; reactions only if the bot is an administrator there")
    return Check(place, Health.GREEN, "cards and reactions work there")


async def _reachable(bot: Bot, identity: str) -> Check:
    try:
        await bot.get_chat(int(identity.partition(":")[2]))
    except TelegramError:
        return Check(identity, Health.YELLOW, "can't be written to in private until they have started the bot")
    return Check(identity, Health.GREEN, "approver, can be written to in private")


def _telegram_ids(approvers: Iterable[str], principals: Mapping[str, tuple[str, ...]]) -> list[str]:
    identities = {i for name in approvers for i in (name, *principals.get(name, ())) if i.startswith("telegram:")}
    return sorted(identities)
