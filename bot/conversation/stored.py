"""Turns of a resuming agent.

They are stored before they begin, run one at a time in a conversation, and continue after a restart.

There is one `StoredTurns` for all surfaces. A turn needs a voice to send its messages. While its surface has no voice,
as with a terminal that is closed, the turn stays open.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.backoff import Backoff
from hitl.call import Ask, KeptTurn, Runs, Status
from hitl.cards.card import outcome_for_agent
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle, visible
from hitl.cards.wording import IN_ENGLISH
from hitl.errors import SaysoError, Unavailable
from hitl.events import Text
from hitl.ports import PlatformError
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.conversation.voice import Voice
    from bot.service import Service
    from hitl.call import Call
    from hitl.cards.wording import Wording
    from hitl.gate.response import Submitted
    from hitl.ports import ResumingAgent

#: Lines of a conversation that an agent gets as quotations, the longest line, and the number of remembered
#: conversations.
_LINES, _LINE, _CONVERSATIONS = 50, 2000, 1000
#: The longest text of an agent that is shown. The middle of a longer text is cut out.
_SHOWN = 3000
#: Sending the outcome of a turn is tried this many times.
_TRIES_TO_SAY = 5
_log = logging.getLogger(__name__)


class StoredTurns:
    """The turns of one agent in all conversations."""

    def __init__(self, service: Service, agent: ResumingAgent) -> None:
        self.agent = agent
        self._service = service
        self._store = service.store
        self._voices: dict[str, list[Voice]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        #: Calls that are being recorded. If the turn is stopped meanwhile, the call must be found and withdrawn.
        self.asking: set[asyncio.Task[Submitted]] = set()
        self._said: FIFOCache[str, deque[tuple[str, str]]] = FIFOCache(_CONVERSATIONS)

    @property
    def idle(self) -> bool:
        """Return whether no turn is running."""
        return not self._running

    def listen(self, surface: str, voice: Voice) -> None:
        """Add a voice for conversations of this surface.

        Open turns there go on.
        """
        self._voices.setdefault(surface, []).append(voice)
        self._service.accompany(self._resume())

    def leave(self, surface: str, voice: Voice) -> None:
        """Remove a voice. While a conversation has no voice, its turns stay open."""
        voices = self._voices.get(surface, [])
        if voice in voices:
            voices.remove(voice)

    async def _resume(self) -> None:
        try:
            for turn in await self._store.open_turns():
                self._work(turn.place)
        except Unavailable as error:
            _log.error("turn.not_resumed", {"why": error.message})

    def overheard(self, place: str, principal: str, text: str) -> None:
        """Remember a text that was said to others, to quote it to the agent in the next turn there."""
        lines = self._said.get(place) or deque(maxlen=_LINES)
        self._said[place] = lines
        name = self._service.gate.names.of(principal, place.partition(":")[0])
        who = principal if name == principal else f"{name} ({principal})"
        lines.append((who, cut_middle(text, _LINE).text))

    async def begin(self, heard: Text, voice: Voice) -> None:
        """Store a turn, and begin it when the earlier turns in the conversation have ended."""
        place = heard.conversation
        name = ":".join(heard.event) if heard.event else f"{place}:{secrets.token_hex(8)}"
        said = tuple(self._said.pop(place, ()))
        who = voice.principal(heard)
        turn = KeptTurn(name, place, heard.identity, who, heard.message or "", heard.text, said)
        fresh = await self._store.begin_turn(turn)
        if fresh and place in self._running:
            await voice.tell(heard, voice.wording(heard).say("model.queued"), alone=True)
        self._work(place)

    async def stop(self, heard: Text, voice: Voice) -> bool:
        """End the turns of a conversation that this person may end, and withdraw their pending calls.

        A turn may be ended by its requester and by operators. Returns False if there is no such turn.
        """
        access, principal = self._service.gate.access, self._service.gate.people.principal(heard.identity)
        turns = [turn for turn in await self._store.open_turns() if turn.place == heard.conversation]
        mine = [turn for turn in turns if access.operates(principal) or turn.requester == principal]
        if not mine:
            return False
        if task := self._running.get(heard.conversation):
            task.cancel()
            await asyncio.wait({task, *self.asking})
        withdrawn = 0
        for turn in mine:
            withdrawn += await self._withdraw(turn, heard.identity)
            await self._store.keep_turn(replace(await self._as_kept(turn), done=True))
        self._work(heard.conversation)
        await voice.tell(heard, voice.wording(heard).say("model.stopped", count=withdrawn))
        return True

    async def _as_kept(self, turn: KeptTurn) -> KeptTurn:
        """Return the turn in its stored form, because it may have gone on since it was read."""
        return next((kept for kept in await self._store.open_turns() if kept.id == turn.id), turn)

    async def _withdraw(self, turn: KeptTurn, identity: str) -> int:
        """Withdraw the pending calls of a turn. Return how many were withdrawn."""
        count = 0
        for call in await self._store.pending(origin=turn.place):
            if call.key and call.key.startswith(_key(turn, "")):
                try:
                    await self._service.gate.withdraw(call.ref, identity)
                except SaysoError as error:
                    _log.info("turn.not_withdrawn", {"ref": call.ref, "why": error.message})
                else:
                    count += 1
        return count

    def _work(self, place: str) -> None:
        """Run the turns of a conversation, unless they are running already or there is no voice."""
        if place not in self._running and self.voices(place):
            self._running[place] = self._service.accompany(self._through(place))

    async def _through(self, place: str) -> None:
        """Run the open turns of a conversation, one after the other. If the store is in trouble, wait and retry."""
        pauses = Backoff()
        try:
            while True:
                try:
                    turn = await self._next(place)
                    if turn is None:
                        return
                    await self._take(turn)
                except Unavailable as error:
                    _log.warning("turn.postponed", {"place": place, "why": error.message})
                    await asyncio.sleep(pauses.next())
                else:
                    pauses.reset()
        finally:
            del self._running[place]

    async def _next(self, place: str) -> KeptTurn | None:
        open_turns = await self._store.open_turns() if self.voices(place) else ()
        return next((turn for turn in open_turns if turn.place == place), None)

    async def _take(self, kept: KeptTurn) -> None:
        """Run a turn to its end, and send its outcome. If the platform is in trouble, wait and retry.

        Raises Unavailable.
        """
        last = await self._store.last_turn(kept.place)
        turn, pauses, unsaid = _Turn(self._service, self, kept, last.state if last else b""), Backoff(), 0
        while True:
            try:
                await turn.say(await self.agent.take(turn))
                break
            except Unavailable:
                raise
            except PlatformError as error:
                unsaid += 1
                _log.warning("turn.not_said", {"turn": kept.id, "why": str(error)})
                if not error.passing or unsaid >= _TRIES_TO_SAY:
                    break
            except Exception:  # noqa: BLE001 - it is logged and people are informed: without this the conversation would hang
                _log.exception("turn.broken", {"turn": kept.id})
                await turn.say_if_possible(turn.wording.say("model.broken"))
                break
            await asyncio.sleep(pauses.next())
        if turn.heard:
            await self._store.keep_turn(replace(turn.kept, done=True))

    def voices(self, place: str) -> Sequence[Voice]:
        """Return the voices in a conversation, or none while nobody listens there."""
        return tuple(self._voices.get(place.partition(":")[0], ()))


class _Turn:
    """Implements `hitl.ports.StoredTurn`. `heard` is False if a message was lost because there was no voice."""

    def __init__(self, service: Service, turns: StoredTurns, kept: KeptTurn, before: bytes) -> None:
        self.kept = kept
        self.before = before
        self.heard = True
        self._service = service
        self._turns = turns
        self.on_behalf_of = kept.requester

    @property
    def wording(self) -> Wording:
        """The language of the conversation."""
        return self._service.gate.people.wording(self.kept.place)

    @property
    def text(self) -> str:
        """The text that began the turn."""
        return self.kept.text

    @property
    def said(self) -> Sequence[tuple[str, str]]:
        """The other texts in the conversation since the last turn, with their authors."""
        return self.kept.said

    @property
    def state(self) -> bytes:
        """The state that the agent stored for this turn."""
        return self.kept.state

    async def keep(self, state: bytes) -> None:
        """Store the state that the agent needs to continue."""
        self.kept = replace(self.kept, state=state)
        await self._service.store.keep_turn(self.kept)

    async def say(self, text: str) -> None:
        """Send a text as the agent's words, framed so that no line of it looks like one of ours."""
        if text.strip():
            await self._tell(framed(self._turns.agent.name, text, self.wording))

    async def _tell(self, text: str, about: Call | None = None) -> None:
        voices, kept = self._turns.voices(self.kept.place), self.kept
        self.heard = self.heard and bool(voices)
        heard = Text(identity=kept.identity, conversation=kept.place, message=kept.message or None, text=kept.text)
        for voice in voices:
            await voice.tell(heard, text, about)

    async def say_if_possible(self, text: str) -> None:
        """Send a text. A failure is only logged."""
        try:
            await self.say(text)
        except PlatformError as error:
            _log.warning("turn.not_said", {"turn": self.kept.id, "why": str(error)})

    async def call(self, tools: str, tool: str, args: Mapping[str, object], *, name: str) -> Call:
        """Ask for a call in the requester's name, unless it was asked for before. Return the call when it has ended.

        An earlier call is found by its key and not by its arguments: its effect may have changed what they would do
        now.
        """
        key = _key(self.kept, name)
        call = await self._service.store.by_key(self.on_behalf_of, key)
        if call is None:
            agent = self._turns.agent.name
            ask = Ask(tools, tool, args, self.on_behalf_of, self.kept.place, Runs.SERVICE, agent=agent, key=key)
            asking = asyncio.create_task(self._service.submit(ask))
            self._turns.asking.add(asking)
            asking.add_done_callback(self._turns.asking.discard)
            call = (await asyncio.shield(asking)).call
            await self._tell_refused(call)
        call = await self._service.ended(call)
        return await self._service.explained(call) if call.awaits_reason else call

    async def _tell_refused(self, call: Call) -> None:
        """Inform people about a call that was denied or couldn't be delivered, because it has no card."""
        if call.status in {Status.DENIED, Status.UNDELIVERABLE}:
            try:
                await self._tell(outcome_for_agent(call, self.wording), call)
            except PlatformError as error:
                _log.warning("turn.not_said", {"turn": self.kept.id, "why": str(error)})


def framed(agent: str, text: str, wording: Wording = IN_ENGLISH) -> str:
    """Return an agent's words as people see them: each line after a bar, secrets masked, cut in the middle if long."""
    shown = cut_middle(mask(visible(text.strip())), _SHOWN, wording).text
    return "\n".join([wording.say("model.says", agent=agent), *(f"│ {line}" for line in shown.splitlines())])


def _key(turn: KeptTurn, name: str) -> str:
    return f"turn:{turn.id}#{name}"
