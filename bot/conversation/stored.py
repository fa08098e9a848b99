"""Stored turns of an agent. A turn is the agent's work on one message, and continues after a restart.

A turn is stored before it begins. The turns of one conversation run one at a time.

There is one `StoredTurns` for all surfaces. A turn sends its messages through a `Voice`, an object that can write in
the turn's conversation. While the turn's surface has no voice, for example because a terminal was closed, the turn
isn't done and waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import deque
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.backoff import Backoff
from hitl.call import Ask, KeptTurn, Runs, Status
from hitl.cards.card import details, outcome_for_agent
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle, visible
from hitl.errors import SaysoError, Unavailable
from hitl.events import Text
from hitl.ports import Explaining, PlatformError
from hitl.records import replace
from hitl.throttle import Patience

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from bot.conversation.voice import Voice
    from bot.service import Service
    from hitl.call import Call
    from hitl.cards.wording import Wording
    from hitl.events import Heard
    from hitl.gate.response import Submitted
    from hitl.ports import ResumingAgent

#: An agent gets at most this many lines of a conversation as quotations, with at most this many characters each. The
#: lines of at most this many conversations are remembered.
_LINES, _LINE, _CONVERSATIONS = 50, 2000, 1000
#: At most this many characters of an agent's text are shown. The middle of a longer text is cut out.
_SHOWN = 3000
#: The number of attempts to send the outcome of a turn.
_TRIES_TO_SAY = 5
#: Seconds after which the "typing" sign is sent again. Telegram shows the sign for five seconds.
_WORKING_EVERY_S = 4.0
_log = logging.getLogger(__name__)


class StoredTurns:
    """Stores and runs the turns of one agent in all conversations."""

    def __init__(self, service: Service, agent: ResumingAgent) -> None:
        self.agent = agent
        self._service = service
        self._store = service.store
        self._voices: dict[str, list[Voice]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        #: The tasks that are recording calls. If a turn is stopped meanwhile, its call must be found and withdrawn.
        self.asking: set[asyncio.Task[Submitted]] = set()
        #: Limits explanations to one explanation a minute for each call.
        self._explained = Patience(time.monotonic)
        self._said: FIFOCache[str, deque[tuple[str, str]]] = FIFOCache(_CONVERSATIONS)
        #: Id of each message that wasn't written to the bot -> (conversation, (author, text)). A thread may begin
        #: below the message.
        self._roots: FIFOCache[str, tuple[str, tuple[str, str]]] = FIFOCache(_CONVERSATIONS)

    @property
    def idle(self) -> bool:
        """Return whether no turn is running."""
        return not self._running

    def listen(self, surface: str, voice: Voice) -> None:
        """Add a voice, which sends messages in the conversations of this surface.

        Open turns in these conversations continue.
        """
        self._voices.setdefault(surface, []).append(voice)
        self._service.accompany(self._resume())

    def leave(self, surface: str, voice: Voice) -> None:
        """Remove a voice. If a conversation has no other voice, its turns wait until it has one."""
        voices = self._voices.get(surface, [])
        if voice in voices:
            voices.remove(voice)

    async def _resume(self) -> None:
        try:
            for turn in await self._store.open_turns():
                self._work(turn.place)
        except Unavailable as error:
            _log.error("turn.not_resumed", {"why": error.message})

    def overheard(self, place: str, principal: str, text: str, message: str | None = None) -> None:
        """Remember a text that a person wrote to other people. In its next turn, the agent gets the text as a
        quotation.

        The texts are in memory only. If a turn begins in the thread below the text's message, the agent gets the text
        too.
        """
        lines = self._said.get(place) or deque(maxlen=_LINES)
        self._said[place] = lines
        line = (principal, cut_middle(text, _LINE).text)
        lines.append(line)
        if message:
            self._roots[message] = place, line

    def named(self, principal: str, place: str) -> str:
        """Return a person's name and principal for the agent, or the principal alone if no name is known."""
        name = self._service.gate.names.of(principal, place.partition(":")[0])
        return principal if name == principal else f"{name} ({principal})"

    def _said_before(self, heard: Text) -> tuple[tuple[str, str], ...]:
        """Return the texts that people wrote in a conversation since the last turn, with their authors, and forget
        these texts.

        If the conversation is a thread below a message, that message comes first.
        """
        said, here = list(self._said.pop(heard.conversation, ())), heard.conversation
        place, root = self._roots.pop(heard.thread or "", ("", None))
        if root and here.startswith(f"{place}/"):
            said.insert(0, root)
        return tuple((self.named(who, here), text) for who, text in said)

    async def begin(self, heard: Text, voice: Voice) -> None:
        """Store a turn. The turn starts when the earlier turns in the conversation have ended."""
        place = heard.conversation
        said, who = self._said_before(heard), voice.principal(heard)
        turn = KeptTurn(_name(heard), place, heard.identity, who, heard.message or "", heard.text, said)
        first = await self._store.last_turn(place) is None and place not in self._running
        fresh = await self._store.begin_turn(turn)
        if fresh and first:
            self._service.accompany(voice.entitle(heard))
        if fresh and place in self._running:
            await voice.tell(heard, voice.wording(heard).say("model.queued"), alone=True)
        self._work(place)

    def explain(self, heard: Text, call: Call, voice: Voice) -> bool:
        """Let the agent answer a person's question about one of the agent's pending calls, once a minute for each call.

        Return whether the agent answers. The agent doesn't answer if another agent asked for the call, if the call
        isn't pending, or if the agent explained it within the last minute.
        """
        mine = call.agent == self.agent.name and (call.key or "").startswith(_KEYS) and call.status is Status.PENDING
        if not mine or not self._explained.admits(call.ref):
            return False
        self._service.accompany(self._explain(heard, call, voice))
        return True

    async def _explain(self, heard: Text, call: Call, voice: Voice) -> None:
        """Send the agent's answer to a person's question about a card.

        `framed` marks the answer as the agent's words. The answer's message belongs to no call, so a yes to it approves
        nothing.
        """
        try:
            turns = await self._store.open_turns()
            turn = next((turn for turn in turns if _is_of(turn, call)), None)
            who, gate = voice.principal(heard), self._service.gate
            await gate.ready(call)
            card, wording = details(call, gate.names), voice.wording(heard)
            asked = Explaining(
                heard.text, self.named(who, heard.conversation), card, turn.state if turn else b"", wording
            )
            async with working(self._service, (voice,), heard.conversation):
                answer = await self.agent.explain(asked)
            await voice.tell(heard, framed(self.agent.name, answer, voice.wording(heard)))
        except (PlatformError, Unavailable) as error:
            _log.warning("turn.not_explained", {"ref": call.ref, "why": str(error)})

    async def stop(self, heard: Text, voice: Voice) -> bool:
        """In the conversation of a text, end the turns that its author may end, and send people a message about this.

        Return whether there was a turn to end.
        """
        withdrawn = await self._end(heard)
        if withdrawn is None:
            return False
        self._work(heard.conversation)
        await voice.tell(heard, voice.wording(heard).say("model.stopped", count=withdrawn))
        return True

    async def forget(self, heard: Heard, voice: Voice) -> None:
        """Begin a conversation again: the next turn knows nothing of the earlier turns there.

        The turns that this person may end are ended. Another person's turn continues, and later turns know nothing of
        it.
        """
        place, withdrawn = heard.conversation, await self._end(heard, forget=True)
        self._said.pop(place, None)
        blank = KeptTurn(_name(heard), place, heard.identity, voice.principal(heard), "", "", done=True)
        await self._store.begin_turn(blank)
        self._work(place)
        say = voice.wording(heard).say
        stopped = [] if withdrawn is None else [say("model.stopped", count=withdrawn)]
        await voice.tell(heard, "\n".join([*stopped, say("model.forgotten")]))

    async def _end(self, heard: Heard, *, forget: bool = False) -> int | None:
        """In a conversation, end the turns that this person may end. Return the number of their calls that were
        withdrawn.

        A turn may be ended by its requester and by operators. Return None if this person may end no turn. With
        `forget`, the next turn doesn't get the state of the ended turns.
        """
        access, principal = self._service.gate.access, self._service.gate.people.principal(heard.identity)
        turns = [turn for turn in await self._store.open_turns() if turn.place == heard.conversation]
        mine = [turn for turn in turns if access.operates(principal) or turn.requester == principal]
        if not mine:
            return None
        if task := self._running.get(heard.conversation):
            task.cancel()
            await asyncio.wait({task, *self.asking})
        last, withdrawn = await self._store.last_turn(heard.conversation), 0
        state = last.state if last else b""
        for turn in mine:
            withdrawn += await self._withdraw(turn, heard.identity)
            # The turn may have advanced since it was read.
            kept = next((kept for kept in await self._store.open_turns() if kept.id == turn.id), turn)
            # A turn that never began has no state. In this case, the next turn gets the state of the turn before it.
            state = kept.state or state
            await self._store.keep_turn(replace(kept, state=b"" if forget else state, done=True))
        return withdrawn

    async def _withdraw(self, turn: KeptTurn, identity: str) -> int:
        """Withdraw the pending calls of a turn. Return how many were withdrawn."""
        count = 0
        for call in await self._store.pending(origin=turn.place):
            if _is_of(turn, call):
                try:
                    await self._service.gate.withdraw(call.ref, identity)
                except SaysoError as error:
                    _log.info("turn.not_withdrawn", {"ref": call.ref, "why": error.message})
                else:
                    count += 1
        return count

    def _work(self, place: str) -> None:
        """Begin to run the turns of a conversation, unless they are running already or no voice can send their
        messages.
        """
        if place not in self._running and self.voices(place):
            self._running[place] = self._service.accompany(self._through(place))

    async def _through(self, place: str) -> None:
        """Run the open turns of a conversation, one after the other. If the store fails, wait and retry."""
        pauses = Backoff()
        try:
            while True:
                try:
                    open_turns = await self._store.open_turns() if self.voices(place) else ()
                    turn = next((turn for turn in open_turns if turn.place == place), None)
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

    async def _take(self, kept: KeptTurn) -> None:
        """Run a turn to its end, and send its outcome. If the platform fails, wait and retry.

        Raises Unavailable if the store fails.
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
            except Exception:  # noqa: BLE001 - the error is logged and people are informed; else the conversation would hang
                _log.exception("turn.broken", {"turn": kept.id})
                await turn.say_if_possible(turn.wording.say("model.broken"))
                break
            await asyncio.sleep(pauses.next())
        if turn.heard:
            await self._store.keep_turn(replace(turn.kept, done=True))

    def voices(self, place: str) -> Sequence[Voice]:
        """Return the voices that send messages in a conversation. Return () while its surface has no voice."""
        return tuple(self._voices.get(place.partition(":")[0], ()))


class _Turn:
    """Implements `hitl.ports.StoredTurn`.

    `heard` becomes False if the conversation had no voice (`Voice`) to send a message of the turn. Then the turn stays
    open.
    """

    def __init__(self, service: Service, turns: StoredTurns, kept: KeptTurn, before: bytes) -> None:
        self.kept = kept
        self.before = before
        self.heard = True
        self._service = service
        self._turns = turns
        self.on_behalf_of = kept.requester

    @property
    def wording(self) -> Wording:
        """The wording in the language of the conversation."""
        return self._service.gate.people.wording(self.kept.place)

    @property
    def asked_by(self) -> str:
        """The name and principal of the requester."""
        return self._turns.named(self.on_behalf_of, self.kept.place)

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
        """Send a text as the agent's words, framed so that none of its lines looks like a line of the service."""
        if text.strip():
            await self._tell(framed(self._turns.agent.name, text, self.wording))

    async def _tell(self, text: str, about: Call | None = None) -> None:
        voices, kept = self._turns.voices(self.kept.place), self.kept
        self.heard = self.heard and bool(voices)
        heard = Text(identity=kept.identity, conversation=kept.place, message=kept.message or None, text=kept.text)
        for voice in voices:
            await voice.tell(heard, text, about)

    def working(self) -> AbstractAsyncContextManager[None]:
        """While the context is open, show people that the agent is preparing an answer."""
        return working(self._service, self._turns.voices(self.kept.place), self.kept.place)

    async def say_if_possible(self, text: str) -> None:
        """Send a text. If sending fails, only log the failure."""
        try:
            await self.say(text)
        except PlatformError as error:
            _log.warning("turn.not_said", {"turn": self.kept.id, "why": str(error)})

    async def call(self, tools: str, tool: str, args: Mapping[str, object], *, name: str) -> Call:
        """Ask for a call in the requester's name, unless this turn asked for it before.

        Return the call when it has ended.

        An earlier call is found by its idempotency key alone. Its arguments aren't compared: they may differ now,
        because the earlier run may have changed a file that they describe.
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
        """Tell people that a call was denied or couldn't be delivered, because such a call has no card."""
        if call.status in {Status.DENIED, Status.UNDELIVERABLE}:
            try:
                await self._tell(outcome_for_agent(call, self.wording), call)
            except PlatformError as error:
                _log.warning("turn.not_said", {"turn": self.kept.id, "why": str(error)})


@contextlib.asynccontextmanager
async def working(service: Service, voices: Sequence[Voice], place: str) -> AsyncGenerator[None]:
    """While the context is open, show people in a conversation that an answer is being made."""
    showing = service.accompany(show_working(voices, place))
    try:
        yield
    finally:
        showing.cancel()


async def show_working(voices: Sequence[Voice], place: str) -> None:
    """Show people in a conversation that an answer is being made, until this task is cancelled.

    If the platform refuses once, the task doesn't try again, because people don't need this sign.
    """
    try:
        while True:
            for voice in voices:
                await voice.talker.working(place, on=True)
            await asyncio.sleep(_WORKING_EVERY_S)
    except PlatformError as error:
        _log.info("turn.not_shown", {"place": place, "why": str(error)})
    except asyncio.CancelledError:
        with contextlib.suppress(PlatformError):
            for voice in voices:
                await voice.talker.working(place, on=False)
        raise


def framed(agent: str, text: str, wording: Wording) -> str:
    """Return an agent's text for people: under the agent's name, each line after a bar, secrets masked, a long text
    cut.
    """
    shown = cut_middle(mask(visible(text.strip())), _SHOWN, wording).text
    return "\n".join([wording.say("model.says", agent=agent), *(f"│ {line}" for line in shown.splitlines())])


def _name(heard: Heard) -> str:
    """Return the id of the turn that an event begins: the event's own id, or a random id for an event without an id.

    If the same event comes twice, both have the same id, and begin only one turn.
    """
    return ":".join(heard.event) if heard.event else f"{heard.conversation}:{secrets.token_hex(8)}"


#: The beginning of the idempotency key of every call of a stored turn.
_KEYS = "turn:"


def _key(turn: KeptTurn, name: str) -> str:
    return f"{_KEYS}{turn.id}#{name}"


def _is_of(turn: KeptTurn, call: Call) -> bool:
    """Return whether the turn asked for the call.

    The call's idempotency key alone doesn't prove this, because each caller chooses its own keys. So the requester and
    the origin are compared too.
    """
    asked_here = (call.requester, call.origin) == (turn.requester, turn.place)
    return asked_here and (call.key or "").startswith(_key(turn, ""))
