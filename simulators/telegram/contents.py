"""What a call carries: texts with their formatting, reactions, addresses, commands, languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from simulators.telegram import errors
from simulators.telegram.entities import detect
from simulators.telegram.errors import ApiError, Json, Refusal
from simulators.telegram.html import Entity, Formatted, parse_html, trim, units
from simulators.telegram.params import Params, to_int
from simulators.telegram.state import REACTIONS, plain_emoji

MAX_TEXT: Final = 4096
MAX_CAPTION: Final = 1024
MAX_SECRET: Final = 256
MAX_COMMAND_DESCRIPTION: Final = 256
WEBHOOK_PORTS: Final = frozenset({80, 88, 443, 8443})
PLAIN_SCOPES: Final = frozenset({"default", "all_private_chats", "all_group_chats", "all_chat_administrators"})
CHAT_SCOPES: Final = frozenset({"chat", "chat_administrators", "chat_member"})

_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_SECRET = re.compile(r"[A-Za-z0-9_-]*")
_LANGUAGE = re.compile(r"(?:[a-z]{2})?")


def message_text(params: Params) -> Formatted:
    """Return the text of a message: 1 to 4096 units after parsing."""
    text = _checked(_formatted(params, "text", "entities"), MAX_TEXT, errors.TEXT_TOO_LONG)
    if not text.text:
        raise ApiError(errors.TEXT_EMPTY)
    return text


def caption(params: Params) -> Formatted:
    """Return the caption of a document: up to 1024 units."""
    return _checked(_formatted(params, "caption", "caption_entities"), MAX_CAPTION, errors.CAPTION_TOO_LONG)


def _formatted(params: Params, text: str, entities: str) -> Formatted:
    """Return a text as the call formats it: HTML, given entities, or none; plus what is found in it."""
    mode = params.text("parse_mode").lower()
    if mode not in {"", "html", "none"}:
        raise ApiError(errors.UNSUPPORTED_PARSE_MODE)
    source = params.text(text)
    if mode == "html":
        return detect(parse_html(source))
    given = params.parsed(entities, errors.ENTITIES_NOT_JSON) or []
    return detect(trim(Formatted(source, _given(given))))


def _given(value: Any) -> tuple[Entity, ...]:
    try:
        return tuple(_entity(one) for one in value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ApiError(errors.ENTITIES_NOT_JSON) from None


def _entity(value: Json) -> Entity:
    extra = {name: field for name, field in value.items() if name not in {"type", "offset", "length", "user"}}
    if isinstance(value.get("user"), dict):
        extra["user_id"] = value["user"]["id"]
    return Entity(str(value["type"]), int(value["offset"]), int(value["length"]), tuple(extra.items()))


def _checked(text: Formatted, most: int, refusal: Refusal) -> Formatted:
    if units(text.text) > most:
        raise ApiError(refusal)
    return text


def no_preview(params: Params) -> bool:
    """Whether links in the text get no preview."""
    options = params.parsed("link_preview_options", errors.PREVIEW_NOT_JSON)
    off = isinstance(options, dict) and bool(options.get("is_disabled"))
    return off or params.flag("disable_web_page_preview")


def reaction(value: Any) -> tuple[str, ...]:
    """Return the emoji of a list of reaction types; a bot has at most one."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ApiError(errors.REACTION_NOT_JSON)
    if len(value) > 1:
        raise ApiError(errors.REACTIONS_TOO_MANY)
    emojis = tuple(plain_emoji(str(one.get("emoji"))) for one in value)
    if not REACTIONS.keys() >= set(emojis):
        raise ApiError(errors.REACTION_INVALID)
    return emojis


def allowed_updates(params: Params) -> list[str] | None:
    """Return the update kinds asked for; what isn't an array of them changes nothing."""
    try:
        value = params.parsed("allowed_updates", errors.bad_request("allowed_updates"))
    except ApiError:
        return None
    return [str(kind) for kind in value] if isinstance(value, list) else None


def check_webhook(url: str, secret: str) -> None:
    """Refuse a secret or an address that no webhook can have; addresses here are on loopback."""
    if len(secret) > MAX_SECRET:
        raise ApiError(errors.SECRET_TOO_LONG)
    if not _SECRET.fullmatch(secret):
        raise ApiError(errors.SECRET_CHARACTERS)
    parts = _split_url(url)
    if not _loopback(parts.hostname or ""):
        raise ApiError(_public_refusal(parts))


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ApiError(errors.WEBHOOK_URL)
    return parts


def _public_refusal(parts: SplitResult) -> Refusal:
    """Say what is wrong with an address elsewhere: at least that it is elsewhere."""
    if parts.scheme == "http":
        return errors.WEBHOOK_HTTPS
    return errors.WEBHOOK_HOST if (parts.port or 443) in WEBHOOK_PORTS else errors.WEBHOOK_PORT


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def command(value: Any) -> Json:
    """Return a bot command, checked."""
    if not isinstance(value, dict) or not _COMMAND.fullmatch(str(value.get("command")).removeprefix("/")):
        raise ApiError(errors.COMMAND_INVALID)
    if not 1 <= len(str(value.get("description", ""))) <= MAX_COMMAND_DESCRIPTION:
        raise ApiError(errors.COMMAND_DESCRIPTION_INVALID)
    return {"command": value["command"].removeprefix("/"), "description": value["description"]}


def command_key(params: Params) -> tuple[str, str]:
    """Return the scope and language that a command list is for."""
    scope = params.parsed("scope", errors.SCOPE_NOT_JSON) or {"type": "default"}
    if not isinstance(scope, dict):
        raise ApiError(errors.SCOPE_NOT_JSON)
    return _scope_key(scope), language(params)


def _scope_key(scope: Json) -> str:
    kind = scope.get("type")
    if kind in PLAIN_SCOPES:
        return str(kind)
    if kind not in CHAT_SCOPES:
        raise ApiError(errors.SCOPE_TYPE)
    if not scope.get("chat_id"):
        raise ApiError(errors.SCOPE_CHAT)
    if kind == "chat_member" and not to_int(scope.get("user_id")):
        raise ApiError(errors.SCOPE_USER)
    return f"{kind}:{scope['chat_id']}:{scope.get('user_id', '')}"


def language(params: Params) -> str:
    """Return the language code, "" for all languages."""
    code = params.text("language_code")
    if not _LANGUAGE.fullmatch(code):
        raise ApiError(errors.LANGUAGE_INVALID)
    return code


def localised(texts: Mapping[str, str], params: Params) -> str:
    """Return the text in the language that is asked for, or the one for all languages."""
    return texts.get(language(params)) or texts.get("", "")
