"""The protocol of a chat platform.

A chat platform is a surface (`hitl.surfaces`) that gets its cards through the outbox. The adapter of a platform
implements `Platform`. `docs/how-to/add-a-platform.md` shows how to build an adapter.
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

    #: A function that handles one event. Raises the errors of the store and of the platform.
    Hear: TypeAlias = Callable[[Heard], Awaitable[None]]
    #: A function that reads the body of a request. Returns None if the body is longer than the HTTP server accepts.
    ReadBody: TypeAlias = Callable[[], Awaitable[bytes | None]]
    #: A function of the operator that adds handlers to the application object of the platform's library.
    Register: TypeAlias = Callable[[Any], None]


class Talker(Protocol):
    """Sends all messages to a surface, except new cards.

    Each method that sends, except `answer_press`, raises PlatformError if the platform refuses the message or fails.
    """

    #: Maps principals to the names of people. The service sets this field on each of its surfaces.
    names: Names

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref of the call that Sayso's latest message in a conversation is about.

        `before` is the id of another message. Return None if Sayso's latest message is newer than that message, is
        about no call, or isn't known.
        """

    def link(self, route: str, message: str) -> str:
        """Return the https address of a message, or '' if the message has no address."""

    def shows_rejection(self, call: Call) -> bool:
        """Return whether the surface itself shows a rejection to the person who rejected, so that no answer is needed.

        A chat returns False, because in a chat only the card shows the outcome.
        """

    def learn_move(self, old: str, new: str) -> None:
        """Record that a conversation moved: from now on, messages for `old` go to `new`."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit a card so that it shows the call's current state."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a second copy of a card, so that it says that another message is the card.

        After the call's end, the copy shows the outcome instead.
        """

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """Send a text.

        `about` is the ref of the call that the text is about, or None. `answers` is the id of the message to which the
        text replies, or None.
        """

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
        """Ask a person for a reason, after that person pressed the button of `verb`.

        `person` is the person's identity.
        """

    async def show(self, route: str, file: File, *, about: str, press: str | None = None) -> None:
        """Show a long text, as a file if it doesn't fit into a message.

        If the platform supports it, only the person who pressed (`press`) sees the text.
        """

    async def attach(self, route: str, file: File, *, about: str, card: str) -> bool:
        """Send a file below the card whose message has the id `card`. Return whether the file was sent.

        On some platforms `show` sends such files already. There, this method does nothing and returns False.
        """

    async def working(self, route: str, *, on: bool) -> None:
        """Show people that the agent is working on an answer, or stop showing it if `on` is false.

        The sign also disappears by itself after some seconds. On a platform without such a sign, do nothing.
        """

    async def suggest(self, route: str, title: str, prompts: Mapping[str, str]) -> None:
        """Show buttons with suggestions for messages to the agent.

        `prompts` maps a button's label to the words that it sends. `title` is the text above the buttons. A platform
        without such buttons does nothing. If the platform refuses the message, a log line says so.
        """

    async def entitle(self, route: str, title: str) -> None:
        """Give a person's conversation with the agent a title.

        On a platform without titles, do nothing. If the platform refuses the title, a log line says so.
        """

    async def mark_undecided(self, message: str) -> None:
        """Mark a person's message with a sign that says that the message decided nothing.

        This is for an author who can't get a private message. A platform that can show any message to one person alone
        does nothing.
        """

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Show the outcome of a press to the person who pressed.

        `alert` asks for a window that the person must close.
        """


class Untaken(PlatformError):
    """No handler handled an event. A retry can't help, so the event is set aside, and `sayso doctor` shows it."""

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
        """Fetch events until cancelled.

        Each event is stored in the inbox before the platform gets its acknowledgement.
        """


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address to which a platform pushes its events: a path on Sayso's HTTP server, for POST requests."""

    path: str
    #: The function that handles a request. It takes the headers, and a function that reads the body. It returns the
    #: HTTP status and the body of the answer.
    answer: Callable[[Mapping[str, str], ReadBody], Awaitable[tuple[int, bytes]]]


@dataclass(frozen=True, slots=True)
class Core:
    """The parts of the process that a platform's adapter needs."""

    store: Store
    keys: Keyring
    people: Directory


class Platform(Protocol):
    """A running chat platform. An adapter makes it with the function `platform.build(settings, core, register)`."""

    surface: Surface

    @property
    def chat(self) -> PlatformChat:
        """The object that sends cards and other messages to this platform."""

    def receiver(self, woken: Callable[[], None]) -> Receiver | None:
        """Return the receiver that fetches events, or None if the platform pushes them to `endpoint`.

        The receiver calls `woken` after each commit of events to the inbox. Raises SettingsError if a needed setting is
        missing.
        """

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Return the address to which the platform pushes its events.

        Raises SettingsError if a stranger could push events to this address.
        """

    async def connect(self) -> str:
        """Find out Sayso's account on the platform, and return the account's name.

        If this raises a PlatformError or Unavailable, the service tries it again later.
        """

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Pass a stored event to the handlers of the platform's library. Sayso's handlers translate it and call `hear`.

        Raises the error of a handler, and Untaken if no handler took the event.
        """

    async def close(self) -> None:
        """Close the connections to the platform."""


class Health(StrEnum):
    """The state of a check: green if all is well, yellow for a warning, red if Sayso can't gate calls as promised."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report that `sayso doctor` prints."""

    name: str
    state: Health
    #: The finding and, unless the state is green, the next step.
    text: str
