"""Events on a chat surface, with one class for each kind. They hold only facts that the surface itself knows.

A surface doesn't look into the store or at the lists of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.call import Verb
    from hitl.replies import Span


#: Characters to strip together with our name at the end of a text, as in "yes, @us". A comma that stays at the end
#: would look as if more words followed.
BEFORE_NAME = " \t\r\n,"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The facts that every kind of event has."""

    #: The person's identity, as the platform proves it.
    identity: str = ""
    #: The person's current name on the platform, or '' if the platform doesn't say.
    called: str = ""
    #: The person's handle on the platform, or '' if the platform doesn't say.
    handle: str = ""
    #: The conversation, in the form of a route.
    conversation: str = ""
    #: The platform's id of the message: of the event itself, or of the message that was pressed or reacted to.
    message: str | None = None
    #: The platform's handle for answering that person alone, or None.
    press: str | None = None
    #: The reason why this event can't decide anything, as the key of a sentence, or None for an event that can decide.
    barred: str | None = None
    #: Whether a program wrote the message. We never answer programs, because two programs would answer each other for
    #: ever.
    program: bool = False
    #: The time of the event, or of its arrival if the platform doesn't say.
    at: datetime | None = None
    #: Source and id of the inbox row that holds the event, or None on a surface without an inbox.
    event: tuple[str, str] | None = None
    #: The time when the inbox row of the event was written, by the store's clock.
    received_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Press(Heard):
    """A press of a button. `data` is the button's data as the client sent it; a client may send other data."""

    data: str = ""
    #: Whether the platform itself shows that the button isn't Sayso's. Such a press is no forgery.
    stray: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Heard):
    """A text message. `text` is the text that people see, and `spans` are its formatted stretches."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    #: The language of the person's app (BCP 47), or None if the platform doesn't say.
    language: str | None = None
    #: The id of our message to which this message replies, or None.
    answers: str | None = None
    #: The id of the message whose thread this message is in.
    thread: str | None = None
    #: Whether text that points to no call may decide in this conversation.
    private: bool = False
    #: Whether the message is meant for us rather than for other people in the conversation.
    addressed: bool = False
    #: Whether the message addresses nobody, and the conversation is one in which the bot has written.
    overheard: bool = False
    #: The conversation of the turn that this text begins, or None if that is `conversation`. Platforms whose agents
    #: answer in a thread below each message name that thread.
    opens: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction(Heard):
    """A reaction to a message. `text` holds the added emoji."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Heard):
    """A command. `name` is its name without the slash, and `text` the rest of the message."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Heard):
    """A person opened a conversation with the agent. With `waits`, they can write only after our first message."""

    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained(Heard):
    """The answer from a window in which we asked for the reason of a press.

    `text` is the reason, or '' for none. `ref` is the ref of the call, and `verb` the verb of the pressed button.
    """

    ref: str
    verb: Verb
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTurned(Heard):
    """A person asks for another page of a text about the call `ref`. `press` holds the page's number and its place."""

    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(Heard):
    """A notice that the platform gave the conversation another name, `moved_to`."""

    moved_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(Heard):
    """A message of this service that the platform sent back as an event. `data` is the data of its button."""

    data: str
