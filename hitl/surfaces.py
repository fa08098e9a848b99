"""The declaration of a surface, and the places on it.

A surface is where cards appear and decisions arrive. Each adapter declares its surface as one record, so that no
other code asks which platform it is talking to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hitl.call import ReplyKind


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
