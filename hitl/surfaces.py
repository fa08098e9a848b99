"""The declaration of a surface, and the places on it.

A surface is a chat platform, a terminal or an API, where cards appear and decisions arrive. Each adapter declares the
abilities of its surface in one record, so that no other code needs to compare the name of a platform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hitl.call import ReplyKind


class Place(Struct, frozen=True):
    """A conversation to which cards go and in which people answer. Only its own platform parses its name."""

    #: The whole name, such as `PLATFORM:CHAT/TOPIC`.
    name: str
    #: The name of the chat to which the place belongs. For a whole chat, it is the place's own name.
    chat: str
    #: The name of the place whose settings apply to this place, such as the chat of a thread. People in this place may
    #: also answer the cards of that place.
    room: str

    @classmethod
    def whole(cls, name: str) -> Place:
        """Return a place whose name has no parts such as a thread: the place is its own chat and its own room."""
        return cls(name, name, name)


class Surface(Struct, frozen=True, kw_only=True):
    """The abilities of a surface. Code that depends on an ability reads this record."""

    #: The part before the colon in the names of the surface's places and identities. The surface's section in the
    #: settings has the same name.
    name: str
    #: The name of the surface in texts for people.
    title: str = ""
    #: The function that parses the name of a place. It is None for a surface that gets no cards through the outbox.
    #: Each place of such a surface is its own chat and its own room (`Place.whole`).
    parse: Callable[[str], Place] | None = None
    #: Whether people on this surface can see and decide every call, whatever the routes of the call are.
    shows_every_call: bool = False
    #: Whether the setting `self_approval_socket` limits self-approval on this surface, instead of the conversation's
    #: setting.
    own_self_approval: bool = False
    #: Kind of identity that the surface proves -> the setting in the surface's section that turns on this kind of
    #: identity, or '' if it is always on.
    proves: Mapping[str, str] = field(default_factory=dict)
    #: Identities that many people share, for example of anonymous administrators. No list of people may contain them.
    shared: frozenset[str] = frozenset()
    #: Kind of reply that people can send here -> a hint for the operator, who gets it if no such reply has ever come.
    answers: Mapping[ReplyKind, str] = field(default_factory=dict)
    #: The characters that people type before the name of a command, such as `/`.
    prefix: str = ""
    #: The key of the catalogue's sentence that lists the commands.
    help: str = ""
    #: Whether the platform expects exactly one answer to each press within a short time, even if Sayso has nothing to
    #: say. If False, a press is answered only if there is something to say.
    toasts: bool = False
    #: Whether the surface itself shows a call's outcome immediately, so that an approval needs no answer.
    shows_outcomes: bool = False
    #: Whether presses are lost while this process isn't running. If so, open cards are edited at each start.
    loses_presses: bool = False

    @property
    def is_chat(self) -> bool:
        """Whether the surface is a chat platform, which gets cards through the outbox."""
        return self.parse is not None

    def place(self, name: str) -> Place:
        """Return the place with this name, parsed as this surface does."""
        return self.parse(name) if self.parse else Place.whole(name)
