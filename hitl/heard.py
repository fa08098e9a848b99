"""What a chat platform's event says, as far as the platform itself can tell: no store, no lists, no decision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


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
    """One event.

    identity: who, as the platform proves it. conversation: where, in the form of a route. message: the platform's
    id of the message that it is, or is on. answers: the id of the message that it replies to, if any.
    answers_ours: that message's text when we wrote it. asked: the identity of whoever that message asked, if it
    asked one person. thread: the id of the message whose thread it stands in. target: the ref that a window of ours
    is about. data: a button's. press: how to answer that person alone. command: without its slash; text is then what
    followed it. private: said where unaddressed text may decide. addressed: said to us rather than to others there.
    overheard: said to nobody by name, where we are spoken with. barred: the key of the sentence that says why such
    an event never counts. program: a program wrote it, so that it is never answered: two would talk for ever.
    moved_to: where a conversation went. at: when it was done, or came in where the platform doesn't say.
    """

    what: What
    identity: str = ""
    conversation: str = ""
    message: str | None = None
    answers: str | None = None
    answers_ours: str = ""
    asked: str = ""
    thread: str | None = None
    target: str = ""
    text: str = ""
    data: str = ""
    press: str | None = None
    command: str = ""
    private: bool = False
    addressed: bool = False
    overheard: bool = False
    barred: str | None = None
    program: bool = False
    moved_to: str = ""
    at: datetime | None = None
