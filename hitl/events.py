"""The events on a chat surface, with one class for each kind.

To make an event, an adapter needs neither the stored calls nor the lists of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.call import Verb
    from hitl.replies import Span


#: The characters to strip along with the bot's name at the end of a text, as in "yes, @bot". If the comma stayed, the
#: text would be read as unfinished.
BEFORE_NAME = " \t\r\n,"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The fields that every kind of event has."""

    #: The identity of the person who caused the event, as the platform proves it.
    identity: str = ""
    #: The person's current name on the platform, or '' if the platform doesn't send it.
    called: str = ""
    #: The person's handle (user name) on the platform, or '' if the platform doesn't send it.
    handle: str = ""
    #: The conversation, in the form of a route.
    conversation: str = ""
    #: The platform's id of the message: the sent message, or the message with the pressed button or the reaction.
    message: str | None = None
    #: The adapter's data for an answer that only the person who caused the event sees. It is None if no such answer is
    #: possible.
    press: str | None = None
    #: The key of the sentence that says why this event can't decide anything, or None if it can.
    barred: str | None = None
    #: Whether a program wrote the message. Sayso never answers programs, because two programs could answer each other
    #: forever.
    program: bool = False
    #: The time of the event by the platform's clock, or the time of its arrival if the platform sends no time.
    at: datetime | None = None
    #: Source and id of the inbox row that holds the event, or None if the surface has no inbox.
    event: tuple[str, str] | None = None
    #: The time when the inbox row of the event was written, by the store's clock.
    received_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Press(Heard):
    """A press of a button. `data` is the button's data as the person's app sent it, so it may be forged."""

    data: str = ""
    #: Whether the platform's own fields, such as the name of the button's action, show that this version of Sayso has
    #: no such button. Such a press isn't reported as a forgery.
    stray: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Heard):
    """A text message. `text` is the text that people see, and `spans` are its formatted parts."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    #: The language of the person's app (BCP 47), or None if the platform doesn't say.
    language: str | None = None
    #: The id of Sayso's message to which this message replies, or None.
    answers: str | None = None
    #: The id of the message that began the thread of this message, or None outside of threads.
    thread: str | None = None
    #: Whether text that points to no call may decide in this conversation.
    private: bool = False
    #: Whether the message is meant for Sayso rather than for other people in the conversation.
    addressed: bool = False
    #: Whether the message addresses nobody, in a conversation in which the bot has written before.
    overheard: bool = False
    #: The conversation of the agent's turn that this text begins, such as the thread below this message. None means
    #: that the turn is in `conversation`.
    opens: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction(Heard):
    """A reaction to a message. `text` holds the emoji that the person added."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Heard):
    """A command. `name` is its name without the slash, and `text` is the rest of the message."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(Heard):
    """A person opened a conversation with the agent.

    If `waits` is true, the person can write only after Sayso has written.
    """

    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained(Heard):
    """The answer from a window in which Sayso asked a person for a reason, after a press of a button.

    `text` is the reason, or '' if the person gave none. `ref` is the ref of the call. `verb` is the verb of the button.
    """

    ref: str
    verb: Verb
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTurned(Heard):
    """A person asks for another page of a text about the call `ref`. The data in `press` hold the page's number."""

    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(Heard):
    """A notice from the platform that the conversation has a new name, `moved_to`."""

    moved_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(Heard):
    """A message that Sayso sent and that the platform sent back as an event. `data` is the data of its button."""

    data: str
