"""The events that apps hear of: their shapes, and who hears which.

An app hears an event that it is subscribed to and has the scope for, of channels that its bot is in.
Its own bot's messages and reactions come back to it too, as they do on Slack.
"""

from __future__ import annotations

from typing import Final

from hitl.records import replace
from simulators.slack import shapes
from simulators.slack.errors import Json
from simulators.slack.state import CHANNEL_TYPES, SCOPE_FAMILY, App, Channel, Kind, Message, World

MESSAGES: Final[dict[Kind, str]] = {
    "channel": "message.channels",
    "private": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}
# The scope that a subscription needs; a message's depends on the channel.
SCOPES: Final = {
    "app_mention": "app_mentions:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "user_change": "users:read",
}
FAMILY_READS: Final = frozenset({"member_joined_channel", "member_left_channel", "channel_archive", "group_archive"})


def needed_scope(subscription: str, channel: Channel | None) -> str:
    """Return the scope that an app needs to hear of this, "" for none."""
    if channel and subscription.startswith("message."):
        return f"{SCOPE_FAMILY[channel.kind]}:history"
    if channel and subscription in FAMILY_READS:
        return f"{SCOPE_FAMILY[channel.kind]}:read"
    return SCOPES.get(subscription, "")


def hears(app: App, subscription: str, channel: Channel | None) -> bool:
    """Whether an app hears of this kind of event in this channel."""
    if not app.reachable or subscription not in app.events:
        return False
    scope = needed_scope(subscription, channel)
    allowed = not scope or scope in app.scopes
    return allowed and (channel is None or channel.has(app.user_id))


def message(one: Message, world: World, root: str) -> Json:
    """Return the event of a new message."""
    channel = world.channels[one.channel_id]
    event = {**shapes.message(one, world, root), **_abroad(one, channel, world), **_where(channel), "event_ts": one.ts}
    if one.broadcast:
        parent = channel.messages.get(one.thread_ts)
        event |= {"subtype": "thread_broadcast", **({"root": shapes.message(parent, world, root)} if parent else {})}
    return event


def _abroad(one: Message, channel: Channel, world: World) -> Json:
    """Return whose company an external author is of."""
    author = world.users.get(one.user_id)
    if author is None or author.team_id == channel.team_id:
        return {}
    return {"user_team": author.team_id, "source_team": author.team_id}


def changed(one: Message, before: Message, world: World, root: str, ts: str) -> Json:
    """Return the event of a message that is another now; it names no user of its own."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": shapes.message(one, world, root),
        "previous_message": shapes.message(before, world, root),
        **_hidden(one, world, ts),
    }


def deleted(one: Message, world: World, root: str, ts: str) -> Json:
    """Return the event of a message that is gone."""
    before = shapes.message(replace(one, reactions=()), world, root)
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": before,
        "deleted_ts": one.ts,
        **_hidden(one, world, ts),
    }


def _hidden(one: Message, world: World, ts: str) -> Json:
    return {**_where(world.channels[one.channel_id]), "hidden": True, "ts": ts, "event_ts": ts}


def _where(channel: Channel) -> Json:
    return {"channel": channel.id, "channel_type": CHANNEL_TYPES[channel.kind]}


def mention(one: Message, world: World, root: str) -> Json:
    """Return the event of a message that names the app's bot."""
    event = message(one, world, root) | {"type": "app_mention"}
    return {name: value for name, value in event.items() if name not in {"channel_type", "subtype", "root"}}


def reaction(kind: str, one: Message, user_id: str, name: str, ts: str) -> Json:
    """Return the event of a reaction, added or removed."""
    return {
        "type": kind,
        "user": user_id,
        "reaction": name,
        "item": {"type": "message", "channel": one.channel_id, "ts": one.ts},
        **shapes.filled(item_user=one.user_id),
        "event_ts": ts,
    }


def member(kind: str, channel: Channel, user_id: str, inviter: str, ts: str) -> Json:
    """Return the event of somebody who came or went."""
    letter = "C" if channel.kind == "channel" else "G"
    return {
        "type": kind,
        "user": user_id,
        "channel": channel.id,
        "channel_type": letter,
        "team": channel.team_id,
        **shapes.filled(inviter=inviter),
        "event_ts": ts,
    }


def envelope(app: App, event: Json, team_id: str, event_id: str, at: int, world: World, *, external: bool) -> Json:
    """Return an event as it is delivered to an app."""
    enterprise = world.teams[app.team_id].enterprise_id or None
    authorization = {
        "enterprise_id": enterprise,
        "team_id": None if app.org_wide else app.team_id,
        "user_id": app.user_id,
        "is_bot": True,
        "is_enterprise_install": app.org_wide,
    }
    return {
        "token": app.verification_token,
        "team_id": team_id,
        **({"enterprise_id": enterprise} if enterprise else {}),
        "context_team_id": team_id,
        "context_enterprise_id": enterprise,
        "api_app_id": app.id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": at,
        "authorizations": [authorization],
        "is_ext_shared_channel": external,
        "event_context": f"4-{event_id}",
    }
