"""The protocol of a chat platform: a surface (`hitl.surfaces`) that cards reach through the outbox.

Its adapter implements `Platform`. `docs/how-to/add-a-platform.md` builds one.
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
    from hitl.events import Heard
    from hitl.people import Directory
    from hitl.people.names import Names
    from hitl.ports import Store
    from hitl.proof.keyring import Keyring
    from hitl.surfaces import Surface

    #: Does what an event asks for. Raises what the store or the platform raises.
    Hear: TypeAlias = Callable[[Heard], Awaitable[None]]
    #: Reads the body of a request; None if it is longer than our HTTP server takes.
    ReadBody: TypeAlias = Callable[[], Awaitable[bytes | None]]
    #: Adds an operator's own handlers to the application object of the platform's library.
    Register: TypeAlias = Callable[[Any], None]


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
