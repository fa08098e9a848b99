"""What a call names: the channel, message or person, or the refusal.

The order of the checks is the platform's: is there such a channel for this app, may its bot write
there, is the channel still open, is there such a message.
"""

from __future__ import annotations

import re
from typing import Final

from simulators.slack import errors
from simulators.slack.errors import ApiError
from simulators.slack.platform import Platform
from simulators.slack.state import SCOPE_FAMILY, App, Channel, Message, User

TS: Final = re.compile(r"\d{10}\.\d{6}")


def check_scope(app: App, *wanted: str) -> None:
    """Refuse a token that has none of the wanted scopes."""
    if wanted and not app.scopes & set(wanted):
        raise ApiError(errors.missing_scope(wanted, app.scopes))


def find_channel(platform: Platform, app: App, ref: str, *, by_name: bool = False) -> Channel:
    """Return the channel that an app may know of, by its id, or by name where that is taken."""
    channel = platform.world.channels.get(ref)
    if channel is None and by_name:
        channel = platform.world.channel_called(ref, app.team_id)
    if channel is None or not _known(platform, app, channel):
        raise ApiError(errors.CHANNEL_NOT_FOUND)
    return channel


def _known(platform: Platform, app: App, channel: Channel) -> bool:
    teams = {channel.team_id, *channel.shared_with}
    public = channel.kind == "channel" and bool(teams & platform.world.teams_of(app))
    return public or channel.has(app.user_id)


def readable(platform: Platform, app: App, ref: str, what: str = "read") -> Channel:
    """Return the channel that an app has the scope to read."""
    channel = find_channel(platform, app, ref)
    check_scope(app, f"{SCOPE_FAMILY[channel.kind]}:{what}")
    return channel


def with_history(platform: Platform, app: App, ref: str) -> Channel:
    """Return the channel whose messages an app may read: its bot must be in it."""
    channel = readable(platform, app, ref, "history")
    if not channel.has(app.user_id):
        raise ApiError(errors.NOT_IN_CHANNEL)
    return channel


def writable(platform: Platform, app: App, ref: str) -> Channel:
    """Return the channel that an app may write to; a person's id is the direct conversation with them."""
    user = platform.world.users.get(ref)
    if user:
        return direct_with(platform, app, user)
    channel = find_channel(platform, app, ref, by_name=True)
    if not channel.has(app.user_id) and "chat:write.public" not in app.scopes:
        raise ApiError(errors.NOT_IN_CHANNEL)
    if channel.archived:
        raise ApiError(errors.IS_ARCHIVED)
    return channel


def direct_with(platform: Platform, app: App, user: User) -> Channel:
    """Return the direct conversation of an app's bot with a person."""
    check_visible(platform, app, user)
    if user.is_bot:
        raise ApiError(errors.CANT_DM_BOT)
    return platform.direct(frozenset({user.id, app.user_id}), app.team_id)[0]


def find_user(platform: Platform, app: App, ref: str) -> User:
    """Return a person whom an app can see."""
    user = platform.world.users.get(ref)
    if user is None:
        raise ApiError(errors.USER_NOT_FOUND)
    check_visible(platform, app, user)
    return user


def check_visible(platform: Platform, app: App, user: User) -> None:
    """Refuse a person of another company with whom the app shares no channel."""
    at_home = user.team_id in platform.world.teams_of(app)
    met = any(one.has(app.user_id) and one.has(user.id) for one in platform.world.channels.values())
    if not at_home and not met:
        raise ApiError(errors.USER_NOT_VISIBLE)


def find_message(channel: Channel, ts: str) -> Message:
    """Return a message of a channel."""
    if ts not in channel.messages:
        raise ApiError(errors.MESSAGE_NOT_FOUND)
    return channel.messages[ts]


def thread_head(channel: Channel, ts: str) -> str:
    """Return the head of the thread that a ts names: a reply stands for its thread.

    A ts of a message that is gone is taken: Slack lets threads outlive their head.
    """
    if not ts:
        return ""
    if not TS.fullmatch(ts):
        raise ApiError(errors.INVALID_THREAD_TS)
    return head_of(channel, ts)


def head_of(channel: Channel, ts: str) -> str:
    """Return the same for a ts that may name anything."""
    named = channel.messages.get(ts)
    return named.thread_ts if named and named.is_reply else ts
