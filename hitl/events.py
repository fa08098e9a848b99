"""What happens on a chat surface, one class a kind, as far as the surface itself can tell: no store, no lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.call import Verb
    from hitl.replies import Span


#: What goes with our name at the end of a text: blanks, and the comma of "yes, @us", which would announce more words.
BEFORE_NAME = " \t\r\n,"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What an event of any kind tells."""

    #: Who did it, as the platform proves it.
    identity: str = ""
    #: The person's name on the platform now, '' if the platform doesn't say, and their handle there.
    called: str = ""
    handle: str = ""
    #: Where it was done, in the form of a route.
    conversation: str = ""
    #: The platform's id of the message that the event is, or is on.
    message: str | None = None
    #: How to answer that person alone, in the platform's own terms.
    press: str | None = None
    #: The key of the sentence that says why such an event never decides, or None.
    barred: str | None = None
    #: Whether a program wrote it. We never answer programs: two would talk for ever.
    program: bool = False
    #: When it was done, or came in if the platform doesn't say.
    at: datetime | None = None
    #: Source and id of the inbox row behind it; None on a surface that keeps none.
    event: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Press(Heard):
    """A button was pressed: `data` is what the button holds, as far as the client sent it unchanged."""

    data: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Heard):
    """Somebody said something: `text` is what people see of it, `spans` its formatted stretches."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    #: The language of the person's own app (BCP 47), if the platform tells it.
    language: str | None = None
    #: The id of the message of ours that this message replies to, if it replies to one.
    answers: str | None = None
    #: The id of the message whose thread this message is in.
    thread: str | None = None
    #: Whether text that points to no call may decide here.
    private: bool = False
    #: Whether it was said to us rather than to other people there.
    addressed: bool = False
    #: Whether it was said to nobody by name, in a conversation in which we take part.
    overheard: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction(Heard):
    """One or more emoji, `text`, were added to a message."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Heard):
    """A command by its `name`, without its slash; `text` is what followed it."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained(Heard):
    """A window that we opened to ask for the reason of a press brought it: `text`, '' for none.

    `ref` is the call, `verb` what was pressed.
    """

    ref: str
    verb: Verb
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTurned(Heard):
    """Another page of a text about the call `ref` is wanted; `press` says which, and where it is shown."""

    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(Heard):
    """The conversation has another name now."""

    moved_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(Heard):
    """A message of our own, as the platform shows it to all; `data` is that of its button."""

    data: str
