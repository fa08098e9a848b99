"""Routes each event of a surface: presses, words and commands to the gate, other texts to the agent.

This module has no code for single platforms. Each surface has a declaration and a `Talker`, which sends its messages.
It passes its events (`Heard`) to `handle`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.agents.offline import Offline
from bot.conversation.commands import Commands
from bot.conversation.presses import Presses
from bot.conversation.turns import Turns
from bot.conversation.voice import Voice
from bot.conversation.words import Words
from hitl.call import Event
from hitl.events import Command, Echo, Explained, Heard, Moved, Opened, PageTurned, Press, Reaction, Text
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.conversation.stored import StoredTurns
    from bot.service import Service
    from hitl.platforms import Talker
    from hitl.ports import Agent
    from hitl.surfaces import Surface


class Router:
    """Handles the events of all conversations of one surface."""

    def __init__(
        self,
        service: Service,
        talker: Talker,
        surface: Surface,
        agent: Agent | None = None,
        turns: StoredTurns | None = None,
    ) -> None:
        voice = Voice(service, talker, surface)
        presses, spoken = Presses(voice), Turns(voice, agent or Offline(), turns)
        words = Words(voice, spoken)
        self._voice = voice
        self._stored = turns
        self._acts: Mapping[type[Heard], Callable[[Any], Awaitable[None]]] = {
            Press: presses.pressed,
            Text: words.said,
            Reaction: words.reacted,
            Explained: words.explained,
            Command: Commands(voice, spoken).commanded,
            Opened: spoken.opened,
            PageTurned: self._page_turned,
            Echo: presses.echo,
            Moved: self._moved,
        }

    def listen(self, surface: str) -> None:
        """Begin to deliver the messages of agents' turns in the conversations of this surface. Continue the open turns
        there.
        """
        if self._stored is not None:
            self._stored.listen(surface, self._voice)

    def leave(self, surface: str) -> None:
        """Stop delivering the messages of agents' turns on this surface. Open turns wait until `listen` is called
        again.
        """
        if self._stored is not None:
            self._stored.leave(surface, self._voice)

    async def handle(self, heard: Heard) -> None:
        """Handle an event. Raises the errors of the store and the platform."""
        self._voice.gate.names.learn(heard.identity, heard.called, heard.handle)
        heard = replace(heard, conversation=await self._began_as(heard.conversation))
        await (self._barred if heard.barred else self._acts[type(heard)])(heard)

    async def _barred(self, heard: Heard) -> None:
        """Record an event that can't decide a call because of its `barred` reason, whoever sent the event.

        If the event was meant for the service, send the reason to the person.
        """
        about, reaction = await self._voice.about(heard), isinstance(heard, Reaction)
        if reaction and not (about and about.place):
            return
        await self._voice.record(heard, Event.BARRED, about)
        if heard.program or (reaction and heard.press is None):
            return
        await self._voice.say_barred(heard, await self._voice.store.get(about.ref) if about else None)

    async def _page_turned(self, heard: PageTurned) -> None:
        """Show a page of a call's details to the person who turned to it, if this person may see the call."""
        call = await self._voice.store.get(heard.ref)
        if call is not None and self._voice.may_see(heard, call):
            await self._voice.show(heard, call)

    async def _moved(self, heard: Moved) -> None:
        """Handle a conversation that its platform renamed. A platform may announce a new name more than once."""
        self._voice.talker.learn_move(heard.conversation, heard.moved_to)
        if (await self._voice.store.moves()).get(heard.conversation) != heard.moved_to:
            await self._voice.service.moved(heard.conversation, heard.moved_to)

    async def _began_as(self, conversation: str) -> str:
        """Return the name that a conversation had when it began, however often the platform has renamed it since."""
        moves = {new: old for old, new in (await self._voice.store.moves()).items()}
        while conversation in moves:
            conversation = moves.pop(conversation)
        return conversation
