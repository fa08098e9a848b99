"""The platform as one object: the world, its clock, what is delivered to apps, what was called.

Both sides act on it: apps through the methods, people through the control.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hitl.records import replace
from simulators.common import platform
from simulators.slack import events
from simulators.slack.errors import Json
from simulators.slack.faults import KINDS, Fault
from simulators.slack.state import App, Channel, Message, User, View, World

DeliveryKind = Literal["events_api", "interactive", "slash_commands"]
DeliveryState = Literal["waiting", "delivered", "failed"]

MICROSECONDS: Final = 1_000_000
MENTION: Final = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")


@dataclass(frozen=True, slots=True)
class Call:
    """A method that an app called, and how it was answered: error "" for well, status 0 for not at all."""

    app_id: str
    method: str
    params: Json
    at: float
    status: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to deliver: `error` is "" for well, else Slack's reason; `answer` is what the app said."""

    at: float
    retry: int
    error: str = ""
    status: int = 0
    answer: Any = None


@dataclass(slots=True)
class Delivery:
    """Something that an app is told: an event, an interaction, a command."""

    id: str
    app_id: str
    kind: DeliveryKind
    payload: Json
    state: DeliveryState = "waiting"
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def error(self) -> str:
        """Return why the last try failed, "" if it didn't or there was none."""
        return self.attempts[-1].error if self.attempts else ""

    @property
    def answer(self) -> Any:
        """Return what the app said to the last try."""
        return self.attempts[-1].answer if self.attempts else None


@dataclass(slots=True)
class Trigger:
    """A person's act that lets the app open one view, for a short time."""

    id: str
    app_id: str
    user_id: str
    team_id: str
    at: float
    view_id: str = ""
    used: bool = False


@dataclass(slots=True)
class ResponseUrl:
    """An address at which an app may answer an interaction a few times."""

    token: str
    app_id: str
    user_id: str
    channel_id: str
    message_ts: str
    at: float
    uses: int = 0


class Platform(platform.Platform[Call, Fault]):
    """Everything behind the HTTP. `root` is the server's own address, set when it listens.

    `signing_clock` dates the proofs of requests: real time, as apps check them by their own clock,
    however far a test has moved the server's.
    """

    def __init__(self, speed: float = 1.0) -> None:
        super().__init__(speed, KINDS)
        self.world = World()
        self.root = ""
        self.signing_clock: Callable[[], float] = time.time
        self.deliveries: list[Delivery] = []
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self._numbers = itertools.count(1)
        self._last_ts = 0

    def next_ts(self) -> str:
        """Return the time as a message's id: Unix seconds with six digits, never the same twice."""
        self._last_ts = max(int(self.clock.now() * MICROSECONDS), self._last_ts + 1)
        return f"{self._last_ts // MICROSECONDS}.{self._last_ts % MICROSECONDS:06d}"

    def number(self) -> int:
        """Return a number that was not used before."""
        return next(self._numbers)

    # Messages ------------------------------------------------------------------------------

    def post(self, channel: Channel, user_id: str, text: str, **fields: Any) -> Message:
        """Put a new message into a channel and tell the apps that hear it."""
        message = channel.put(Message(channel.id, self.next_ts(), user_id, text, **fields))
        self._tell_message(channel, events.message(message, self.world, self.root))
        self._tell_mentioned(channel, message)
        self.touch()
        return message

    def whisper(self, channel: Channel, to: str, text: str, **fields: Any) -> Message:
        """Show one person a message that nobody else sees, and no event tells of."""
        message = Message(channel.id, self.next_ts(), text=text, visible_to=to, **fields)
        self.world.ephemerals.append(message)
        self.touch()
        return message

    def revise(self, message: Message, by: str, text: str, blocks: tuple[Json, ...]) -> Message:
        """Change what a message shows, and tell."""
        return self.keep(message.edit(self.next_ts(), by, text, blocks), message)

    def keep(self, message: Message, before: Message) -> Message:
        """Store a changed message, and tell."""
        channel = self.world.channels[message.channel_id]
        channel.put(message)
        self._tell_message(channel, events.changed(message, before, self.world, self.root, self.next_ts()))
        self.touch()
        return message

    def remove(self, message: Message) -> Message:
        """Delete a message, and tell."""
        channel = self.world.channels[message.channel_id]
        event = events.deleted(message, self.world, self.root, self.next_ts())
        channel.drop(message.ts)
        self._tell_message(channel, event)
        self.touch()
        return message

    def react(self, message: Message, user_id: str, name: str, *, added: bool) -> Message:
        """Add or take back someone's reaction, and tell."""
        channel = self.world.channels[message.channel_id]
        others = tuple(one for one in message.reacted(name) if one != user_id)
        after = channel.put(message.react(name, (*others, user_id) if added else others))
        kind = "reaction_added" if added else "reaction_removed"
        self.tell(kind, events.reaction(kind, after, user_id, name, self.next_ts()), channel)
        self.touch()
        return after

    def whispered(self, before: Message, after: Message | None) -> None:
        """Change or remove what one person sees."""
        at = self.world.ephemerals.index(before)
        self.world.ephemerals[at : at + 1] = [after] if after else []
        self.touch()

    def _tell_message(self, channel: Channel, event: Json) -> None:
        self.tell(events.MESSAGES[channel.kind], event, channel)

    def _tell_mentioned(self, channel: Channel, message: Message) -> None:
        named = set(MENTION.findall(message.text))
        if channel.kind != "im":
            event = events.mention(message, self.world, self.root)
            for app in (one for one in self.world.apps_in(channel) if one.user_id in named):
                self._deliver_event(app, "app_mention", event, channel)

    # Channels ------------------------------------------------------------------------------

    def join(self, channel: Channel, user_id: str, inviter: str = "") -> None:
        """Let somebody into a channel, and tell."""
        if not channel.has(user_id):
            channel.members.append(user_id)
            self._tell_member("member_joined_channel", channel, user_id, inviter)

    def leave(self, channel: Channel, user_id: str) -> None:
        """Let somebody go, and tell those who stay."""
        if channel.has(user_id):
            channel.members.remove(user_id)
            self._tell_member("member_left_channel", channel, user_id, "")

    def _tell_member(self, kind: str, channel: Channel, user_id: str, inviter: str) -> None:
        self.tell(kind, events.member(kind, channel, user_id, inviter, self.next_ts()), channel)
        self.touch()

    def direct(self, users: frozenset[str], team_id: str) -> tuple[Channel, bool]:
        """Return the direct conversation of these people, and whether it is new."""
        known = self.world.direct(users)
        if known:
            return known, False
        kind: Literal["im", "mpim"] = "im" if len(users) <= 2 else "mpim"
        channel = Channel(self.world.new_id("D" if kind == "im" else "G"), kind, team_id, members=sorted(users))
        self.world.channels[channel.id] = channel
        self.touch()
        return channel, True

    # Deliveries ----------------------------------------------------------------------------

    def tell(self, subscription: str, event: Json, channel: Channel | None = None) -> None:
        """Deliver an event to all apps that hear it."""
        for app in list(self.world.apps.values()):
            self._deliver_event(app, subscription, event, channel)

    def tell_app(self, app: App, subscription: str, event: Json) -> None:
        """Deliver an event that only concerns one app."""
        self._deliver_event(app, subscription, event, None)

    def _deliver_event(self, app: App, subscription: str, event: Json, channel: Channel | None) -> None:
        if not events.hears(app, subscription, channel):
            return
        team_id = channel.team_id if channel and channel.team_id in self.world.teams_of(app) else app.team_id
        event_id = f"Ev0{self.number():08X}"
        payload = events.envelope(
            app,
            event,
            team_id,
            event_id,
            self.clock.date(),
            self.world,
            external=bool(channel and channel.shared_with),
        )
        self.deliver(Delivery(event_id, app.id, "events_api", payload))

    def deliver(self, delivery: Delivery) -> Delivery:
        """Hand a delivery to those who carry them out."""
        self.deliveries.append(delivery)
        self.touch()
        return delivery

    def trigger(self, app: App, user: User, view: View | None = None) -> str:
        """Return a new trigger_id for a person's act."""
        number = self.number()
        made = Trigger(
            f"{number}.{int(self.clock.now())}.{number * 2_654_435_761 % 2**40:010x}",
            app.id,
            user.id,
            app.team_id if app.org_wide else user.team_id,
            self.clock.now(),
            view.id if view else "",
        )
        self.triggers[made.id] = made
        return made.id

    def response_url(self, app: App, user: User, channel: Channel, message_ts: str = "") -> str:
        """Return a new address to answer at."""
        token = f"{self.number() * 2_654_435_761 % 2**48:012x}"
        made = ResponseUrl(token, app.id, user.id, channel.id, message_ts, self.clock.now())
        self.response_urls[token] = made
        return f"{self.root}/actions/{app.team_id}/{token}"

    # Views ---------------------------------------------------------------------------------

    def show(self, app: App, user_id: str, team_id: str, body: Json, previous: View | None = None) -> View:
        """Put a view in front of a person, on top of another if there is one."""
        number = self.world.new_id("V")
        view = View(
            number,
            app.id,
            user_id,
            team_id,
            body,
            self._hash(),
            previous.root_id if previous else number,
            previous.id if previous else "",
        )
        return self.put_view(view)

    def change_view(self, view: View, body: Json) -> View:
        """Put something else into a view."""
        return self.put_view(replace(view, body=body, hash=self._hash(), errors={}))

    def put_view(self, view: View) -> View:
        """Keep a view, new or changed."""
        self.world.views[view.id] = view
        self.touch()
        return view

    def close_view(self, view: View, *, whole_stack: bool = False) -> None:
        """Take a view away, or all of its stack."""
        for one in list(self.world.views.values()):
            if one.id == view.id or (whole_stack and one.root_id == view.root_id):
                self.world.views[one.id] = replace(one, open=False)
        self.touch()

    def _hash(self) -> str:
        return f"{int(self.clock.now())}.{self.number():08x}"
