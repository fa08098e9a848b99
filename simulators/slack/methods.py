"""The methods of the Web API, one function each, and the table of them.

A function is given the request and returns the fields beside `ok`. It raises `ApiError` to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hitl.records import replace
from simulators.slack import errors, panes, rooms, shapes
from simulators.slack.contents import changed_content, content, flags, view_body
from simulators.slack.errors import ApiError, Json
from simulators.slack.flood import POSTING, TIERS
from simulators.slack.params import Params
from simulators.slack.platform import Platform, Trigger
from simulators.slack.state import SCOPE_FAMILY, App, Channel, File, Kind, Message, View

TRIGGER_SECONDS: Final = 3.0
MAX_VIEWS: Final = 3
MAX_PAGE: Final = 1000
KIND_NAMES: Final[dict[str, Kind]] = {
    "public_channel": "channel",
    "private_channel": "private",
    "im": "im",
    "mpim": "mpim",
}
EMOJI_NAME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_+-':")


@dataclass(frozen=True, slots=True)
class Request:
    """One call of an app."""

    platform: Platform
    app: App
    params: Params

    def channel(self) -> Channel:
        """Return the channel that it may write to."""
        return rooms.writable(self.platform, self.app, self.params.required("channel"))

    def own(self, refusal: errors.Refusal) -> Message:
        """Return the app's own message that it names."""
        channel = rooms.find_channel(self.platform, self.app, self.params.required("channel"))
        message = rooms.find_message(channel, self.params.required("ts"))
        if message.app_id != self.app.id:
            raise ApiError(refusal)
        return message


Handler = Callable[[Request], Json]


def api_test(_request: Request) -> Json:
    """Say that the server is there."""
    return {}


def auth_test(request: Request) -> Json:
    """Tell the app who it is."""
    app, team = request.app, request.platform.world.teams[request.app.team_id]
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": app.bot.name,
        "team_id": None if app.org_wide else team.id,
        "user_id": app.user_id,
        "bot_id": app.bot_id,
        **({"enterprise_id": team.enterprise_id} if team.enterprise_id else {}),
        "is_enterprise_install": app.org_wide,
    }


def post_message(request: Request) -> Json:
    """Write a message, at the head of a channel or in a thread."""
    channel = request.channel()
    _admit_post(request, channel)
    params, shows = request.params, content(request.platform, request.params)
    thread = rooms.thread_head(channel, params.text("thread_ts"))
    message = request.platform.post(
        channel,
        request.app.user_id,
        shows.text,
        blocks=shows.blocks,
        thread_ts=thread,
        broadcast=bool(thread) and params.flag("reply_broadcast"),
        **_author(request.app),
        **flags(params),
    )
    return _sent(request, message)


def _author(app: App) -> Json:
    return {"app_id": app.id, "bot_id": app.bot_id}


def _admit_post(request: Request, channel: Channel) -> None:
    wait = request.platform.flood.admit([((request.app.id, "chat.postMessage", channel.id), POSTING)])
    if wait:
        raise ApiError(errors.ratelimited(wait))


def _sent(request: Request, message: Message) -> Json:
    shape = shapes.message(message, request.platform.world, request.platform.root)
    return {"channel": message.channel_id, "ts": message.ts, "message": shape}


def update(request: Request) -> Json:
    """Change one of the app's messages."""
    message = request.own(errors.CANT_UPDATE)
    shows = changed_content(request.platform, request.params)
    after = request.platform.revise(message, request.app.user_id, shows.text, shows.blocks)
    return {**_sent(request, after), "text": after.text}


def delete(request: Request) -> Json:
    """Delete one of the app's messages."""
    message = request.platform.remove(request.own(errors.CANT_DELETE))
    return {"channel": message.channel_id, "ts": message.ts}


def post_ephemeral(request: Request) -> Json:
    """Show one person in a channel a message."""
    channel = request.channel()
    user = request.params.required("user")
    if not channel.has(user):
        raise ApiError(errors.USER_NOT_IN_CHANNEL)
    shows = content(request.platform, request.params)
    thread = rooms.thread_head(channel, request.params.text("thread_ts"))
    whispered = request.platform.whisper(
        channel,
        user,
        shows.text,
        user_id=request.app.user_id,
        blocks=shows.blocks,
        thread_ts=thread,
        **_author(request.app),
    )
    return {"message_ts": whispered.ts}


def get_permalink(request: Request) -> Json:
    """Return a message's address in the browser."""
    channel = rooms.find_channel(request.platform, request.app, request.params.required("channel"))
    message = rooms.find_message(channel, request.params.required("message_ts"))
    team = request.platform.world.teams[channel.team_id]
    link = f"https://{team.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def views_open(request: Request) -> Json:
    """Put a form in front of whoever acted."""
    body = view_body(request.platform, request.params.parsed("view", errors.INVALID_JSON))
    trigger = _exchange(request)
    return _viewed(request, request.platform.show(request.app, trigger.user_id, trigger.team_id, body))


def views_push(request: Request) -> Json:
    """Put a form on top of the one that the act came from."""
    body = view_body(request.platform, request.params.parsed("view", errors.INVALID_JSON))
    trigger = _exchange(request)
    below = request.platform.world.views.get(trigger.view_id)
    if below is None:
        raise ApiError(errors.VIEW_NOT_FOUND)
    stack = [one for one in request.platform.world.views.values() if one.root_id == below.root_id and one.open]
    if len(stack) >= MAX_VIEWS:
        raise ApiError(errors.PUSH_LIMIT)
    return _viewed(request, request.platform.show(request.app, trigger.user_id, trigger.team_id, body, below))


def views_update(request: Request) -> Json:
    """Change a form that is open; with `hash`, only if nobody has changed it since."""
    body = view_body(request.platform, request.params.parsed("view", errors.INVALID_JSON))
    view = _open_view(request)
    if request.params.has("hash") and request.params.text("hash") != view.hash:
        raise ApiError(errors.HASH_CONFLICT)
    return _viewed(request, request.platform.change_view(view, body))


def views_publish(request: Request) -> Json:
    """Put a home tab in front of a person."""
    body = view_body(request.platform, request.params.parsed("view", errors.INVALID_JSON))
    user = rooms.find_user(request.platform, request.app, request.params.required("user_id"))
    views = request.platform.world.views.values()
    home = next(
        (one for one in views if one.kind == "home" and (one.app_id, one.user_id) == (request.app.id, user.id)), None
    )
    if home:
        return _viewed(request, request.platform.change_view(home, body))
    return _viewed(request, request.platform.show(request.app, user.id, user.team_id, body))


def _exchange(request: Request) -> Trigger:
    """Return the trigger that the call names, and use it up: once, within three seconds."""
    trigger = request.platform.triggers.get(request.params.required("trigger_id"))
    if trigger is None or trigger.app_id != request.app.id:
        raise ApiError(errors.INVALID_TRIGGER)
    if trigger.used:
        raise ApiError(errors.EXCHANGED_TRIGGER)
    if request.platform.clock.now() - trigger.at > TRIGGER_SECONDS:
        raise ApiError(errors.EXPIRED_TRIGGER)
    trigger.used = True
    return trigger


def _open_view(request: Request) -> View:
    views, params = request.platform.world.views, request.params
    wanted, external = params.text("view_id"), params.text("external_id")
    found = (
        one for one in views.values() if one.id == wanted or (external and one.body.get("external_id") == external)
    )
    view = next(found, None)
    if view is None or not view.open or view.app_id != request.app.id:
        raise ApiError(errors.VIEW_NOT_FOUND)
    return view


def _viewed(request: Request, view: View) -> Json:
    return {"view": shapes.view(view, request.platform.world)}


def users_info(request: Request) -> Json:
    """Return a person; the address only to an app that may know it."""
    user = rooms.find_user(request.platform, request.app, request.params.required("user"))
    shape = shapes.user(user)
    if "users:read.email" in request.app.scopes and user.email:
        shape["profile"]["email"] = user.email
    return {"user": shape}


def users_lookup_by_email(request: Request) -> Json:
    """Return the person of the workspace with this address."""
    wanted = request.params.required("email").lower()
    teams = request.platform.world.teams_of(request.app)
    people = request.platform.world.users.values()
    found = next((one for one in people if one.team_id in teams and wanted == one.email.lower()), None)
    if found is None or found.deleted:
        raise ApiError(errors.USERS_NOT_FOUND)
    shape = shapes.user(found)
    shape["profile"]["email"] = found.email
    return {"user": shape}


def bots_info(request: Request) -> Json:
    """Return which app a bot is."""
    apps = request.platform.world.apps.values()
    found = next((one for one in apps if one.bot_id == request.params.text("bot")), None)
    if found is None:
        raise ApiError(errors.BOT_NOT_FOUND)
    return {"bot": {**shapes.bot_profile(found), "user_id": found.user_id}}


def team_info(request: Request) -> Json:
    """Return the workspace."""
    team = request.platform.world.teams[request.app.team_id]
    enterprise = {"enterprise_id": team.enterprise_id} if team.enterprise_id else {}
    return {"team": {"id": team.id, "name": team.name, "domain": team.domain, **enterprise}}


def conversations_open(request: Request) -> Json:
    """Open the direct conversation with a person, or with several."""
    ids = [one for one in request.params.text("users").split(",") if one]
    if not ids:
        raise ApiError(errors.USERS_NOT_GIVEN)
    people = [rooms.find_user(request.platform, request.app, one) for one in ids]
    if any(one.is_bot for one in people):
        raise ApiError(errors.CANT_DM_BOT)
    if any(one.deleted for one in people):
        raise ApiError(errors.USER_DISABLED)
    everyone = frozenset({request.app.user_id, *ids})
    channel, fresh = request.platform.direct(everyone, request.app.team_id)
    whole = shapes.channel(channel, request.app) if request.params.flag("return_im") else {"id": channel.id}
    return {"channel": whole, "no_op": not fresh, "already_open": not fresh}


def conversations_info(request: Request) -> Json:
    """Return a channel."""
    channel = rooms.readable(request.platform, request.app, request.params.required("channel"))
    shape = shapes.counted if request.params.flag("include_num_members") else shapes.channel
    return {"channel": shape(channel, request.app)}


def conversations_list(request: Request) -> Json:
    """Return the channels that the app knows, of the kinds it asks for."""
    names = (request.params.text("types") or "public_channel").split(",")
    kinds = [KIND_NAMES[one] for one in names if one in KIND_NAMES]
    for kind in kinds:
        rooms.check_scope(request.app, f"{SCOPE_FAMILY[kind]}:read")
    known = [one for one in request.platform.world.channels.values() if one.kind in kinds and _knows(request, one)]
    return _page(request, "channels", [shapes.counted(one, request.app) for one in known])


def users_conversations(request: Request) -> Json:
    """Return the channels that the app's bot is a member of, of the kinds it asks for."""
    names = (request.params.text("types") or "public_channel").split(",")
    kinds = [KIND_NAMES[one] for one in names if one in KIND_NAMES]
    for kind in kinds:
        rooms.check_scope(request.app, f"{SCOPE_FAMILY[kind]}:read")
    channels = (one for one in request.platform.world.channels.values() if one.kind in kinds)
    own = [one for one in channels if one.has(request.app.user_id)]
    return _page(request, "channels", [shapes.channel(one, request.app) for one in own])


def _knows(request: Request, channel: Channel) -> bool:
    at_home = channel.team_id in request.platform.world.teams_of(request.app)
    return channel.has(request.app.user_id) or (channel.kind == "channel" and at_home)


def conversations_members(request: Request) -> Json:
    """Return who is in a channel."""
    channel = rooms.readable(request.platform, request.app, request.params.required("channel"))
    return _page(request, "members", list(channel.members))


def conversations_join(request: Request) -> Json:
    """Let the app's bot into a public channel."""
    channel = rooms.find_channel(request.platform, request.app, request.params.required("channel"))
    if channel.kind != "channel":
        raise ApiError(errors.CANT_JOIN)
    if channel.archived:
        raise ApiError(errors.IS_ARCHIVED)
    request.platform.join(channel, request.app.user_id)
    return {"channel": shapes.channel(channel, request.app)}


def conversations_history(request: Request) -> Json:
    """Return a channel's messages, newest first; replies are in their threads."""
    channel = rooms.with_history(request.platform, request.app, request.params.required("channel"))
    heads = [one for one in channel.messages.values() if not one.is_reply or one.broadcast]
    newest = [one for one in reversed(heads) if _within(request.params, one.ts)]
    return _messages(request, newest)


def conversations_replies(request: Request) -> Json:
    """Return a thread, oldest first, its head among it."""
    channel = rooms.with_history(request.platform, request.app, request.params.required("channel"))
    found = channel.thread(rooms.head_of(channel, request.params.required("ts")))
    if not found:
        raise ApiError(errors.THREAD_NOT_FOUND)
    return _messages(request, [one for one in found if not one.is_reply or _within(request.params, one.ts)])


def _within(params: Params, ts: str) -> bool:
    oldest, latest = params.text("oldest") or "0", params.text("latest") or "9999999999"
    at_least = ts >= oldest if params.flag("inclusive") else ts > oldest
    return at_least and (ts <= latest if params.flag("inclusive") else ts < latest)


def _messages(request: Request, found: list[Message]) -> Json:
    world, root = request.platform.world, request.platform.root
    page = _page(request, "messages", [shapes.message(one, world, root) for one in found])
    return {**page, "has_more": bool(page["response_metadata"]["next_cursor"])}


def _page(request: Request, name: str, found: Sequence[Any]) -> Json:
    """Return a part of a list; the cursor is where the next part begins."""
    start, size = request.params.number("cursor", 0, 10**9), request.params.number("limit", 100, MAX_PAGE)
    left = len(found) > start + size
    return {name: found[start : start + size], "response_metadata": {"next_cursor": str(start + size) if left else ""}}


def reactions_add(request: Request) -> Json:
    """React to a message."""
    message, name = _reactable(request)
    if request.app.user_id in message.reacted(name):
        raise ApiError(errors.ALREADY_REACTED)
    request.platform.react(message, request.app.user_id, name, added=True)
    return {}


def reactions_remove(request: Request) -> Json:
    """Take a reaction back."""
    message, name = _reactable(request)
    if request.app.user_id not in message.reacted(name):
        raise ApiError(errors.NO_REACTION)
    request.platform.react(message, request.app.user_id, name, added=False)
    return {}


def _reactable(request: Request) -> tuple[Message, str]:
    name = request.params.required("name").strip(":")
    if not set(name) <= EMOJI_NAME_CHARACTERS or not name:
        raise ApiError(errors.INVALID_NAME)
    return _reacted_to(request), name


def _reacted_to(request: Request) -> Message:
    channel = rooms.find_channel(request.platform, request.app, request.params.required("channel"))
    if not channel.has(request.app.user_id):
        raise ApiError(errors.NOT_IN_CHANNEL)
    return rooms.find_message(channel, request.params.required("timestamp"))


def reactions_get(request: Request) -> Json:
    """Return a message with its reactions."""
    message = _reacted_to(request)
    shape = shapes.message(message, request.platform.world, request.platform.root)
    return {"type": "message", "channel": message.channel_id, "message": shape}


def connections_open(request: Request) -> Json:
    """Return an address for a socket."""
    if not request.app.socket_mode:
        raise ApiError(errors.SOCKET_MODE_OFF)
    ticket = f"{request.platform.number():08x}"
    root = request.platform.root.replace("http://", "ws://")
    return {"url": f"{root}/link/?ticket={ticket}&app_id={request.app.id}"}


def get_upload_url(request: Request) -> Json:
    """Return where a file's bytes may be sent."""
    number, snippet = request.platform.world.new_id("F"), request.params.text("snippet_type")
    made = File(number, request.params.required("filename"), user_id=request.app.user_id, snippet=snippet)
    request.params.required("length")
    request.platform.world.files[made.id] = made
    return {"upload_url": f"{request.platform.root}/upload/v1/{made.id}", "file_id": made.id}


def complete_upload(request: Request) -> Json:
    """Show uploaded files in a channel."""
    listed = request.params.parsed("files", errors.INVALID_JSON) or []
    files = tuple(_titled(request, one) for one in listed)
    if request.params.has("channel_id"):
        channel = rooms.writable(request.platform, request.app, request.params.text("channel_id"))
        request.platform.post(
            channel,
            request.app.user_id,
            request.params.text("initial_comment"),
            subtype="file_share",
            files=files,
            thread_ts=rooms.thread_head(channel, request.params.text("thread_ts")),
            **_author(request.app),
        )
    return {"files": [shapes.file(one, request.platform.root) for one in files]}


def _titled(request: Request, listed: Json) -> File:
    known = request.platform.world.files.get(str(listed.get("id")))
    if known is None or known.user_id != request.app.user_id:
        raise ApiError(errors.FILE_NOT_FOUND)
    request.platform.world.files[known.id] = replace(known, title=str(listed.get("title", "")))
    return request.platform.world.files[known.id]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what does it, which scope it wants (one of them), its tier, and whether it takes JSON.

    Methods that only read take no JSON body: what stands in one counts as not given.
    """

    run: Handler
    scopes: tuple[str, ...] = ()
    tier: int = 3
    takes_json: bool = True
    app_level: bool = False


METHODS: Final[Mapping[str, Method]] = {
    "api.test": Method(api_test, tier=4),
    "apps.connections.open": Method(connections_open, tier=1, app_level=True),
    "assistant.threads.setStatus": Method(panes.set_status, ("assistant:write", "chat:write"), 0),
    "assistant.threads.setSuggestedPrompts": Method(panes.set_suggested_prompts, ("assistant:write",), 4),
    "assistant.threads.setTitle": Method(panes.set_title, ("assistant:write",), 4),
    "auth.test": Method(auth_test, tier=4),
    "bots.info": Method(bots_info, ("users:read",), takes_json=False),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.getPermalink": Method(get_permalink, tier=4, takes_json=False),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",), 4),
    "chat.postMessage": Method(post_message, ("chat:write",), 0),
    "chat.update": Method(update, ("chat:write",)),
    "conversations.history": Method(conversations_history, takes_json=False),
    "conversations.info": Method(conversations_info, takes_json=False),
    "conversations.join": Method(conversations_join, ("channels:join",)),
    "conversations.list": Method(conversations_list, tier=2, takes_json=False),
    "conversations.members": Method(conversations_members, tier=4, takes_json=False),
    "conversations.open": Method(conversations_open, ("im:write", "mpim:write")),
    "conversations.replies": Method(conversations_replies, takes_json=False),
    "files.completeUploadExternal": Method(complete_upload, ("files:write",), 4),
    "files.getUploadURLExternal": Method(get_upload_url, ("files:write",), 4, takes_json=False),
    "reactions.add": Method(reactions_add, ("reactions:write",)),
    "reactions.get": Method(reactions_get, ("reactions:read",), takes_json=False),
    "reactions.remove": Method(reactions_remove, ("reactions:write",)),
    "team.info": Method(team_info, ("team:read",), takes_json=False),
    "users.conversations": Method(users_conversations, takes_json=False),
    "users.info": Method(users_info, ("users:read",), 4, takes_json=False),
    "users.lookupByEmail": Method(users_lookup_by_email, ("users:read.email",), takes_json=False),
    "views.open": Method(views_open, tier=4),
    "views.publish": Method(views_publish, tier=4),
    "views.push": Method(views_push, tier=4),
    "views.update": Method(views_update, tier=4),
}


def perform(name: str, request: Request) -> Json:
    """Carry out a call and return its answer's fields, or raise `ApiError`."""
    method = METHODS[name]
    rooms.check_scope(request.app, *method.scopes)
    if method.tier:
        wait = request.platform.flood.admit([((request.app.id, name, ""), TIERS[method.tier])])
        if wait:
            raise ApiError(errors.ratelimited(wait))
    return method.run(request)
