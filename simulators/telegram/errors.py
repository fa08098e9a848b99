"""What the Bot API server says when it refuses a call: every text in one place.

The wording is that of the official server (tdlib/telegram-bot-api, `fail_query_with_error` and
the checks around it) and of its documentation. Texts marked *ours* have no published wording:
do not match on them.

    ApiError            raised by a method that refuses
    Refusal             what it then answers: status, description, parameters
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call, as the bot is told of it: HTTP status, description and ResponseParameters."""

    status: int
    description: str
    parameters: Json = field(default_factory=dict)

    def body(self) -> Json:
        """Return the answer's JSON object."""
        body: Json = {"ok": False, "error_code": self.status, "description": self.description}
        return {**body, "parameters": self.parameters} if self.parameters else body


class ApiError(Exception):
    """The method refuses the call."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.description)
        self.refusal = refusal


def bad_request(text: str, **parameters: Any) -> Refusal:
    """Return a 400 with the official prefix."""
    return Refusal(400, f"Bad Request: {text}", parameters)


def forbidden(text: str) -> Refusal:
    """Return a 403 with the official prefix."""
    return Refusal(403, f"Forbidden: {text}")


def conflict(text: str) -> Refusal:
    """Return a 409 with the official prefix."""
    return Refusal(409, f"Conflict: {text}")


def too_many_requests(seconds: int) -> Refusal:
    """Return a 429 that says after how many seconds the call may be repeated."""
    return Refusal(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})


def migrated(new_chat_id: int) -> Refusal:
    """Return the refusal for a group that became the supergroup `new_chat_id`."""
    text = "group chat was upgraded to a supergroup chat"
    return bad_request(text, migrate_to_chat_id=new_chat_id)


def cant_parse_entities(text: str) -> Refusal:
    """Return the refusal for markup that doesn't parse."""
    return bad_request(f"can't parse entities: {text}")


def not_found(what: str) -> Refusal:
    """Return the refusal for a message, chat or user that isn't there."""
    return bad_request(f"{what} not found")


def required(name: str) -> Refusal:
    """Return the refusal for a parameter that the method can't do without."""
    return bad_request(f'parameter "{name}" is required')


def not_a_member(kind: str, *, kicked: bool) -> Refusal:
    """Return the refusal for a bot outside the group, supergroup or channel it writes to."""
    how = "was kicked from" if kicked else "is not a member of"
    return forbidden(f"bot {how} the {kind} chat")


UNAUTHORIZED: Final = Refusal(401, "Unauthorized")
MALFORMED_TOKEN: Final = Refusal(401, "Unauthorized: invalid token specified")
METHOD_NOT_FOUND: Final = Refusal(404, "Not Found")

CHAT_ID_EMPTY: Final = bad_request("chat_id is empty")
CHAT_NOT_FOUND: Final = not_found("chat")
USER_NOT_FOUND: Final = not_found("user")
INVALID_USER_ID: Final = bad_request("invalid user_id specified")
THREAD_NOT_FOUND: Final = not_found("message thread")
TOPIC_CLOSED: Final = bad_request("TOPIC_CLOSED")
BOT_BLOCKED: Final = forbidden("bot was blocked by the user")
USER_DEACTIVATED: Final = forbidden("user is deactivated")
CANT_INITIATE: Final = forbidden("bot can't initiate conversation with a user")
BOTS_CANT_WRITE_TO_BOTS: Final = forbidden("bots can't send messages to bots")
NO_RIGHT_TO_SEND: Final = bad_request("not enough rights to send text messages to the chat")
NEED_ADMIN_IN_CHANNEL: Final = bad_request("need administrator rights in the channel chat")
NO_ADMINS_IN_PRIVATE: Final = bad_request("there are no administrators in the private chat")

TEXT_EMPTY: Final = bad_request("message text is empty")
TEXT_TOO_LONG: Final = bad_request("message is too long")
CAPTION_TOO_LONG: Final = bad_request("message caption is too long")
UNSUPPORTED_PARSE_MODE: Final = bad_request("unsupported parse_mode")
NO_MESSAGE_ID: Final = bad_request("message identifier is not specified")
NO_DOCUMENT: Final = bad_request("there is no document in the request")
FILE_EMPTY: Final = bad_request("file must be non-empty")
FILE_TOO_BIG: Final = Refusal(413, "Request Entity Too Large")
INVALID_FILE_ID: Final = bad_request("invalid file_id")
REPLIED_NOT_FOUND: Final = not_found("message to be replied")
EDITED_NOT_FOUND: Final = not_found("message to edit")
DELETED_NOT_FOUND: Final = not_found("message to delete")
FORWARDED_NOT_FOUND: Final = not_found("message to forward")
REACTED_NOT_FOUND: Final = not_found("message to react")
CANT_BE_EDITED: Final = bad_request("message can't be edited")
CANT_BE_DELETED: Final = bad_request("message can't be deleted for everyone")
CANT_BE_FORWARDED: Final = bad_request("message can't be forwarded")
NO_TEXT_TO_EDIT: Final = bad_request("there is no text in the message to edit")
NOT_MODIFIED: Final = bad_request(
    "message is not modified: specified new message content and reply markup are exactly the same"
    " as a current content and reply markup of the message"
)

MARKUP_NOT_JSON: Final = bad_request("can't parse reply keyboard markup JSON object")
MARKUP_NOT_OBJECT: Final = bad_request("object expected as reply markup")
KEYBOARD_NOT_ROWS: Final = bad_request('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays')
MARKUP_TOO_LONG: Final = bad_request("reply markup is too long")
BUTTON_DATA_INVALID: Final = bad_request("BUTTON_DATA_INVALID")
REPLY_NOT_JSON: Final = bad_request("can't parse reply parameters JSON object")
PREVIEW_NOT_JSON: Final = bad_request("can't parse link preview options JSON object")
ENTITIES_NOT_JSON: Final = bad_request("can't parse entities JSON object")

QUERY_TOO_OLD: Final = bad_request("query is too old and response timeout expired or query ID is invalid")
ANSWER_TOO_LONG: Final = bad_request("MESSAGE_TOO_LONG")

ACTION_UNKNOWN: Final = bad_request("wrong parameter action in request")

REACTION_NOT_JSON: Final = bad_request("can't parse reaction types JSON object")
REACTION_INVALID: Final = bad_request("REACTION_INVALID")
REACTIONS_TOO_MANY: Final = bad_request("REACTIONS_TOO_MANY")

COMMANDS_NOT_JSON: Final = bad_request("can't parse commands JSON object")
COMMANDS_NOT_ARRAY: Final = bad_request("expected an Array of BotCommand")
COMMANDS_TOO_MANY: Final = bad_request("BOT_COMMANDS_TOO_MUCH")
COMMAND_INVALID: Final = bad_request("BOT_COMMAND_INVALID")
COMMAND_DESCRIPTION_INVALID: Final = bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
SCOPE_NOT_JSON: Final = bad_request("can't parse BotCommandScope JSON object")
SCOPE_TYPE: Final = bad_request("can't parse BotCommandScope: Unsupported type specified")
SCOPE_CHAT: Final = bad_request("can't parse BotCommandScope: Empty chat_id specified")
SCOPE_USER: Final = bad_request("can't parse BotCommandScope: Invalid user_id specified")
LANGUAGE_INVALID: Final = bad_request("invalid language code specified")
DESCRIPTION_TOO_LONG: Final = bad_request("description is too long")  # ours
SHORT_DESCRIPTION_TOO_LONG: Final = bad_request("short description is too long")  # ours

OTHER_POLLER: Final = conflict(
    "terminated by other getUpdates request; make sure that only one bot instance is running"
)
TERMINATED_BY_WEBHOOK: Final = conflict("terminated by setWebhook request")
WEBHOOK_ACTIVE: Final = conflict(
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
WEBHOOK_URL: Final = bad_request("invalid webhook URL specified")
WEBHOOK_HTTPS: Final = bad_request("bad webhook: An HTTPS URL must be provided for webhook")
WEBHOOK_PORT: Final = bad_request("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
WEBHOOK_HOST: Final = bad_request("bad webhook: Failed to resolve host: Name or service not known")
SECRET_TOO_LONG: Final = bad_request("secret token is too long")
SECRET_CHARACTERS: Final = bad_request("secret token contains unallowed characters")


def button_unparsable(text: str) -> Refusal:
    """Return the refusal for an inline button that isn't one."""
    return bad_request(f"can't parse inline keyboard button: {text}")


def button_url(url: str, why: str) -> Refusal:
    """Return the refusal for an inline button whose link leads nowhere."""
    return bad_request(f"inline keyboard button URL '{url}' is invalid: {why}")
