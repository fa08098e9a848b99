"""Reads the bodies of Slack's requests and events: their kind, author, team, channel, lane and time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from adapters.slack.surface import PLATFORM, is_direct, message_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The sub-type of a message in a thread that its author also shows in the channel.
BROADCAST = "thread_broadcast"
#: Sub-types of messages that people send. Other sub-types come from Slack or bots, or report that a message changed.
_SAID = frozenset({None, "file_share", BROADCAST})
#: Takes the place of a team or a person that Slack doesn't name.
UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Me:
    """The id of the workspace or organisation in which the app is installed, and the bot's own user id."""

    team: str
    user: str


def read(raw: bytes) -> dict[str, Any]:
    """Parse a request of Slack: JSON, a form with JSON in it, or a command's form.

    Raises ValueError, LookupError or TypeError if Slack can't have sent it.
    """
    try:
        if raw.lstrip()[:1] == b"{":
            found = json.loads(raw)
        else:
            form = {name: values[0] for name, values in parse_qs(raw.decode(), keep_blank_values=True).items()}
            found = json.loads(form["payload"]) if "payload" in form else form
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found


def event_of(body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id of an event, and its lane: the events of one lane are handled one after the other.

    Slack sends a message that mentions the bot twice: as a message and as a mention. Both events get the id of the
    message. A lane is a channel. Each person's presses and commands in a channel have a separate lane: a press or a
    command names its call, so it needn't wait for the messages in the channel. Raises LookupError if the event has no
    id.
    """
    event = fields_of(body.get("event"))
    if not event:
        if not body.keys() & {"type", "command"}:
            raise KeyError("type")
        user = fields_of(body.get("user")).get("id") or body.get("user_id", "")
        sent = json.dumps(body, sort_keys=True).encode()
        return hashlib.sha256(sent).hexdigest(), f"{PLATFORM}:{channel_of_press(body)}/press/{user}"
    channel = event.get("channel") or fields_of(event.get("item")).get("channel") or ""
    if is_message(event):
        return message_of(channel, event["ts"]), f"{PLATFORM}:{channel}"
    return str(body["event_id"]), f"{PLATFORM}:{channel}"


def author_of(body: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return channel, thread ('' for the channel itself) and author of a new message, or None for other events."""
    event = fields_of(body.get("event"))
    if event.get("type") != "message" or event.get("hidden") or "ts" not in event:
        return None
    channel, thread = str(event["channel"]), str(event.get("thread_ts") or "")
    return channel, "" if is_direct(channel) and thread == event["ts"] else thread, writer_of(event)


def writer_of(message: Mapping[str, Any]) -> str:
    """Return the id of the person or bot that wrote a message."""
    return str(message.get("user") or message.get("bot_id") or UNKNOWN)


def files_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the files in a new message."""
    files = fields_of(body.get("event")).get("files") or ()
    return tuple(str(fields_of(file).get("id")) for file in files)


def tells_of_agent_view(body: Mapping[str, Any]) -> bool:
    """Return whether the event shows that the app has the agent view.

    Slack sends what a person is viewing only to an app with the agent view.
    """
    event = fields_of(body.get("event"))
    direct = event.get("type") == "message" and is_direct(str(event.get("channel") or ""))
    return event.get("type") == "app_context_changed" or (direct and "app_context" in event)


def is_shared(body: Mapping[str, Any]) -> bool:
    """Return whether a member of another workspace may have caused the event, so that its team may be wrong.

    This is possible in channels that are shared with other organisations, and everywhere in an organisation of several
    workspaces.
    """
    grants = body.get("authorizations") or ()
    return bool(
        body.get("is_ext_shared_channel")
        or body.get("enterprise_id")
        or any(fields_of(grant).get("enterprise_id") for grant in grants)
    )


def is_message(event: Mapping[str, Any]) -> bool:
    """Return whether an event is a new message that a person may have written.

    Slack's notice that a message was changed isn't a new message.
    """
    return event.get("type") in {"message", "app_mention"} and event.get("subtype") in _SAID and "ts" in event


def team_of_author(body: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """Return the id of the author's own team.

    In a channel that is shared with other organisations, only the event's own fields name the author's team.
    """
    own = event.get("user_team") or event.get("team")
    if own or body.get("is_ext_shared_channel"):
        return str(own or UNKNOWN)
    return str(body.get("team_id") or body.get("enterprise_id") or UNKNOWN)


def team_of_presser(body: Mapping[str, Any]) -> str:
    """Return the id of the team of the person who pressed a button or sent a window."""
    enterprise, team = fields_of(body.get("enterprise")), fields_of(body.get("team"))
    return str(fields_of(body.get("user")).get("team_id") or team.get("id") or enterprise.get("id") or UNKNOWN)


def channel_in(body: Mapping[str, Any]) -> str:
    """Return the channel's id of an event of any kind, or '' if the event names no channel."""
    event = fields_of(body.get("event"))
    found = event.get("channel") or fields_of(event.get("item")).get("channel")
    return found if isinstance(found, str) else channel_of_press(body)


def channel_of_press(body: Mapping[str, Any]) -> str:
    """Return the channel's id of a press or a command, or '' if there is none."""
    container = fields_of(body.get("container"))
    found = fields_of(body.get("channel")).get("id") or container.get("channel_id") or body.get("channel_id")
    return str(found or "")


def moment(ts: Any) -> datetime | None:
    """Return the time of a Slack time stamp (seconds since 1970, with microseconds), or None for any other value."""
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def fields_of(value: Any) -> Mapping[str, Any]:
    """Return the fields of an object in a body, or no fields if the value isn't an object."""
    return value if isinstance(value, dict) else {}
