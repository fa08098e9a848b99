"""The terminal as a surface: one console for each person, all in one conversation.

There are no buttons: a key on a line of its own stands for one. There are no replies: a text that answers a card
which isn't the latest message names it. An emoji is typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.console import Console
from hitl.call import Call, Verb
from tests.scenarios.harness import PEOPLE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bot.service import Service
    from tests.scenarios.chats import MakeTurns

_KEYS = {Verb.APPROVE: "a", Verb.REJECT: "r", Verb.DETAILS: "d"}


class Terminal:
    """Implements `Surface`. `width` None shows plain text, a number boxes of that width."""

    conversation = "terminal:1"

    def __init__(self, width: int | None = None, *, turns: MakeTurns | None = None) -> None:
        self.identities: Mapping[str, str] = {who: f"local:{1000 + seat}" for seat, who in enumerate(PEOPLE)}
        self._screens: dict[str, list[str]] = {who: [] for who in PEOPLE}
        self._consoles: dict[str, Console] = {}
        self._width = width
        self._make_turns = turns

    def open(self, service: Service) -> None:
        """A console for each."""
        turns = self._make_turns(service) if self._make_turns else None
        for who, identity in self.identities.items():
            self._consoles[who] = Console(
                service,
                identity=identity,
                conversation=self.conversation,
                show=self._screens[who].append,
                width=None if self._width is None else self._columns,
                colour=self._width is not None,
                turns=turns,
            )

    async def say(self, who: str, text: str) -> None:
        """A line."""
        await self._consoles[who].hear(text)

    async def say_begun(self, who: str, text: str, begun_at: datetime) -> None:
        """A line whose first key was pressed at that time."""
        await self._consoles[who].hear(text, begun_at=begun_at)

    async def answer(self, who: str, call: Call, text: str) -> None:
        """A line, naming the call where it doesn't stand right above."""
        right_above = call.short in self._screens[who][-1]
        await self.say(who, text if right_above else f"{text} {call.short}")

    async def press(self, who: str, call: Call, verb: Verb) -> None:
        """A key, for the card that stands right above; else a command."""
        right_above = bool(self._screens[who]) and call.short in self._screens[who][-1]
        words = {Verb.APPROVE: "yes", Verb.REJECT: "no", Verb.DETAILS: "details"}
        await self.say(who, _KEYS[verb] if right_above else f"{words[verb]} {call.short}")

    async def react(self, who: str, call: Call, emoji: str) -> None:
        """A line with nothing but the emoji."""
        await self.answer(who, call, emoji)

    def card(self, call: Call) -> str:
        """The first that anybody saw of it."""
        seen = (text for screen in self._screens.values() for text in screen if call.short in text)
        return next(seen, "")

    def heard(self, who: str) -> list[str]:
        """The screen."""
        return self._screens[who]

    def leave(self, who: str) -> None:
        """Somebody closes their terminal."""
        self._consoles[who].leave()

    async def end(self, who: str) -> None:
        """Somebody ends the conversation."""
        await self._consoles[who].withdraw_all()

    def _columns(self) -> int:
        """How wide it is."""
        return self._width or 0
