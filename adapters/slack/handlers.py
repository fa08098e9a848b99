"""Translates Slack's events into neutral events, and does nothing else.

These functions never judge who may decide. Some messages can't be anybody's decision: messages of bots and of this bot,
edited and deleted messages, broadcast copies, and previews of links. These functions skip such messages or set the
event's `barred` to a reason, because only Slack's own fields identify them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs

from adapters.slack.formatting import EMOJI, plain, shown
from adapters.slack.messages import APPROVE, CHOOSE, PAGE_ACTION, REASON_FIELD, packed
from adapters.slack.surface import PLATFORM, identity_of, is_direct, message_of, place_of
from hitl.call import Verb
from hitl.events import Command, Echo, Explained, Heard, Opened, PageTurned, Press, Reaction, Text
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Sub-types of messages that people send. Other sub-types come from Slack or bots, or report that a message changed.
_SAID = frozenset({None, "file_share", "thread_broadcast"})
_BROADCAST = "thread_broadcast"
_UNKNOWN = "?"
_SLACKBOT = "USLACKBOT"
#: A message of the bot is a card if it has one of these buttons: Approve, or the first option of a question.
_DECIDING = frozenset({APPROVE, f"{CHOOSE}:1"})
#: A command that a person types as a message, as in a thread, where Slack takes no commands.
_COMMAND = re.compile(r"/sayso (?P<name>[a-z]+)(?: (?P<rest>[^\n]*))?", re.IGNORECASE)
_TONE = re.compile(r"::skin-tone-[1-6]$")


@dataclass(frozen=True, slots=True)
class Me:
    """The id of the workspace or organisation in which the app is installed, and the bot's own user id."""

    team: str
    user: str


@dataclass(frozen=True, slots=True)
class Alone:
    """The ways to send one person an answer that only they see, or to open a window for them.

    `trigger` opens a window within three seconds. `view` is the window in which the person acted, and `page` is the
    number of the page that they want to see. `url` is Slack's response URL, which accepts answers even in channels in
    which the bot isn't a member. `home` says that the person is looking at the app's Home tab.
    """

    user: str
    channel: str = ""
    thread: str = ""
    trigger: str = ""
    url: str = ""
    view: str = ""
    page: int = 0
    home: bool = False

    def pack(self) -> str:
        """Return these fields as text for `Heard.press`."""
        return packed({name: value for name, value in asdict(self).items() if value})

    @classmethod
    def unpack(cls, text: str) -> Self:
        """Return the fields from the text of `pack`. Raises ValueError or TypeError for any other text."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Kept:
    """The data that Slack stores with a window: the call's ref, the place of its card, and the pressed button."""

    ref: str
    place: str
    channel: str = ""
    thread: str = ""
    verb: str = ""

    def pack(self) -> str:
        """Return these fields as text for the window's `private_metadata`."""
        return packed(asdict(self))

    @classmethod
    def unpack(cls, text: str) -> Self:
        """Return the fields from the text of `pack`. Raises ValueError or TypeError for any other text."""
        return cls(**json.loads(text))


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
    event = _fields(body.get("event"))
    if not event:
        if not body.keys() & {"type", "command"}:
            raise KeyError("type")
        user = _fields(body.get("user")).get("id") or body.get("user_id", "")
        sent = json.dumps(body, sort_keys=True).encode()
        return hashlib.sha256(sent).hexdigest(), f"{PLATFORM}:{_channel(body)}/press/{user}"
    channel = event.get("channel") or _fields(event.get("item")).get("channel") or ""
    if _is_message(event):
        return message_of(channel, event["ts"]), f"{PLATFORM}:{channel}"
    return str(body["event_id"]), f"{PLATFORM}:{channel}"


def author_of(body: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return channel, thread ('' for the channel itself) and author of a new message, or None for other events."""
    event = _fields(body.get("event"))
    if event.get("type") != "message" or event.get("hidden") or "ts" not in event:
        return None
    channel, thread = str(event["channel"]), str(event.get("thread_ts") or "")
    return channel, "" if is_direct(channel) and thread == event["ts"] else thread, writer_of(event)


def writer_of(message: Mapping[str, Any]) -> str:
    """Return the id of the person or bot that wrote a message."""
    return str(message.get("user") or message.get("bot_id") or _UNKNOWN)


def files_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the files in a new message."""
    files = _fields(body.get("event")).get("files") or ()
    return tuple(str(_fields(file).get("id")) for file in files)


def tells_of_agent_view(body: Mapping[str, Any]) -> bool:
    """Return whether the event shows that the app has the agent view.

    Slack sends what a person is viewing only to an app with the agent view.
    """
    event = _fields(body.get("event"))
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
        or any(_fields(grant).get("enterprise_id") for grant in grants)
    )


def said(body: Mapping[str, Any], me: Me) -> Heard | None:
    """Return the event for a message, a mention, a reaction, or the opening of one of the app's tabs or panes.

    Return None if nothing in it concerns Sayso. Like all functions in this module that read Slack's events, raises
    LookupError, TypeError or ValueError if Slack can't have sent the event.
    """
    event = _fields(body.get("event"))
    if event.get("type") == "reaction_added":
        return _reaction(body, event, me)
    if event.get("type") == "app_home_opened":
        return _home(body, event, me)
    if event.get("type") == "assistant_thread_started":
        return _pane(body, event, me)
    if not _is_message(event):
        return None
    return _echo(event, me) if event.get("user") == me.user else _message(body, event, me)


def _echo(event: Mapping[str, Any], me: Me) -> Heard | None:
    """Return an `Echo` for a card of the bot that Slack sends back as an event, or None for the bot's other messages.

    In a direct conversation, the event's place has the channel's id, and not yet the person's id.
    """
    elements = (element for block in event.get("blocks") or () for element in _fields(block).get("elements") or ())
    data = next((found.get("value") for found in map(_fields, elements) if found.get("action_id") in _DECIDING), None)
    if not isinstance(data, str):
        return None
    channel, ts, thread = event["channel"], event["ts"], event.get("thread_ts") or ""
    return Echo(
        identity=identity_of(me.team, me.user),
        conversation=place_of(me.team, channel, "" if thread == ts else thread),
        message=message_of(channel, ts),
        data=data,
    )


def _home(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Command | Opened | None:
    """Return the event for the opening of one of the app's tabs, or None for a tab that Sayso doesn't use.

    Opening the Home tab is the command `pending` in the person's private conversation. The answer appears on the tab.
    On the Messages tab of the agent view, people write to the agent, so opening that tab is an `Opened` event.
    """
    tab, user = event.get("tab"), str(event["user"])
    identity, place = identity_of(_team(body, event), user), place_of(me.team, user)
    if tab == "messages":
        return Opened(identity=identity, conversation=place)
    if tab != "home":
        return None
    press = Alone(user, str(event["channel"]), home=True).pack()
    at = _moment(event.get("event_ts"))
    return Command(identity=identity, conversation=place, press=press, name="pending", at=at)


def _pane(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Opened:
    """Return the event for the opening of a thread in the assistant view's pane.

    In the pane, a person can write only after the app's first message. Newer apps have the agent view instead of this
    view.
    """
    opened = event["assistant_thread"]
    user, thread = str(opened["user_id"]), str(opened["thread_ts"])
    identity = identity_of(_team(body, event), user)
    return Opened(identity=identity, conversation=place_of(me.team, user, thread), waits=True)


def _is_message(event: Mapping[str, Any]) -> bool:
    """Return whether an event is a new message that a person may have written.

    Slack's notice that a message was changed is no new message.
    """
    return event.get("type") in {"message", "app_mention"} and event.get("subtype") in _SAID and "ts" in event


def _message(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Heard | None:
    user, text = event.get("user"), str(event.get("text") or "")
    if user in {None, "", me.user, _SLACKBOT} or event.get("bot_id") or event.get("hidden"):
        return None
    user = str(user)
    channel, ts, thread = event["channel"], event["ts"], event.get("thread_ts") or ""
    direct = is_direct(channel)
    if direct and thread == ts:
        thread = ""  # the first message of a thread belongs to the conversation itself
    mentioned = f"<@{me.user}>" in text or f"<@{me.user}|" in text
    root = thread or (ts if mentioned and not direct else "")
    said = shown(event, me.user)
    heard = Text(
        identity=identity_of(_team(body, event), user),
        conversation=place_of(me.team, user if direct else channel, root),
        message=message_of(channel, ts),
        thread=message_of(channel, thread) if thread else None,
        text=said.text,
        spans=said.spans,
        press=Alone(user, channel, root).pack(),
        private=direct or bool(thread),
        addressed=direct or mentioned,
        overheard=bool(thread) and event.get("parent_user_id") == me.user,
        at=_moment(ts),
    )
    barred = _barred(event, heard.identity)
    if barred:
        return replace(heard, barred=barred)
    return (_typed_command(heard) if direct else None) or heard


def _typed_command(heard: Text) -> Command | None:
    """Return the command if a text in a direct conversation is a command; otherwise return None.

    In a thread, Slack takes no commands, so people type them as text. A suggested prompt sends a text too. A formatted
    text is no command.
    """
    found = None if heard.spans else _COMMAND.fullmatch(heard.text.strip())
    if found is None:
        return None
    return Command(
        identity=heard.identity,
        conversation=heard.conversation,
        message=heard.message,
        press=heard.press,
        name=found["name"].casefold(),
        text=(found["rest"] or "").strip(),
        at=heard.at,
    )


def _barred(event: Mapping[str, Any], identity: str) -> str | None:
    """Return the code of the reason why a message can't decide a call (such as `chat.edited`), or None if it can.

    An edited message can't decide. A message that was fetched from the history may have been edited since it was sent.
    """
    if _UNKNOWN in identity:
        return "chat.stranger"
    if event.get("subtype") == _BROADCAST:
        return "chat.broadcast"
    if event.get("edited"):
        return "chat.edited"
    return "chat.bot" if event.get("app_id") else None


def _reaction(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Heard | None:
    item, user = _fields(event.get("item")), str(event["user"])
    if item.get("type") != "message" or user == me.user:
        return None
    channel = item["channel"]
    name = _TONE.sub("", str(event["reaction"]))
    return Reaction(
        identity=identity_of(_team(body, event), user),
        conversation=place_of(me.team, user if is_direct(channel) else channel),
        message=message_of(channel, item["ts"]),
        text=EMOJI.get(name, f":{name}:"),
        press=Alone(user, channel).pack(),
        at=_moment(event.get("event_ts")),
    )


def pressed(body: Mapping[str, Any], me: Me) -> Press | PageTurned:
    """Return the event for a button press, on a message or in a window."""
    action = body["actions"][0]
    name = str(action.get("action_id", ""))
    page = name.removeprefix(f"{PAGE_ACTION}:")
    value, (alone, where) = str(action.get("value", "")), _pressed(body, me)
    if page == name:
        return Press(**where, press=alone.pack(), data=value, at=_moment(action.get("action_ts")))
    return PageTurned(**where, press=replace(alone, page=int(page)).pack(), ref=value)


def stray_press(body: Mapping[str, Any], me: Me) -> Press:
    """Return the event for a press of a button that this version doesn't have.

    The event has no data, because this version of the service didn't write the button's value.
    """
    alone, where = _pressed(body, me)
    return Press(**where, press=alone.pack(), stray=True, at=_moment(body["actions"][0].get("action_ts")))


def _pressed(body: Mapping[str, Any], me: Me) -> tuple[Alone, dict[str, Any]]:
    """Return the ways to answer the person who pressed a button, and the identity, conversation and message of the
    event.

    For a press in a window, the conversation is the one in which the window was opened. The window stores it.
    """
    user, view, container = body["user"]["id"], _fields(body.get("view")), _fields(body.get("container"))
    if view:
        kept = Kept.unpack(view["private_metadata"])
        where, channel, thread, message = kept.place, kept.channel, kept.thread, None
    else:
        channel, ts = _channel(body), str(container.get("message_ts") or "")
        thread = str(container.get("thread_ts") or _fields(body.get("message")).get("thread_ts") or "")
        thread = "" if thread == ts else thread
        where = place_of(me.team, user if is_direct(channel) else channel, thread)
        message = message_of(channel, ts) if ts else None
    alone = Alone(
        user, channel, thread, str(body.get("trigger_id", "")), str(body.get("response_url", "")), view.get("id", "")
    )
    return alone, {"identity": identity_of(_team_of_user(body), user), "conversation": where, "message": message}


def explained(body: Mapping[str, Any], me: Me) -> Explained:
    """Return the event for a reason or an answer that was entered in a window."""
    del me
    view = body["view"]
    kept, user = Kept.unpack(view["private_metadata"]), body["user"]["id"]
    return Explained(
        identity=identity_of(_team_of_user(body), user),
        conversation=kept.place,
        press=Alone(user, kept.channel, kept.thread).pack(),
        ref=kept.ref,
        verb=Verb(kept.verb),
        text=str(view["state"]["values"][REASON_FIELD][REASON_FIELD].get("value") or "").strip(),
    )


def commanded(body: Mapping[str, Any], me: Me) -> Command:
    """Return the event for the command `/sayso WORD ...`.

    Slack has no commands in threads, so a command is for the whole channel, with all its threads.
    """
    user, channel = body["user_id"], body["channel_id"]
    word, _, rest = str(body.get("text") or "").strip().partition(" ")
    team = body.get("team_id") or body.get("enterprise_id") or _UNKNOWN
    alone = Alone(user, channel, "", str(body.get("trigger_id", "")), str(body.get("response_url", "")))
    return Command(
        identity=identity_of(team, user),
        conversation=place_of(me.team, user if is_direct(channel) else channel),
        press=alone.pack(),
        name=word.casefold() or "help",
        text=plain(rest.strip()),
    )


def _team(body: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """Return the id of the author's own team.

    In a channel that is shared with other organisations, only the event's own fields name the author's team.
    """
    own = event.get("user_team") or event.get("team")
    if own or body.get("is_ext_shared_channel"):
        return str(own or _UNKNOWN)
    return str(body.get("team_id") or body.get("enterprise_id") or _UNKNOWN)


def _team_of_user(body: Mapping[str, Any]) -> str:
    enterprise, team = _fields(body.get("enterprise")), _fields(body.get("team"))
    return str(_fields(body.get("user")).get("team_id") or team.get("id") or enterprise.get("id") or _UNKNOWN)


def channel_in(body: Mapping[str, Any]) -> str:
    """Return the channel's id of an event of any kind, or '' if the event names no channel."""
    event = _fields(body.get("event"))
    found = event.get("channel") or _fields(event.get("item")).get("channel")
    return found if isinstance(found, str) else _channel(body)


def _channel(body: Mapping[str, Any]) -> str:
    container = _fields(body.get("container"))
    found = _fields(body.get("channel")).get("id") or container.get("channel_id") or body.get("channel_id")
    return str(found or "")


def _moment(ts: Any) -> datetime | None:
    """Return the time of a Slack time stamp (seconds since 1970, with microseconds), or None for any other value."""
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
