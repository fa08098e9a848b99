"""The declaration of a surface, and the places on it.

On a surface cards appear and decisions arrive. Each adapter declares the abilities of its surface in one record, so
that no other code asks for the name of a platform.
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
    #: The name of the chat to which the place belongs. A place that is a whole chat belongs to itself.
    chat: str
    #: The name of the place whose settings apply here. Its cards may be answered here as well.
    room: str

    @classmethod
    def whole(cls, name: str) -> Place:
        """Return a place that has no parts and isn't a part of another place."""
        return cls(name, name, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The abilities of a surface. Code asks this declaration, and never compares the name of a platform."""

    #: The part before the colon in the surface's places and identities, and the name of its settings section.
    name: str
    #: The surface's name for people.
    title: str = ""
    #: Parses a place. This is None if the surface gets no cards through the outbox and its places have no parts.
    parse: Callable[[str], Place] | None = None
    #: Whether people on this surface see and decide every call, no matter where the call's cards are.
    shows_every_call: bool = False
    #: Whether the setting `self_approval_socket` limits self-approval here, in place of the conversation's setting.
    own_self_approval: bool = False
    #: Kind of identity that the surface proves -> the setting of its section that must be on for this ('' if none).
    proves: Mapping[str, str] = field(default_factory=dict)
    #: Identities that many people share. No list of people may contain such an identity.
    shared: frozenset[str] = frozenset()
    #: Kind of reply that people can send on this surface -> a hint for the operator if no such reply ever came.
    answers: Mapping[ReplyKind, str] = field(default_factory=dict)
    #: The text that people type before the name of a command.
    prefix: str = ""
    #: The key of the sentence that lists the commands.
    help: str = ""
    #: Whether the platform expects exactly one answer to each press at once, even an empty one. If False, a press is
    #: answered only when there is something to tell.
    toasts: bool = False
    #: Whether a call's outcome appears on the surface at once by itself, so that an approval needs no answer.
    shows_outcomes: bool = False
    #: Whether presses are lost while this process is down, so that open cards are edited at each start.
    loses_presses: bool = False

    @property
    def is_chat(self) -> bool:
        """Whether cards reach the surface through the outbox."""
        return self.parse is not None

    def place(self, name: str) -> Place:
        """Return the place with this name."""
        return self.parse(name) if self.parse else Place.whole(name)
