"""The protocol of a chat platform, which is a surface (`hitl.surfaces`) that gets its cards through the outbox.

The adapter of a platform implements `Platform`. `docs/how-to/add-a-platform.md` shows how to build an adapter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from hitl.ports import Chat, PlatformError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    from hitl.call import Call, Incoming, Verb
    from hitl.cards.card import File
    from hitl.events import Heard
    from hitl.people import Directory
    from hitl.people.names import Names
    from hitl.ports import Store
    from hitl.proof.keyring import Keyring
    from hitl.surfaces import Surface

    #: Handles one event. Raises the errors of the store and of the platform.
    Hear: TypeAlias = Callable[[Heard], Awaitable[None]]
    #: Reads the body of a request. Returns None if the body is longer than our HTTP server takes.
    ReadBody: TypeAlias = Callable[[], Awaitable[bytes | None]]
    #: Adds an operator's own handlers to the application object of the platform's library.
    Register: TypeAlias = Callable[[Any], None]


class Talker(Protocol):
    """Sends all messages to a surface, except new cards. Each method except `answer_press` raises PlatformError."""

    #: The names of people. The service sets this on each of its surfaces.
    names: Names

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref that our latest message in this place is about, if it came before the message `before`.

        Return None if our latest message came later, is about no call, or isn't known.
        """

    def link(self, route: str, message: str) -> str:
        """Return the https address of a message, or '' if the platform has none for it."""

    def shows_rejection(self, call: Call) -> bool:
        """Return whether the person already sees this rejection, so that an answer would only repeat it.

        A chat returns False, because there the card shows the outcome.
        """

    def learn_move(self, old: str, new: str) -> None:
        """Send messages for the conversation `old` to `new` from now on."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit a card so that it shows the call's current state."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a second copy of a card. The copy then says that the other copy counts or, after the call's end, how the
        call ended.
        """

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """Send a sentence. `about` is the ref of its call, `answers` the id of the message to which it replies."""

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
        """Ask the person with the identity `person` for a reason, after that person pressed the button of `verb`."""

    async def show(self, route: str, file: File, *, about: str, press: str | None = None) -> None:
        """Show a whole text, as a file if it doesn't fit into a message.

        On platforms that support this, only the person who pressed sees it.
        """

    async def attach(self, route: str, file: File, *, about: str, card: str) -> bool:
        """Send a file below the card whose message has the id `card`. Return whether the file was sent.

        A platform whose `show` sends such a file does nothing, and returns False.
        """

    async def working(self, route: str, *, on: bool) -> None:
        """If `on` is true, show people that an answer is being made. If it is false, stop showing that.

        The sign also ends by itself after some seconds. A platform without such a sign does nothing.
        """

    async def suggest(self, route: str, title: str, prompts: Mapping[str, str]) -> None:
        """Suggest to a person what they may say to the agent: label of a button -> words that a press of it sends.

        `title` is above the buttons. A platform without such buttons does nothing. A refusal is only logged.
        """

    async def entitle(self, route: str, title: str) -> None:
        """Name a person's conversation with the agent. A refusal is only logged.

        A platform whose conversations have no names does nothing.
        """

    async def mark_undecided(self, message: str) -> None:
        """Put a sign on a person's message: it decided nothing, and its author can't get a private message.

        Do nothing on a platform where a message can always be shown to one person alone.
        """

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Show the outcome of a press to the person who pressed."""


class Untaken(PlatformError):
    """No handler took an event. Another try can't help: the event is set aside, where `sayso doctor` shows it."""

    def __init__(self) -> None:
        super().__init__("no handler took the event", passing=False)


class PlatformChat(Chat, Talker, Protocol):
    """Sends cards and all other messages on a chat platform."""


class Receiver(Protocol):
    """Fetches events from a platform that doesn't push them."""

    @property
    def trouble(self) -> str | None:
        """The reason why no events come in, or None if events come in."""

    async def run(self) -> None:
        """Fetch events for ever. Each event is in the inbox before the platform gets its acknowledgement."""


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
    """One running chat platform. An adapter's `platform.build(settings, core, register)` makes it."""

    surface: Surface

    @property
    def chat(self) -> PlatformChat:
        """The sender of cards and sentences."""

    def receiver(self, woken: Callable[[], None]) -> Receiver | None:
        """Return the receiver that fetches events, or None if the platform pushes them to `endpoint`.

        The receiver calls `woken` after each commit of events to the inbox. Raises SettingsError.
        """

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Return the address to which the platform pushes its events.

        Raises SettingsError if a stranger could push events there.
        """

    async def connect(self) -> str:
        """Find out which account we use on the platform, and return its name.

        After a PlatformError or Unavailable, the service calls this again later.
        """

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Hand a recorded event to the handlers of the platform's library. Our handlers translate it and call `hear`.

        Raises the error of a handler, and Untaken if no handler took the event.
        """

    async def close(self) -> None:
        """Close the connections."""


class Health(StrEnum):
    """Green means well, yellow means worth knowing, red means that Sayso can't gate calls as promised."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report of `sayso doctor`."""

    name: str
    state: Health
    #: The finding and, unless the state is green, the next step.
    text: str
