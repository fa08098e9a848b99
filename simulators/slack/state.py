"""What the platform knows: workspaces, people, apps, channels, messages, files, views.

Records are frozen and evolve by `replace`; those that change, `App`, `Channel` and `World`, hold them.
Nothing here speaks HTTP or knows of a running server.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from hitl.records import replace
from simulators.slack.errors import Json
from simulators.slack.sight import Button, Field, Shown, shown

Kind = Literal["channel", "private", "im", "mpim"]
# The view for agents that an app's manifest declares: none, the assistant view of older apps, or the agent view.
Pane = Literal["", "assistant", "agent"]

# What events call a kind of channel, and the scopes that let an app see one and read along.
CHANNEL_TYPES: Final[dict[Kind, str]] = {"channel": "channel", "private": "group", "im": "im", "mpim": "mpim"}
SCOPE_FAMILY: Final[dict[Kind, str]] = {"channel": "channels", "private": "groups", "im": "im", "mpim": "mpim"}
PREFIXES: Final[dict[Kind, str]] = {"channel": "C", "private": "C", "im": "D", "mpim": "G"}

ALL_SCOPES: Final = frozenset(
    "app_mentions:read assistant:write channels:history channels:join channels:read chat:write chat:write.public"
    " commands files:read files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read"
    " mpim:write reactions:read reactions:write team:read users:read users:read.email".split()
)
ALL_EVENTS: Final = frozenset(
    "app_context_changed app_home_opened app_mention app_uninstalled assistant_thread_context_changed"
    " assistant_thread_started channel_archive group_archive member_joined_channel"
    " member_left_channel message.channels message.groups message.im message.mpim reaction_added"
    " reaction_removed tokens_revoked user_change".split()
)


@dataclass(frozen=True, slots=True)
class Team:
    """A workspace, perhaps of an enterprise."""

    id: str
    name: str
    domain: str
    enterprise_id: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """A person or a bot. `team_id` is their home: a person of another team comes by Slack Connect."""

    id: str
    team_id: str
    name: str
    real_name: str
    email: str = ""
    is_bot: bool = False
    deleted: bool = False
    bot_id: str = ""
    app_id: str = ""
    enterprise_id: str = ""


@dataclass(slots=True)
class App:
    """An installed app: its tokens, what it may and hears, and where it is reached.

    `request_url` is where HTTP deliveries go; with `socket_mode` they go over its sockets instead.
    An app with `org_wide` is installed on the enterprise: its payloads name no team in `team_id`'s place.
    `pane` is its view for agents.
    """

    id: str
    name: str
    team_id: str
    bot: User
    bot_id: str
    bot_token: str
    app_token: str
    signing_secret: str
    verification_token: str
    scopes: frozenset[str] = ALL_SCOPES
    app_scopes: frozenset[str] = frozenset({"connections:write"})
    events: frozenset[str] = ALL_EVENTS
    commands: frozenset[str] = frozenset()
    request_url: str = ""
    socket_mode: bool = False
    org_wide: bool = False
    installed: bool = True
    pane: Pane = ""

    @property
    def user_id(self) -> str:
        """Return its bot user's id."""
        return self.bot.id

    @property
    def reachable(self) -> bool:
        """Whether there is anywhere to tell it of events."""
        return self.installed and (self.socket_mode or bool(self.request_url))


@dataclass(frozen=True, slots=True)
class File:
    """An uploaded file with its bytes."""

    id: str
    name: str
    content: bytes = b""
    title: str = ""
    user_id: str = ""
    mime: str = "text/plain"
    #: The type of a snippet, '' for a file that isn't a snippet.
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """What a message showed before an edit."""

    text: str
    blocks: tuple[Json, ...]

    @property
    def shown(self) -> Shown:
        """Return what people saw."""
        return shown(self.text, self.blocks)


@dataclass(frozen=True, slots=True)
class Message:
    """A message in a channel, or one that only `visible_to` sees.

    `text` and `blocks` are as sent; `shown` is what people see of them. `user_id` is "" for a bot of
    the old kind, which only has a name. `reactions` says who reacted with what. `history` holds what
    edits replaced, oldest first.
    """

    channel_id: str
    ts: str
    user_id: str
    text: str = ""
    blocks: tuple[Json, ...] = ()
    app_id: str = ""
    bot_id: str = ""
    username: str = ""
    subtype: str = ""
    thread_ts: str = ""
    broadcast: bool = False
    files: tuple[File, ...] = ()
    edited_by: str = ""
    edited_at: str = ""
    history: tuple[Version, ...] = ()
    reactions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    visible_to: str = ""
    unfurl_links: bool | None = None
    unfurl_media: bool | None = None
    metadata: Json | None = None

    @property
    def shown(self) -> Shown:
        """Return what people see."""
        return shown(self.text, self.blocks)

    @property
    def buttons(self) -> tuple[Button, ...]:
        """Return its buttons in reading order."""
        return self.shown.buttons

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the words on them."""
        return self.shown.labels

    @property
    def edits(self) -> int:
        """Return how often it was edited."""
        return len(self.history)

    @property
    def is_reply(self) -> bool:
        """Whether it stands in a thread, and not at its head."""
        return bool(self.thread_ts) and self.thread_ts != self.ts

    def edit(self, at: str, by: str, text: str, blocks: tuple[Json, ...]) -> Message:
        """Return the message after an edit, which remembers what it showed."""
        history = (*self.history, Version(self.text, self.blocks))
        return replace(self, text=text, blocks=blocks, edited_at=at, edited_by=by, history=history)

    def reacted(self, name: str) -> tuple[str, ...]:
        """Return who reacted with this."""
        return dict(self.reactions).get(name, ())

    def react(self, name: str, users: tuple[str, ...]) -> Message:
        """Return the message with this reaction's people replaced."""
        others = tuple(one for one in self.reactions if one[0] != name)
        return replace(self, reactions=(*others, (name, users)) if users else others)


@dataclass(slots=True)
class Channel:
    """A channel or direct conversation with its members and messages; `shared_with` names other teams in it.

    `titles` has the titles of its assistant threads by their heads, and `prompts` the suggested prompts: title and
    message of each, by the head of the thread in which they are shown ("" for the conversation itself).
    """

    id: str
    kind: Kind
    team_id: str
    name: str = ""
    members: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    deleted: dict[str, Message] = field(default_factory=dict)
    archived: bool = False
    shared_with: tuple[str, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    prompts: dict[str, dict[str, str]] = field(default_factory=dict)

    def has(self, user_id: str) -> bool:
        """Whether someone is in it."""
        return user_id in self.members

    def thread(self, ts: str) -> list[Message]:
        """Return a message and its replies, oldest first."""
        return [one for one in self.messages.values() if ts in {one.ts, one.thread_ts}]

    def put(self, message: Message) -> Message:
        """Keep a message, new or changed."""
        self.messages[message.ts] = message
        return message

    def drop(self, ts: str) -> Message:
        """Delete a message."""
        self.deleted[ts] = self.messages.pop(ts)
        return self.deleted[ts]


@dataclass(frozen=True, slots=True)
class View:
    """A form in front of a person; `errors` are those shown at its fields, by block_id."""

    id: str
    app_id: str
    user_id: str
    team_id: str
    body: Json
    hash: str
    root_id: str
    previous_id: str = ""
    open: bool = True
    errors: Json = field(default_factory=dict)

    @property
    def blocks(self) -> tuple[Json, ...]:
        """Return its blocks."""
        return tuple(self.body["blocks"])

    @property
    def kind(self) -> str:
        """Return modal or home."""
        return str(self.body["type"])

    @property
    def title(self) -> str:
        """Return the words at its head."""
        return str(self.body.get("title", {}).get("text", ""))

    @property
    def callback_id(self) -> str:
        """Return what the app calls it."""
        return str(self.body.get("callback_id", ""))

    @property
    def private_metadata(self) -> str:
        """Return what the app keeps in it, unseen."""
        return str(self.body.get("private_metadata", ""))

    @property
    def shown(self) -> Shown:
        """Return what the person sees."""
        return shown("", self.blocks)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return its fields in reading order."""
        return self.shown.fields


class World:
    """Everyone and everything on the server."""

    def __init__(self) -> None:
        self.teams: dict[str, Team] = {}
        self.users: dict[str, User] = {}
        self.apps: dict[str, App] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, File] = {}
        self.views: dict[str, View] = {}
        self.ephemerals: list[Message] = []
        self._ids: Iterator[int] = itertools.count(1)

    def new_id(self, prefix: str) -> str:
        """Return an id that nothing has: a letter that says what it is of, then capitals and digits."""
        return f"{prefix}0{next(self._ids) * 7_368_787 % 36**6:09X}"

    def app_by_token(self, token: str) -> App | None:
        """Return the app with this bot or app-level token."""
        return next((one for one in self.apps.values() if token in {one.bot_token, one.app_token}), None)

    def app_of(self, user_id: str) -> App | None:
        """Return the app whose bot this is."""
        return next((one for one in self.apps.values() if one.user_id == user_id), None)

    def teams_of(self, app: App) -> set[str]:
        """Return the teams that an app is installed in."""
        home = self.teams[app.team_id]
        if not app.org_wide:
            return {home.id}
        return {one.id for one in self.teams.values() if one.enterprise_id == home.enterprise_id}

    def apps_in(self, channel: Channel) -> list[App]:
        """Return the installed apps whose bots are in a channel."""
        return [one for one in self.apps.values() if one.installed and channel.has(one.user_id)]

    def direct(self, users: frozenset[str]) -> Channel | None:
        """Return the direct conversation of exactly these people."""
        direct = (one for one in self.channels.values() if one.kind in {"im", "mpim"})
        return next((one for one in direct if frozenset(one.members) == users), None)

    def channel_called(self, name: str, team_id: str) -> Channel | None:
        """Return a team's channel by its name."""
        wanted = name.removeprefix("#")
        rooms = (one for one in self.channels.values() if one.team_id == team_id and one.name)
        return next((one for one in rooms if one.name == wanted), None)
