"""What the conversations of a surface need of it: its words out, and its ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hitl.model import Call, Verb


class Talker(Protocol):
    """What a platform lets us say, beside new cards. Each raises PlatformError but `answer_press`."""

    def latest(self, place: str, before: str | None) -> str | None:
        """The ref that our latest message there is about, if it was there before that message."""

    def learn_move(self, old: str, new: str) -> None:
        """A conversation is under another name now."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit a card to what the call is now."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Make a second copy of a card say that another one counts, or how the call ended, if it did."""

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """A sentence."""

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
        """A text whole, in a file of that name where it is too long for a message.

        To the one who pressed alone, where the platform can.
        """

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """What came of a press, for the one who pressed."""


@dataclass(frozen=True, slots=True)
class Manner:
    """A platform's way: what stands before a command's name, what commands there are, and how presses are answered.

    `toasts`: each press wants one answer, at once, if only a blank one. Else who pressed is told what is news to them,
    after a window has opened in front of them, for which there is little time. `shows_outcomes`: what became of a call
    appears there by itself, at once, so that a yes needs no answer of its own.
    """

    prefix: str
    help: str
    toasts: bool = True
    shows_outcomes: bool = False
