"""What the Web API says when it refuses a call: every error code in one place.

Slack refuses with HTTP 200 and `{"ok": false, "error": CODE}`; only rate limits have a status of
their own, 429. Codes are those of the methods' pages; what is wrong with blocks stands in
`response_metadata.messages`, in the wording that applications report from the real service.
Codes marked *ours* are on no page: do not match on them.

    ApiError            raised by a method that refuses
    Refusal             what it then answers
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call, as the app is told of it: code, HTTP status, further fields of the body."""

    error: str
    status: int = 200
    fields: Json = field(default_factory=dict)
    retry_after: int | None = None

    def body(self) -> Json:
        """Return the answer's JSON object."""
        return {"ok": False, "error": self.error, **self.fields}

    @property
    def headers(self) -> dict[str, str]:
        """Return what the answer's headers say."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


class ApiError(Exception):
    """The method refuses the call."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.error)
        self.refusal = refusal


def ratelimited(seconds: int) -> Refusal:
    """Return a 429 that says after how many seconds the call may be repeated."""
    return Refusal("ratelimited", 429, retry_after=seconds)


def missing_scope(needed: Iterable[str], provided: Iterable[str]) -> Refusal:
    """Return the refusal for a token without a scope."""
    fields = {"needed": ",".join(needed), "provided": ",".join(sorted(provided))}
    return Refusal("missing_scope", fields=fields)


def invalid_blocks(problems: list[str]) -> Refusal:
    """Return the refusal for blocks that break the rules."""
    return Refusal("invalid_blocks", fields={"errors": problems, **_metadata(problems)})


def invalid_arguments(problems: list[str]) -> Refusal:
    """Return the refusal for arguments, or a view, that break the rules."""
    return Refusal("invalid_arguments", fields=_metadata(problems))


def _metadata(problems: list[str]) -> Json:
    return {"response_metadata": {"messages": [f"[ERROR] {one}" for one in problems]}}


NOT_AUTHED: Final = Refusal("not_authed")
INVALID_AUTH: Final = Refusal("invalid_auth")
ACCOUNT_INACTIVE: Final = Refusal("account_inactive")
TOKEN_REVOKED: Final = Refusal("token_revoked")
WRONG_TOKEN_TYPE: Final = Refusal("not_allowed_token_type")
UNKNOWN_METHOD: Final = Refusal("unknown_method")
INVALID_JSON: Final = Refusal("invalid_json")
JSON_NOT_OBJECT: Final = Refusal("json_not_object")
# *ours*: what a disabled Socket Mode answers is on no page.
SOCKET_MODE_OFF: Final = Refusal("socket_mode_not_enabled")

CHANNEL_NOT_FOUND: Final = Refusal("channel_not_found")
NOT_IN_CHANNEL: Final = Refusal("not_in_channel")
IS_ARCHIVED: Final = Refusal("is_archived")
MESSAGE_NOT_FOUND: Final = Refusal("message_not_found")
THREAD_NOT_FOUND: Final = Refusal("thread_not_found")
INVALID_THREAD_TS: Final = Refusal("invalid_thread_ts")
CANT_UPDATE: Final = Refusal("cant_update_message")
CANT_DELETE: Final = Refusal("cant_delete_message")
NO_TEXT: Final = Refusal("no_text")
MSG_TOO_LONG: Final = Refusal("msg_too_long")
BLOCKS_TOO_LONG: Final = Refusal("msg_blocks_too_long")
BLOCKS_NOT_JSON: Final = Refusal("invalid_blocks_format")
USER_NOT_IN_CHANNEL: Final = Refusal("user_not_in_channel")

USER_NOT_FOUND: Final = Refusal("user_not_found")
USERS_NOT_FOUND: Final = Refusal("users_not_found")
USER_NOT_VISIBLE: Final = Refusal("user_not_visible")
USERS_NOT_GIVEN: Final = Refusal("users_list_not_supplied")
USER_DISABLED: Final = Refusal("user_disabled")
CANT_DM_BOT: Final = Refusal("cannot_dm_bot")
BOT_NOT_FOUND: Final = Refusal("bot_not_found")
CANT_JOIN: Final = Refusal("method_not_supported_for_channel_type")

INVALID_NAME: Final = Refusal("invalid_name")
ALREADY_REACTED: Final = Refusal("already_reacted")
NO_REACTION: Final = Refusal("no_reaction")

INVALID_TRIGGER: Final = Refusal("invalid_trigger_id")
EXPIRED_TRIGGER: Final = Refusal("expired_trigger_id")
EXCHANGED_TRIGGER: Final = Refusal("exchanged_trigger_id")
VIEW_NOT_FOUND: Final = Refusal("not_found")
HASH_CONFLICT: Final = Refusal("hash_conflict")
PUSH_LIMIT: Final = Refusal("push_limit_reached")

# What the threadless form of assistant.threads.setSuggestedPrompts says to an app without the agent view.
NOT_AGENT_APP: Final = Refusal("not_agent_app")

FILE_NOT_FOUND: Final = Refusal("file_not_found")

# What a response_url says; it is no method, and answers with a 404.
USED_URL: Final = Refusal("used_url", 404)
EXPIRED_URL: Final = Refusal("expired_url", 404)
NO_SUCH_URL: Final = Refusal("no_service", 404)
