"""The Web API's objects: state to JSON, in the shapes of the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from simulators.slack.errors import Json
from simulators.slack.state import App, Channel, File, Message, User, View, World

#: Sub-types of messages that somebody typed.
TYPED: Final = frozenset({"", "file_share", "thread_broadcast"})
#: Sub-type of the message that heads an assistant thread. Slack writes it in the app's name.
ASSISTANT_HEAD: Final = "assistant_app_thread"


def filled(**fields: Any) -> Json:
    """Return the fields that say something."""
    return {name: value for name, value in fields.items() if value not in ("", None, (), [], {})}


def user(one: User) -> Json:
    """Return a user, without what needs a scope of its own."""
    profile = {"real_name": one.real_name, "display_name": one.name, "team": one.team_id}
    return {
        "id": one.id,
        "team_id": one.team_id,
        "name": one.name,
        "real_name": one.real_name,
        "deleted": one.deleted,
        "is_bot": one.is_bot,
        "is_app_user": False,
        "tz": "Etc/UTC",
        "tz_offset": 0,
        "profile": {**profile, **filled(bot_id=one.bot_id, api_app_id=one.app_id)},
        "updated": 1_700_000_000,
        **({"enterprise_user": _enterprise_user(one)} if one.enterprise_id else {}),
    }


def _enterprise_user(one: User) -> Json:
    return {"id": one.id, "enterprise_id": one.enterprise_id, "is_admin": False, "teams": [one.team_id]}


def channel(one: Channel, app: App) -> Json:
    """Return a conversation as an app sees it."""
    base = {"id": one.id, "is_archived": one.archived, "is_im": one.kind == "im", "is_mpim": one.kind == "mpim"}
    if one.kind == "im":
        other = next((member for member in one.members if member != app.user_id), app.user_id)
        return {**base, "user": other, "is_open": True, "is_user_deleted": False}
    return {
        **base,
        "name": one.name,
        "name_normalized": one.name,
        "is_channel": one.kind == "channel",
        "is_group": False,
        "is_private": one.kind != "channel",
        "is_member": one.has(app.user_id),
        "is_shared": bool(one.shared_with),
        "is_ext_shared": bool(one.shared_with),
        "is_org_shared": False,
        "is_general": one.name == "general",
        "context_team_id": one.team_id,
    }


def counted(one: Channel, app: App) -> Json:
    """Return a conversation with the number of its members, which a list has and a single one has if it is asked for.

    "conversations.info": `include_num_members`, false by default; "conversations.list": its typical answer.
    """
    return {**channel(one, app), **({} if one.kind == "im" else {"num_members": len(one.members)})}


def file(one: File, root: str) -> Json:
    """Return a file."""
    return {
        "id": one.id,
        "name": one.name,
        "title": one.title or one.name,
        "mimetype": one.mime,
        "size": len(one.content),
        "user": one.user_id,
        "mode": "snippet" if one.snippet else "hosted",
        "is_external": False,
        "url_private": f"{root}/files/{one.id}",
        "url_private_download": f"{root}/files/{one.id}",
    }


def bot_profile(app: App) -> Json:
    """Return who a bot's messages are by."""
    return {
        "id": app.bot_id,
        "app_id": app.id,
        "name": app.name,
        "deleted": not app.installed,
        "team_id": app.team_id,
        "icons": {},
        "updated": 1_700_000_000,
    }


def message(one: Message, world: World, root: str = "") -> Json:
    """Return a message; what only its receiver sees is no part of it."""
    return {
        "type": "message",
        **filled(subtype=one.subtype, user=one.user_id, username=one.username),
        "text": one.text,
        "ts": one.ts,
        **_typed(one),
        **_team(one, world),
        **_bot(one, world),
        **filled(blocks=list(one.blocks), files=[file(each, root) for each in one.files], metadata=one.metadata),
        **_thread(one, world),
        **_assistant(one, world),
        **({"edited": {"user": one.edited_by, "ts": one.edited_at}} if one.edited_at else {}),
        **filled(reactions=[reaction(*each) for each in one.reactions]),
    }


def _typed(one: Message) -> Json:
    """Return the id that the program gave a message in which a person typed it (`GenericMessageEvent`)."""
    if not one.user_id or one.bot_id or one.subtype not in TYPED:
        return {}
    return {"client_msg_id": str(uuid5(NAMESPACE_URL, f"{one.channel_id}/{one.ts}"))}


def _team(one: Message, world: World) -> Json:
    author = world.users.get(one.user_id)
    return {"team": author.team_id} if author else {}


def _bot(one: Message, world: World) -> Json:
    if not one.bot_id:
        return {}
    app = world.apps.get(one.app_id)
    return {"bot_id": one.bot_id, **({"app_id": app.id, "bot_profile": bot_profile(app)} if app else {})}


def _thread(one: Message, world: World) -> Json:
    channel = world.channels[one.channel_id]
    if one.is_reply:
        parent = channel.messages.get(one.thread_ts)
        return {"thread_ts": one.thread_ts, **filled(parent_user_id=parent.user_id if parent else "")}
    replies = [each for each in channel.messages.values() if each.thread_ts == one.ts and each.is_reply]
    if not replies:
        return {}
    people = list(dict.fromkeys(each.user_id or each.bot_id for each in replies))
    return {
        "thread_ts": one.ts,
        "reply_count": len(replies),
        "reply_users_count": len(people),
        "reply_users": people[:5],
        "latest_reply": replies[-1].ts,
    }


def _assistant(one: Message, world: World) -> Json:
    """Return what the head of an assistant thread has beside its text ("assistant_app_thread message")."""
    if one.subtype != ASSISTANT_HEAD:
        return {}
    title = world.channels[one.channel_id].titles.get(one.ts, one.text)
    return {"thread_ts": one.ts, "assistant_app_thread": {"title": title, "title_blocks": [], "artifacts": []}}


def reaction(name: str, users: Iterable[str]) -> Json:
    """Return a reaction and its people."""
    found = list(users)
    return {"name": name, "users": found, "count": len(found)}


def view(one: View, world: World, values: Json | None = None) -> Json:
    """Return a view with what stands in its fields."""
    app = world.apps[one.app_id]
    return {
        "id": one.id,
        "team_id": one.team_id,
        "type": one.kind,
        "blocks": list(one.blocks),
        "private_metadata": one.private_metadata,
        "callback_id": one.callback_id,
        "state": {"values": values or {}},
        "hash": one.hash,
        "title": one.body.get("title"),
        "clear_on_close": one.body.get("clear_on_close", False),
        "notify_on_close": one.body.get("notify_on_close", False),
        "close": one.body.get("close"),
        "submit": one.body.get("submit"),
        "previous_view_id": one.previous_id or None,
        "root_view_id": one.root_id,
        "app_id": one.app_id,
        "external_id": one.body.get("external_id", ""),
        "app_installed_team_id": app.team_id,
        "bot_id": app.bot_id,
    }


def seen(one: Message, world: World) -> Json:
    """Return a message for the control: as it is, and as people see it."""
    looks = one.shown
    author = world.users.get(one.user_id)
    return {
        **message(one, world),
        "channel": one.channel_id,
        "author": author.name if author else one.username,
        "shown": looks.text,
        "marks": [{"kind": each.kind, "text": each.text, "target": each.target} for each in looks.marks],
        "buttons": [{"label": each.label, "action_id": each.action_id, "value": each.value} for each in looks.buttons],
        "edits": one.edits,
        "visible_to": one.visible_to,
    }


def seen_view(one: View, world: World) -> Json:
    """Return a view for the control."""
    looks = one.shown
    fields = [
        {"label": each.label, "block_id": each.block_id, "action_id": each.action_id, "optional": each.optional}
        for each in looks.fields
    ]
    buttons = [{"label": each.label, "action_id": each.action_id, "value": each.value} for each in looks.buttons]
    return {
        **view(one, world),
        "user": one.user_id,
        "open": one.open,
        "errors": one.errors,
        "shown": looks.text,
        "fields": fields,
        "buttons": buttons,
    }
