"""The methods of the Bot API, one function each, and the table of them.

A function is given the request and returns the result's JSON. It raises `ApiError` to refuse.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulators.telegram import contents, errors, shapes
from simulators.telegram.errors import ApiError, Json, Refusal
from simulators.telegram.flood import limits_of
from simulators.telegram.html import Formatted, units
from simulators.telegram.markup import Markup, read_markup
from simulators.telegram.params import Params, Upload
from simulators.telegram.platform import Answer, Desk, Platform, Webhook
from simulators.telegram.rooms import (
    check_deletable,
    check_own,
    find_message,
    find_reply,
    find_room,
    find_thread,
    readable,
    writable,
)
from simulators.telegram.state import (
    ADMINS,
    Chat,
    File,
    Member,
    Message,
)

ACTIONS: Final = frozenset(
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker"
    " find_location record_video_note upload_video_note".split()
)
MAX_COMMANDS: Final = 100
MAX_FILE: Final = 50 * 2**20


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a bot."""

    platform: Platform
    desk: Desk
    params: Params


@dataclass(frozen=True, slots=True)
class Told:
    """A result that comes with a description."""

    result: Any
    description: str


Handler = Callable[[Request], Awaitable[Any]]


async def get_me(request: Request) -> Json:
    """Tell the bot who it is."""
    return shapes.me(request.desk.bot)


async def get_updates(request: Request) -> list[Json]:
    """Return what waits, or wait for it."""
    if request.desk.webhook:
        raise ApiError(errors.WEBHOOK_ACTIVE)
    params = request.params
    request.desk.queue.allow(contents.allowed_updates(params))
    found = await request.desk.queue.poll(params.number("offset"), params.number("limit"), params.number("timeout"))
    return [update.as_json() for update in found]


async def set_webhook(request: Request) -> Told:
    """Post updates to an address from now on."""
    url = request.params.text("url")
    if not url:
        return await delete_webhook(request)
    contents.check_webhook(url, request.params.text("secret_token"))
    queue = request.desk.queue
    if request.params.flag("drop_pending_updates"):
        queue.clear()
    queue.interrupt(errors.TERMINATED_BY_WEBHOOK)
    queue.allow(contents.allowed_updates(request.params))
    wanted = Webhook(url, request.params.text("secret_token"), request.params.number("max_connections"))
    if request.desk.webhook == wanted:
        return Told(result=True, description="Webhook is already set")
    request.desk.webhook = wanted
    request.desk.last_error, request.desk.last_error_at = "", 0
    return Told(result=True, description="Webhook was set")


async def delete_webhook(request: Request) -> Told:
    """Keep updates for getUpdates again."""
    if request.params.flag("drop_pending_updates"):
        request.desk.queue.clear()
    told = "Webhook was deleted" if request.desk.webhook else "Webhook is already deleted"
    request.desk.webhook = None
    return Told(result=True, description=told)


async def get_webhook_info(request: Request) -> Json:
    """Tell where updates go and how that fares."""
    desk = request.desk
    hook = {"max_connections": desk.webhook.max_connections} if desk.webhook else {}
    failed = {"last_error_date": desk.last_error_at, "last_error_message": desk.last_error}
    asked = {"allowed_updates": desk.queue.allowed_as_asked} if desk.queue.allowed_as_asked else {}
    return {
        "url": desk.webhook.url if desk.webhook else "",
        "has_custom_certificate": False,
        "pending_update_count": len(desk.queue.pending()),
        **(failed if desk.last_error else {}),
        **hook,
        **asked,
    }


async def send_message(request: Request) -> Json:
    """Write a text."""
    room = _open_room(request)
    text = contents.message_text(request.params)
    return _send(request, room, text, no_preview=contents.no_preview(request.params))


async def send_document(request: Request) -> Json:
    """Send a file with a caption."""
    room = _open_room(request)
    caption = contents.caption(request.params)
    return _send(request, room, caption, document=_document(request))


async def forward_message(request: Request) -> Json:
    """Copy a message into another chat with its origin."""
    params = request.params
    room = _open_room(request)
    source = find_room(request.platform, request.desk.bot, params.text("from_chat_id"))
    original = find_message(source, params, errors.FORWARDED_NOT_FOUND)
    if original.protected or original.service:
        raise ApiError(errors.CANT_BE_FORWARDED)
    origin = shapes.origin(original, request.platform.world)
    thread = find_thread(request.desk.bot, room, params)
    return _posted(
        request,
        room,
        text=original.text,
        entities=original.entities,
        document=original.document,
        origin=origin,
        thread_id=thread,
    )


async def edit_message_text(request: Request) -> Json:
    """Replace a text; buttons that aren't sent again go."""
    message = _editable(request)
    text = contents.message_text(request.params)
    if message.document:
        raise ApiError(errors.NO_TEXT_TO_EDIT)
    return _edit(request, message, text, read_markup(request.params))


async def edit_message_caption(request: Request) -> Json:
    """Replace a document's caption."""
    message = _editable(request)
    caption = contents.caption(request.params)
    return _edit(request, message, caption, read_markup(request.params))


async def edit_message_reply_markup(request: Request) -> Json:
    """Replace the buttons."""
    message = _editable(request)
    same = Formatted(message.text, message.entities)
    return _edit(request, message, same, read_markup(request.params))


async def delete_message(request: Request) -> bool:
    """Delete a message for everyone."""
    room = readable(request.platform, request.desk.bot, request.params)
    message = find_message(room, request.params, errors.DELETED_NOT_FOUND)
    check_deletable(request.desk.bot, room, message, request.platform.clock.now())
    room.drop(message.id)
    request.platform.touch()
    return True


async def answer_callback_query(request: Request) -> bool:
    """Show the presser of a button something; once."""
    params = request.params
    query = request.platform.answerable(request.desk.bot.id, params.text("callback_query_id"))
    if query is None:
        raise ApiError(errors.QUERY_TOO_OLD)
    shown = Answer(params.text("text"), params.flag("show_alert"), params.text("url"), request.platform.clock.now())
    request.platform.answer(query, shown)
    return True


async def set_message_reaction(request: Request) -> bool:
    """React to a message; a bot has one reaction."""
    room = readable(request.platform, request.desk.bot, request.params)
    message = find_message(room, request.params, errors.REACTED_NOT_FOUND)
    emojis = contents.reaction(request.params.parsed("reaction", errors.REACTION_NOT_JSON) or [])
    request.platform.keep(message.react(request.desk.bot.id, emojis))
    return True


async def get_chat(request: Request) -> Json:
    """Tell about a chat."""
    return shapes.full_chat(readable(request.platform, request.desk.bot, request.params))


async def get_chat_member(request: Request) -> Json:
    """Tell what someone is in a chat."""
    room = readable(request.platform, request.desk.bot, request.params)
    user_id = request.params.number("user_id")
    if not user_id:
        raise ApiError(errors.INVALID_USER_ID)
    user = request.platform.world.users.get(user_id)
    if user is None:
        raise ApiError(errors.USER_NOT_FOUND)
    return shapes.member(room.member(user_id) or Member(user, "left"))


async def get_chat_administrators(request: Request) -> list[Json]:
    """Tell who runs a chat; other bots are left out."""
    room = readable(request.platform, request.desk.bot, request.params)
    if room.kind == "private":
        raise ApiError(errors.NO_ADMINS_IN_PRIVATE)
    mine = request.desk.bot.id
    admins = (one for one in room.members.values() if one.status in ADMINS)
    return [shapes.member(one) for one in admins if not one.user.is_bot or one.user.id == mine]


async def get_chat_member_count(request: Request) -> int:
    """Tell how many are in a chat."""
    room = readable(request.platform, request.desk.bot, request.params)
    return sum(one.present for one in room.members.values())


async def get_file(request: Request) -> Json:
    """Tell where a file can be fetched."""
    file = request.platform.world.files.get(request.params.text("file_id"))
    if file is None:
        raise ApiError(errors.INVALID_FILE_ID)
    shape = shapes.document(file)
    named = {name: shape[name] for name in ("file_id", "file_unique_id", "file_size")}
    return {**named, "file_path": f"documents/{file.id}"}


async def send_chat_action(request: Request) -> bool:
    """Show that the bot is busy: nothing to keep."""
    if request.params.text("action").lower() not in ACTIONS:
        raise ApiError(errors.ACTION_UNKNOWN)
    find_thread(request.desk.bot, writable(request.platform, request.desk.bot, request.params), request.params)
    return True


async def set_my_commands(request: Request) -> bool:
    """Set the command list of a scope and language."""
    commands = request.params.parsed("commands", errors.COMMANDS_NOT_JSON) or []
    if not isinstance(commands, list):
        raise ApiError(errors.COMMANDS_NOT_ARRAY)
    if len(commands) > MAX_COMMANDS:
        raise ApiError(errors.COMMANDS_TOO_MANY)
    request.desk.commands[contents.command_key(request.params)] = [contents.command(one) for one in commands]
    return True


async def get_my_commands(request: Request) -> list[Json]:
    """Return the command list of exactly this scope and language."""
    return request.desk.commands.get(contents.command_key(request.params), [])


async def delete_my_commands(request: Request) -> bool:
    """Forget the command list of a scope and language."""
    request.desk.commands.pop(contents.command_key(request.params), None)
    return True


async def set_my_description(request: Request) -> bool:
    """Set what an empty chat with the bot shows."""
    language = contents.language(request.params)
    request.desk.descriptions[language] = request.params.text("description")
    return True


async def get_my_description(request: Request) -> Json:
    """Return it, in the language or the default one."""
    return {"description": contents.localised(request.desk.descriptions, request.params)}


async def set_my_short_description(request: Request) -> bool:
    """Set what the bot's profile shows."""
    language = contents.language(request.params)
    request.desk.short_descriptions[language] = request.params.text("short_description")
    return True


async def get_my_short_description(request: Request) -> Json:
    """Return it, in the language or the default one."""
    return {"short_description": contents.localised(request.desk.short_descriptions, request.params)}


def _open_room(request: Request) -> Chat:
    return writable(request.platform, request.desk.bot, request.params)


def _admit(request: Request, room: Chat) -> None:
    wait = request.platform.flood.admit(limits_of(request.desk.bot.id, room))
    if wait:
        raise ApiError(errors.too_many_requests(wait))


def _send(request: Request, room: Chat, text: Formatted, **fields: Any) -> Json:
    thread = find_thread(request.desk.bot, room, request.params)
    target = find_reply(room, request.params, thread)
    markup = read_markup(request.params)
    return _posted(
        request,
        room,
        text=text.text,
        entities=text.entities,
        keyboard=markup.keyboard,
        force_reply=markup.force_reply,
        thread_id=thread or (target.thread_id if target else None),
        reply_to=target.id if target else None,
        protected=request.params.flag("protect_content"),
        **fields,
    )


def _posted(request: Request, room: Chat, **fields: Any) -> Json:
    _admit(request, room)
    bot = request.desk.bot
    by_channel = {"sender_chat": room.id} if room.kind == "channel" else {}
    room.last_bot = bot.id
    sender = None if room.kind == "channel" else bot.user
    message = request.platform.post(room, sender, author_bot=bot.id, **by_channel, **fields)
    return shapes.message(message, request.platform.world)


def _editable(request: Request) -> Message:
    room = writable(request.platform, request.desk.bot, request.params)
    message = find_message(room, request.params, errors.EDITED_NOT_FOUND)
    if room.kind != "channel":
        check_own(request.desk.bot, message)
    return message


def _edit(request: Request, message: Message, text: Formatted, markup: Markup) -> Json:
    if (message.text, message.entities, message.keyboard) == (text.text, text.entities, markup.keyboard):
        raise ApiError(errors.NOT_MODIFIED)
    edited = message.edit(request.platform.clock.date(), text.text, text.entities, markup.keyboard)
    return shapes.message(request.platform.keep(edited), request.platform.world)


def _document(request: Request) -> File:
    upload = _upload(request.params)
    if upload is None:
        return _known_file(request)
    if not upload.content:
        raise ApiError(errors.FILE_EMPTY)
    if len(upload.content) > MAX_FILE:
        raise ApiError(errors.FILE_TOO_BIG)
    return request.platform.world.add_file(upload.name, upload.mime, upload.content)


def _upload(params: Params) -> Upload | None:
    return params.files.get(params.text("document").removeprefix("attach://") or "document")


def _known_file(request: Request) -> File:
    file_id = request.params.text("document")
    if not file_id:
        raise ApiError(errors.NO_DOCUMENT)
    if file_id not in request.platform.world.files:
        raise ApiError(errors.INVALID_FILE_ID)
    return request.platform.world.files[file_id]


# What can be checked without knowing the method: parameter, most characters, refusal.
LENGTHS: Final[Mapping[str, tuple[str, int, Refusal]]] = {
    "answerCallbackQuery": ("text", 200, errors.ANSWER_TOO_LONG),
    "setMyDescription": ("description", 512, errors.DESCRIPTION_TOO_LONG),
    "setMyShortDescription": ("short_description", 120, errors.SHORT_DESCRIPTION_TOO_LONG),
}

METHODS: Final[Mapping[str, Handler]] = {
    "getMe": get_me,
    "getUpdates": get_updates,
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": get_webhook_info,
    "sendMessage": send_message,
    "sendDocument": send_document,
    "forwardMessage": forward_message,
    "editMessageText": edit_message_text,
    "editMessageCaption": edit_message_caption,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "answerCallbackQuery": answer_callback_query,
    "setMessageReaction": set_message_reaction,
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatAdministrators": get_chat_administrators,
    "getChatMemberCount": get_chat_member_count,
    "getFile": get_file,
    "sendChatAction": send_chat_action,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
    "setMyDescription": set_my_description,
    "getMyDescription": get_my_description,
    "setMyShortDescription": set_my_short_description,
    "getMyShortDescription": get_my_short_description,
}
_CANONICAL: Final = {name.lower(): name for name in METHODS}


def canonical(method: str) -> str | None:
    """Return a method's name as documented: the server takes any case."""
    return _CANONICAL.get(method.lower())


async def perform(method: str, request: Request) -> Any:
    """Carry out a method by its documented name. Raises `ApiError` to refuse."""
    if method in LENGTHS:
        name, most, refusal = LENGTHS[method]
        if units(request.params.text(name)) > most:
            raise ApiError(refusal)
    return await METHODS[method](request)
