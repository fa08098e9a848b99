"""Turns every refusal by Slack, and every answer that isn't from Slack, into PlatformError.

PlatformError is the only error that the `Chat` port has.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.refusals import REMEDIES
from adapters.slack.wording import say
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

TOO_MANY = 429
#: The longest pause, in seconds, that we accept from Slack. Slack usually asks for a minute at most.
LONGEST_PAUSE_S = 3600.0
SERVER_ERROR = 500
_REFUSED = 400
#: Error codes after which a retry may help (the methods' pages, "Errors"). Other errors last until somebody acts.
_PASSING = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
    }
)
#: Error codes for a message that can't be sent to one conversation (chat.postMessage, "Errors").
GONE = frozenset({"channel_not_found", "is_archived", "not_in_channel", "restricted_action"})
#: Error codes that say that the app can't send a message to any conversation.
_SHUT_OUT = frozenset(
    {
        "access_denied",
        "ekm_access_denied",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "team_access_not_granted",
        "account_inactive",
        "invalid_auth",
        "not_authed",
        "org_login_required",
        "team_not_found",
        "token_expired",
        "token_revoked",
    }
)
_ASTRAY = frozenset({"thread_not_found", "invalid_thread_ts"})
#: The exceptions that slack-sdk raises for an answer of another server. slack-sdk reads every answer as a JSON object
#: of Slack, so a different answer makes its code fail.
STRANGE = (LookupError, TypeError, ValueError, AttributeError)


class AstrayError(PlatformError):
    """Slack refused to post a message, because the message's thread no longer exists."""


@asynccontextmanager
async def explained() -> AsyncIterator[None]:
    """Convert errors of Slack, of slack-sdk and of the network to PlatformError.

    The fields of PlatformError say whether a retry may help (`passing`), and after how many seconds (`retry_s`).
    """
    try:
        yield
    except SlackApiError as error:
        _refused(error)
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PlatformError(type(error).__name__, passing=True) from error
    except STRANGE as error:
        raise PlatformError(say("trouble.slack.other"), passing=True) from error


def promised(answer: Any, name: str) -> Any:
    """Return a field of an answer that Slack's documentation promises in every `ok` answer of a method.

    Raises LookupError if the field is missing or empty. In that case, another server has answered, and Slack did
    nothing.
    """
    found = answer.get(name)
    if not found:
        raise LookupError(name)
    return found


def listed(answer: Any, name: str) -> list[Any]:
    """Return a list of an answer that Slack's documentation promises in every `ok` answer of a method. The list may be
    empty.

    Raises LookupError if the list is missing, because then another server has answered.
    """
    found = answer.get(name)
    if isinstance(found, list):
        return found
    raise LookupError(name)


def error_code(error: SlackApiError) -> str:
    """Return Slack's error code, or '' if another server answered."""
    data = getattr(error.response, "data", None)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def pause_of(headers: Mapping[str, Any]) -> float | None:
    """Return the pause in seconds that Slack asks for, from the header `Retry-After` (Slack's page "Rate limits").
    Return None without a pause.

    Another server may answer in Slack's place, so a value that isn't a whole number (`inf`, a date) is ignored.
    """
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    first = str(said[0] if isinstance(said, list) and said else said)
    return min(float(first), LONGEST_PAUSE_S) if first.isascii() and first.isdecimal() else None


def check_status(status: int) -> None:
    """Raise PlatformError if an answer without JSON has the HTTP status of a refusal."""
    if status >= _REFUSED:
        raise by_status(status)


def by_status(status: int) -> PlatformError:
    """Return the PlatformError for an answer without JSON that has this HTTP status."""
    return PlatformError(f"answered with {status}", passing=_may_pass(status))


def _may_pass(status: int) -> bool:
    return status == TOO_MANY or status >= SERVER_ERROR


def _refused(error: SlackApiError) -> NoReturn:
    response: Any = error.response
    code, status = error_code(error), getattr(response, "status_code", 0)
    if code in _ASTRAY:
        raise AstrayError(code, passing=False) from error
    passing = code in _PASSING or not code or _may_pass(status)
    pause = pause_of(getattr(response, "headers", None) or {})
    lost = code in GONE | _SHUT_OUT and not passing
    remedy = REMEDIES.get(code, "")
    raise PlatformError(
        code or say("trouble.slack.other"), passing=passing, retry_s=pause, lost=lost, remedy=remedy
    ) from error
