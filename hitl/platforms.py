"""The whole contract between a platform and the rest: the declaration of a surface, and the protocol of a platform.

A surface is where cards appear and decisions arrive. Each adapter declares its surface as one record, so that no
other code asks which platform it is talking to. A chat platform is a surface that cards reach through the outbox;
its adapter implements `Platform`. `docs/how-to/add-a-platform.md` builds one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from hitl.ports import Chat, PlatformError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    from hitl.call import Call, Incoming, ReplyKind, Verb
    from hitl.events import Heard
    from hitl.people import Directory
    from hitl.people.names import Names
    from hitl.ports import Store
    from hitl.proof.keyring import Keyring

    #: Does what an event asks for. Raises what the store or the platform raises.
    Hear: TypeAlias = Callable[[Heard], Awaitable[None]]
    #: Reads the body of a request; None if it is longer than our HTTP server takes.
    ReadBody: TypeAlias = Callable[[], Awaitable[bytes | None]]
    #: Adds an operator's own handlers to the application object of the platform's library.
    Register: TypeAlias = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Place:
    """A place where cards go and people answer. Only its own platform parses the name of a place."""

    #: The whole name, such as `PLATFORM:CHAT/TOPIC`.
    name: str
    #: The name of the chat that the place is, or is a part of.
    chat: str
    #: The name of the place whose cards may be answered here as well, and whose settings count here.
    room: str

    @classmethod
    def whole(cls, name: str) -> Place:
        """Return a place that has no parts and is part of nothing."""
        return cls(name, name, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The abilities of a surface. Code asks this declaration, and never compares the name of a platform."""

    #: The part before the colon in its places and identities, and the name of its settings section.
    name: str
    #: Its name for people.
    title: str = ""
    #: Parses a place. None: the surface gets no cards through the outbox, and its places have no parts.
    parse: Callable[[str], Place] | None = None
    #: Whether people see and decide every call there, wherever its cards are.
    shows_every_call: bool = False
    #: Whether `self_approval_socket` limits a requester's own yes there, in place of the conversation's setting.
    own_self_approval: bool = False
    #: The kinds of identities it proves, and the setting of its section that must be on for that ('': always).
    proves: Mapping[str, str] = field(default_factory=dict)
    #: Identities that many people share. No list may name one.
    shared: frozenset[str] = frozenset()
    #: The ways in which people answer there, and what to look at if no answer ever came that way.
    answers: Mapping[ReplyKind, str] = field(default_factory=dict)
    #: The text that people type before the name of a command.
    prefix: str = ""
    #: The key of the sentence that lists the commands.
    help: str = ""
    #: Whether each press wants one answer, at once, even an empty one. Otherwise people hear only about news.
    toasts: bool = False
    #: Whether the outcome of a call appears there by itself, at once, so that a yes needs no answer.
    shows_outcomes: bool = False
    #: Whether presses are lost while this process is down, so that open cards are edited at each start.
    loses_presses: bool = False

    @property
    def is_chat(self) -> bool:
        """Whether cards reach the surface through the outbox."""
        return self.parse is not None

    def place(self, name: str) -> Place:
        """Return the place with that name."""
        return self.parse(name) if self.parse else Place.whole(name)


class Talker(Protocol):
    """All messages to a surface, except new cards. Each method raises PlatformError, except `answer_press`."""

    #: The names of people. A service gives its own to each surface that it speaks on.
    names: Names

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref that our latest message there is about, if it was there before that message."""

    def link(self, route: str, message: str) -> str:
        """Return the https address of a message, '' if the platform has none for it."""

    def learn_move(self, old: str, new: str) -> None:
        """Send what is for the conversation `old` to `new` from now on."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit a card to what the call is now."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Make a second copy of a card say that another one counts, or how the call ended."""

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """Send a sentence. `about` is the ref it is about, `answers` the message it replies to."""

    async def ask(
        self,
        route: str,
        *,
        call: Call,
        verb: Verb,
        person: str,
        answers: str | None = None,
        press: str | None = None,
    ) -> None:
        """Ask one person, by identity, for the reason of a yes or no that they pressed."""

    async def show(self, route: str, name: str, text: str, *, about: str, press: str | None = None) -> None:
        """Show a text whole, in a file of that name if no message can hold it.

        If the platform can, only the person who pressed sees it.
        """

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Tell the person who pressed what came of the press."""


class Untaken(PlatformError):
    """No handler took an event. Another try can't help: the event is set aside, where `sayso doctor` shows it."""

    def __init__(self) -> None:
        super().__init__("no handler took the event", passing=False)


class PlatformChat(Chat, Talker, Protocol):
    """All that a chat platform lets us send."""


class Receiver(Protocol):
    """Fetches events from a platform that doesn't push them."""

    @property
    def trouble(self) -> str | None:
        """The reason why no events come in, None if they do."""

    async def run(self) -> None:
        """Fetch events for ever. Each is in the inbox before the platform gets its acknowledgement."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address to which a platform pushes its events: a path on our HTTP server, for POST."""

    path: str
    #: Takes the headers and a reader of the body; returns the HTTP status and the body of the answer.
    answer: Callable[[Mapping[str, str], ReadBody], Awaitable[tuple[int, bytes]]]


@dataclass(frozen=True, slots=True)
class Core:
    """The parts of the process that a platform uses."""

    store: Store
    keys: Keyring
    people: Directory


class Platform(Protocol):
    """One chat platform at work. An adapter's `platform.build(settings, core, register)` makes it."""

    surface: Surface

    @property
    def chat(self) -> PlatformChat:
        """The way out: cards and sentences."""

    def receiver(self, woken: Callable[[], None]) -> Receiver | None:
        """Return what fetches events, or None if the platform pushes them to `endpoint`.

        Call `woken` after each commit of events to the inbox. Raises SettingsError.
        """

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Return where the platform pushes its events. Raises SettingsError if anybody could push events there."""

    async def connect(self) -> str:
        """Find out who we are there, and return that name.

        Raises PlatformError or Unavailable; then it is called again later.
        """

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Hand a recorded event to the handlers of the platform's library; ours call `hear` with what it says.

        Raises what a handler raised, and Untaken if no handler took the event.
        """

    async def close(self) -> None:
        """Close the connections."""


class Health(StrEnum):
    """Green is well, yellow should be known, red means that calls can't be gated as promised."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report of `sayso doctor`."""

    name: str
    state: Health
    #: The finding and, unless it is well, the next step.
    text: str
