"""Reply markup: inline keyboards and forced replies, checked as the server checks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from simulators.telegram import errors
from simulators.telegram.errors import ApiError, Json
from simulators.telegram.html import checked_link
from simulators.telegram.params import Params

MAX_BUTTONS: Final = 100
MAX_ROW: Final = 8
MAX_DATA_BYTES: Final = 64
OTHER_ACTIONS: Final = frozenset(
    "callback_game pay switch_inline_query switch_inline_query_chosen_chat switch_inline_query_current_chat"
    " login_url web_app copy_text disabled".split()
)
KNOWN_FIELDS: Final = OTHER_ACTIONS | {"text", "url", "callback_data", "style", "icon_custom_emoji_id"}

Keyboard = tuple[tuple[Json, ...], ...]


@dataclass(frozen=True, slots=True)
class Markup:
    """What a message brings along: buttons under it, or a reply that it asks for."""

    keyboard: Keyboard = ()
    force_reply: Json | None = None


def read_markup(params: Params) -> Markup:
    """Return the call's reply markup; keyboards in place of the keyboard are ignored.

    Raises `ApiError` for malformed markup, more than 100 buttons (or 8 in a row: clients show no
    more), callback data over 64 bytes and links that lead nowhere.
    """
    value = params.parsed("reply_markup", errors.MARKUP_NOT_JSON)
    if value is None:
        return Markup()
    if not isinstance(value, dict):
        raise ApiError(errors.MARKUP_NOT_OBJECT)
    if value.get("force_reply"):
        return Markup(force_reply=value)
    return Markup(keyboard=_keyboard(value.get("inline_keyboard", [])))


def _keyboard(rows: Any) -> Keyboard:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ApiError(errors.KEYBOARD_NOT_ROWS)
    if sum(map(len, rows)) > MAX_BUTTONS or any(len(row) > MAX_ROW for row in rows):
        raise ApiError(errors.MARKUP_TOO_LONG)
    return tuple(tuple(_button(button) for button in row) for row in rows if row)


def _button(button: Any) -> Json:
    if not isinstance(button, dict):
        raise ApiError(errors.button_unparsable("InlineKeyboardButton must be an Object"))
    if not isinstance(button.get("text"), str):
        raise ApiError(errors.button_unparsable('Field "text" must be of type String'))
    _check_action(button)
    return {name: value for name, value in button.items() if name in KNOWN_FIELDS}


def _check_action(button: Json) -> None:
    if button.get("url"):
        _check_url(str(button["url"]))
    elif button.get("callback_data"):
        if len(str(button["callback_data"]).encode()) > MAX_DATA_BYTES:
            raise ApiError(errors.BUTTON_DATA_INVALID)
    elif not OTHER_ACTIONS & button.keys():
        raise ApiError(errors.button_unparsable("Text buttons are unallowed in the inline keyboard"))


def _check_url(url: str) -> None:
    if not checked_link(url):
        raise ApiError(errors.button_url(url, "Wrong HTTP URL"))
