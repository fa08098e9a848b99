"""Telegram's refusals: an error class for each refusal that the service handles, and a sentence with the
remedy for each refusal that people can do something about.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.wording import say
from hitl.cards.redaction import mask
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

#: For each error text of the official server (`Client.cpp`, in lower case), the catalogue key of the sentence with the
#: remedy.
_REMEDIES: Mapping[str, str] = {
    "bot was kicked": "remedy.telegram.member",
    "bot is not a member": "remedy.telegram.member",
    "chat not found": "remedy.telegram.chat",
    "group chat was deleted": "remedy.telegram.chat",
    "peer_id_invalid": "remedy.telegram.chat",
    "not enough rights": "remedy.telegram.rights",
    "have no rights": "remedy.telegram.rights",
    "chat_write_forbidden": "remedy.telegram.rights",
    "need administrator rights": "remedy.telegram.rights",
    "topic_closed": "remedy.telegram.topic",
    "blocked by the user": "remedy.telegram.blocked",
    "can't initiate conversation": "remedy.telegram.blocked",
    "user is deactivated": "remedy.telegram.gone",
    "can't send messages to bots": "remedy.telegram.gone",
    "unauthorized": "remedy.telegram.token",
    "invalid token": "remedy.telegram.token",
    "was rejected by the server": "remedy.telegram.token",
}
#: Remedies for refusals that Telegram gives to every message to a place, whatever its content.
_OF_PLACES = frozenset(
    {"remedy.telegram.member", "remedy.telegram.chat", "remedy.telegram.rights", "remedy.telegram.topic"}
)


def reason(error: TelegramError) -> str:
    """Return the text of Telegram's error in one line, without a full stop and without the token."""
    if isinstance(error, InvalidToken):
        return say("trouble.telegram.token")
    return mask(" ".join(error.message.split())).rstrip(".")


def remedy(said: str) -> str:
    """Return the catalogue key of the sentence with the remedy, or '' if the error text is unknown."""
    words = said.casefold()
    return next((key for part, key in _REMEDIES.items() if part in words), "")


def seconds_of(error: RetryAfter) -> float:
    """Return the pause in seconds that Telegram asks for."""
    wait = error.retry_after
    return float(wait if isinstance(wait, int | float) else wait.total_seconds())


def trouble_of(error: TelegramError) -> str:
    """Return the reason why no updates arrive, with the remedy if the error text is known."""
    key = remedy(error.message)
    if not key:
        return say("trouble.telegram.none", error=type(error).__name__)
    return say("trouble.telegram.refused", why=mask(" ".join(error.message.split())).rstrip("."), remedy=say(key))


def is_of_place(said: str) -> bool:
    """Return whether the error text means that the bot can send no message at all to the place."""
    return remedy(said) in _OF_PLACES


class UnchangedError(PlatformError):
    """Telegram refused an edit because the message already has the new content."""


class UnparsedError(PlatformError):
    """Telegram can't parse the HTML of the text."""


class AstrayError(PlatformError):
    """The topic was deleted, or the message to reply to is in another topic."""


class MovedError(PlatformError):
    """The group has become a supergroup, which has another chat id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__(f"moved to {chat_id}", passing=True)
        self.chat_id = chat_id


@asynccontextmanager
async def explained() -> AsyncIterator[None]:
    """Raise Telegram's errors as PlatformError, which says whether and when a retry may help."""
    try:
        yield
    except RetryAfter as error:
        raise PlatformError(say("trouble.telegram.pause"), passing=True, retry_s=seconds_of(error)) from error
    except ChatMigrated as error:
        raise MovedError(error.new_chat_id) from error
    except BadRequest as error:
        raise _bad_request(error) from error
    except (Forbidden, InvalidToken) as error:
        raise PlatformError(error.message, passing=False, lost=True, remedy=remedy(error.message)) from error
    except (TelegramError, TimeoutError) as error:
        raise PlatformError(type(error).__name__, passing=True) from error
    except (LookupError, TypeError, ValueError) as error:
        raise PlatformError(say("trouble.telegram.strange"), passing=True) from error


#: Words in Telegram's answers with status 400 (official server, `Client.cpp`), and the error class for each.
_BAD_REQUESTS: Mapping[str, type[PlatformError]] = {
    "message is not modified": UnchangedError,
    "can't parse entities": UnparsedError,
    "message thread not found": AstrayError,
    "message to be replied not found": AstrayError,
}


def _bad_request(error: BadRequest) -> PlatformError:
    said = error.message.casefold()
    kind = next((kind for words, kind in _BAD_REQUESTS.items() if words in said), PlatformError)
    return kind(error.message, passing=False, lost=is_of_place(said), remedy=remedy(said))
