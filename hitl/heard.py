"""What a chat platform's event says, as far as the platform itself can tell: no store, no lists, no decision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.replies import Span


#: What goes with our name at the end of a text: blanks, and the comma of "yes, @us", which would announce more words.
BEFORE_NAME = " \t\r\n,"


class What(StrEnum):
    """The kinds of events that matter here. An echo is a message of our own, as the platform shows it to all."""

    PRESS = "press"
    TEXT = "text"
    REACTION = "reaction"
    COMMAND = "command"
    MOVED = "moved"
    BARRED = "barred"
    REASON = "reason"
    PAGE = "page"
    ECHO = "echo"


@dataclass(frozen=True, slots=True)
class Heard:
    """One event of a chat platform."""

    what: What
    #: Who did it, as the platform proves it.
    identity: str = ""
    #: Where it was done, in the form of a route.
    conversation: str = ""
    #: The platform's id of the message that the event is, or is on.
    message: str | None = None
    #: The id of the message of ours that this message replies to, if it replies to one.
    answers: str | None = None
    #: The id of the message whose thread this message is in.
    thread: str | None = None
    #: The ref that a window of ours is about.
    target: str = ""
    #: What people see of the message; for a command, what followed it.
    text: str = ""
    #: The formatted stretches of the text.
    spans: tuple[Span, ...] = ()
    #: The language of the person's own app (BCP 47), if the platform tells it.
    language: str | None = None
    #: The data of a button.
    data: str = ""
    #: How to answer that person alone.
    press: str | None = None
    #: The name of a command, without its slash.
    command: str = ""
    #: Whether text that points to no call may decide here.
    private: bool = False
    #: Whether it was said to us rather than to other people there.
    addressed: bool = False
    #: Whether it was said to nobody by name, in a conversation in which we take part.
    overheard: bool = False
    #: The key of the sentence that says why such an event never decides, or None.
    barred: str | None = None
    #: Whether a program wrote it. We never answer programs: two would talk for ever.
    program: bool = False
    #: Where a conversation went.
    moved_to: str = ""
    #: When it was done, or came in if the platform doesn't say.
    at: datetime | None = None
