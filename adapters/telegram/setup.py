"""Sets up the bot at Telegram, once: webhook or polling, commands, descriptions.

The setup can run again at any time: settings that are right already are left alone and reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from telegram import BotCommand

from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.webhook import PATH
from adapters.telegram.wording import say
from hitl.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from telegram import Bot

    from adapters.telegram.settings import TelegramSettings

#: Language -> the bot's commands, each with the description that people see. The language is an ISO 639-1 code, or ''
#: for all other languages.
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "": {
        "pending": "What waits for an answer",
        "sessions": "Which agents wait",
        "show": "One call whole: /show REF",
        "approve": "Say yes: /approve REF",
        "reject": "Say no: /reject REF REASON",
        "withdraw": "Withdraw what you asked: /withdraw REF",
        "new": "The agent forgets what was said here",
        "status": "How I am",
        "whoami": "Your id for the configuration",
        "help": "What I do",
    },
    "de": {
        "pending": "Was offen ist",
        "sessions": "Welche Agenten warten",
        "show": "Eine Anfrage ganz: /show REF",
        "approve": "Freigeben: /approve REF",
        "reject": "Ablehnen: /reject REF GRUND",
        "withdraw": "Eigene Anfrage zurückziehen: /withdraw REF",
        "new": "Der Agent vergisst, was hier gesagt wurde",
        "status": "Wie es mir geht",
        "whoami": "Ihre Kennung für die Konfiguration",
        "help": "Was ich tue",
    },
    "es": {
        "pending": "Lo que espera respuesta",
        "sessions": "Qué agentes esperan",
        "show": "Una llamada completa: /show REF",
        "approve": "Aprobar: /approve REF",
        "reject": "Rechazar: /reject REF MOTIVO",
        "withdraw": "Retirar lo que pediste: /withdraw REF",
        "new": "El agente olvida lo que se dijo aquí",
        "status": "Cómo estoy",
        "whoami": "Tu identificador para la configuración",
        "help": "Lo que hago",
    },
    "fr": {
        "pending": "Ce qui attend une réponse",
        "sessions": "Quels agents attendent",
        "show": "Un appel en entier : /show REF",
        "approve": "Approuver : /approve REF",
        "reject": "Refuser : /reject REF MOTIF",
        "withdraw": "Retirer sa demande : /withdraw REF",
        "new": "L'agent oublie ce qui a été dit ici",
        "status": "Mon état",
        "whoami": "Votre identifiant pour la configuration",
        "help": "Ce que je fais",
    },
}
DESCRIPTIONS: Mapping[str, str] = {
    "": "I ask you before an agent does what can't be undone. Silence means no.",
    "de": "Ich frage Sie, bevor ein Agent tut, was sich nicht rückgängig machen lässt. Schweigen heißt nein.",
    "es": "Te pregunto antes de que un agente haga lo que no se puede deshacer. El silencio significa no.",
    "fr": "Je vous demande avant qu'un agent ne fasse l'irréversible. Le silence veut dire non.",
}


async def set_up(bot: Bot, settings: TelegramSettings) -> list[str]:
    """Set Telegram up as the settings say. Return a line for each setting: it was changed, or it was right already.

    Raises TelegramError and SettingsError.
    """
    me = await bot.get_me()
    return [
        say("deploy.telegram.token", name=me.username),
        await (_webhook(bot, settings) if settings.is_pushed else _no_webhook(bot)),
        *[await _commands(bot, language, texts) for language, texts in COMMANDS.items()],
        *[await _texts(bot, language, text) for language, text in DESCRIPTIONS.items()],
    ]


async def remove(bot: Bot) -> list[str]:
    """Undo the changes of `set_up`. The bot itself stays. Raises TelegramError."""
    return [
        await _no_webhook(bot),
        *[await _commands(bot, language, {}) for language in COMMANDS],
        *[await _texts(bot, language, "") for language in DESCRIPTIONS],
    ]


async def _webhook(bot: Bot, settings: TelegramSettings) -> str:
    secret, url = settings.secret("webhook_secret"), url_of(settings)
    if why := missing(settings):
        raise SettingsError(why)
    # The webhook is set every time, because Telegram doesn't say which secret the webhook has now.
    await bot.set_webhook(url, allowed_updates=ALLOWED_UPDATES, secret_token=secret)
    return say("deploy.telegram.webhook", url=url)


def missing(settings: TelegramSettings) -> str:
    """Return a sentence about the first setting that is missing for a webhook, or '' if none is missing. Raises
    SettingsError.
    """
    if not settings.webhook_url:
        return say("setting.telegram.webhook.url")
    if not settings.secret("webhook_secret"):
        return say("setting.telegram.webhook.secret", setting="telegram.webhook_secret_file")
    return ""


def url_of(settings: TelegramSettings) -> str:
    """Return the address of the webhook, which Telegram calls."""
    return settings.webhook_url.rstrip("/") + PATH


async def _no_webhook(bot: Bot) -> str:
    if not (await bot.get_webhook_info()).url:
        return say("deploy.telegram.polling")
    await bot.delete_webhook()
    return say("deploy.telegram.polling.now")


async def _commands(bot: Bot, language: str, texts: Mapping[str, str]) -> str:
    name = say("deploy.telegram.commands", language=language or "default")
    wanted = [BotCommand(command, text) for command, text in texts.items()]
    if list(await bot.get_my_commands(language_code=language)) == wanted:
        return say("deploy.telegram.right" if wanted else "deploy.telegram.none", what=name)
    if wanted:
        await bot.set_my_commands(wanted, language_code=language)
        return say("deploy.telegram.set", what=name)
    await bot.delete_my_commands(language_code=language)
    return say("deploy.telegram.removed", what=name)


async def _texts(bot: Bot, language: str, text: str) -> str:
    """Set the description (shown in an empty chat) and the short description (shown in the profile) to `text`.

    Return a line that says whether something was changed.
    """
    name = say("deploy.telegram.descriptions", language=language or "default")
    long = (await bot.get_my_description(language_code=language)).description
    short = (await bot.get_my_short_description(language_code=language)).short_description
    if long == short == text:
        return say("deploy.telegram.right" if text else "deploy.telegram.none", what=name)
    if long != text:
        await bot.set_my_description(text, language_code=language)
    if short != text:
        await bot.set_my_short_description(text, language_code=language)
    return say("deploy.telegram.set" if text else "deploy.telegram.removed", what=name)
