"""Handles texts that answer no card. Such a text begins a turn of the agent."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl import replies
from hitl.call import Ask, Runs, Status
from hitl.cards.card import outcome_for_agent, whole
from hitl.errors import NotApprover, SaysoError, Unavailable
from hitl.outcomes import Doubt, Refusal, fact
from hitl.ports import Line, PlatformError
from hitl.question import is_question
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.conversation.stored import StoredTurns
    from bot.conversation.voice import Voice
    from hitl.call import Call
    from hitl.events import Heard, Opened, Text
    from hitl.gate.response import Answer
    from hitl.ports import Agent

#: Matches a question about the pending calls. The answer to such a question shows the details of these calls.
_ABOUT = re.compile(
    r"(?:what (?:does|would|will) (?:it|this|that) do|show (?:me )?(?:it|the )?details?|details|why)\s*\??"
)
#: Matches the word that ends the turn of an agent.
_STOP = re.compile(r"stop[.!]*")
#: Matches the words that make the agent forget a conversation.
_NEW = re.compile(r"(?:new|reset)[.!]*")
#: An agent gets at most this many of the latest texts of a conversation. The texts of at most this many conversations
#: are remembered.
_LINES, _CONVERSATIONS = 50, 1000
#: If an agent needs more seconds than this to ask for its first call, the next events of its conversation no longer
#: wait for that call.
_BEGUN_WITHIN_S = 30.0
#: The reply reader's reasons why a question is neither yes nor no.
_QUESTIONS = (Doubt.QUESTION, Doubt.QUESTION_WORDS)
_log = logging.getLogger(__name__)


class Turns:
    """The agent's turns in the conversations of one surface."""

    def __init__(self, voice: Voice, agent: Agent, stored: StoredTurns | None = None) -> None:
        self._voice = voice
        self._stored = stored
        self._agent = agent
        self._history: FIFOCache[str, deque[Line]] = FIFOCache(_CONVERSATIONS)

    def is_for_agent(self, heard: Text) -> bool:
        """Return whether a text is a command or a question to the agent. The caller has found that the text decides no
        call.

        Any other text counts as an unclear answer to a card.
        """
        listens = heard.addressed or heard.overheard
        return listens and (_is_question(heard.text) or (self._stored is None and self._agent.understands(heard.text)))

    async def stopped(self, heard: Text) -> bool:
        """If the text is "stop" and its author may end the agent's turn in this conversation, end the turn.

        Return whether a turn was ended.
        """
        if self._stored is None or not _is_word(_STOP, heard):
            return False
        return await self._stored.stop(heard, self._voice)

    async def renewed(self, heard: Text) -> bool:
        """If the text is "new" or "reset" and its author may start turns in this conversation, let the agent forget the
        conversation.

        Return whether the agent forgot the conversation. In a private chat or a thread with an open question, the word
        is an answer to that question instead.
        """
        if not (_is_word(_NEW, heard) and self._may_ask(heard)):
            return False
        if heard.private and any(map(is_question, await self._voice.store.pending(origin=heard.conversation))):
            return False
        await self.forget(heard)
        return True

    async def forget(self, heard: Heard) -> None:
        """Let the agent forget the earlier turns of the event's conversation.

        If the person who asks for this may start no turns there, refuse it.
        """
        if not self._may_ask(heard):
            return await self._refuse(heard)
        self._history.pop(heard.conversation, None)
        if self._stored is not None:
            return await self._stored.forget(heard, self._voice)
        return await self._voice.tell(heard, self._voice.wording(heard).say("model.forgotten"))

    def explains(self, heard: Text, call: Call | None) -> bool:
        """If this text is a question about one of the agent's pending calls, let the agent answer it.

        Return whether the agent answers. Only a person who may see the call gets an answer.
        """
        if self._stored is None or call is None or not self._voice.may_see(heard, call):
            return False
        said = replies.verdict(replies.read(heard.text, language=heard.language, spans=heard.spans))
        return said.doubt in _QUESTIONS and self._stored.explain(heard, call, self._voice)

    async def opened(self, heard: Opened) -> None:
        """Suggest texts to a person who opened a conversation.

        If they can't write before the bot does, greet them first.
        """
        wording, prefix, may_ask = self._voice.wording(heard), self._voice.surface.prefix, self._may_ask(heard)
        if heard.waits:
            await self._voice.tell(heard, self._help(heard))
        question = wording.say("model.prompt.help")
        prompts = {question: question} if may_ask else {}
        prompts |= {wording.say(f"model.prompt.{name}"): f"{prefix}{name}" for name in ("pending", "whoami")}
        await self._voice.talker.suggest(heard.conversation, wording.say("model.title"), prompts)

    async def take(self, heard: Text, otherwise: Answer) -> None:
        """Begin a turn of the agent if the text is for the agent.

        If it isn't, send the gate's answer `otherwise`. If that answer is empty and the text was meant for the service,
        send the help text.
        """
        if self.is_for_agent(heard):
            return await (self._explain(heard) if _is_question(heard.text) else self._begin(_there(heard)))
        if self._stored is not None and heard.text.strip() and not otherwise.text:
            return await self._store(_there(heard), self._stored)
        if heard.addressed:
            text = otherwise.told(self._voice.gate.names, self._voice.wording(heard))
            return await self._voice.tell(heard, text or self._help(heard), otherwise.call, alone=bool(text))
        if otherwise.text and self._voice.may_question(heard, None):
            text = otherwise.told(self._voice.gate.names, self._voice.wording(heard))
            await self._voice.tell(heard, text, otherwise.call, alone=True)
        return None

    async def _store(self, heard: Text, stored: StoredTurns) -> None:
        """Begin a stored turn for a person who may ask. If the person may not ask, only remember the text, as a
        quotation for the agent.
        """
        if heard.addressed and self._may_ask(heard):
            return await stored.begin(heard, self._voice)
        stored.overheard(heard.conversation, self._voice.principal(heard), heard.text, heard.message)
        return await self._refuse(heard) if heard.addressed else None

    def _help(self, heard: Heard) -> str:
        """Return the help text for the person who sent the event: what this person may do in the conversation."""
        agent, wording = self._stored.agent if self._stored else self._agent, self._voice.wording(heard)
        return agent.help(wording) if self._may_ask(heard) else wording.say(self._voice.surface.help)

    def _may_ask(self, heard: Heard) -> bool:
        """Return whether the person who sent the event may start turns in that conversation."""
        return self._voice.gate.access.may_ask(self._voice.principal(heard), heard.conversation)

    async def _refuse(self, heard: Heard) -> None:
        """Answer that the person may start no turns in this conversation."""
        refused = NotApprover(fact(Refusal.REQUESTER, who=self._voice.principal(heard)))
        told = f"{refused.told(self._voice.wording(heard))} {self._voice.whoami(heard)}"
        await self._voice.tell(heard, told, alone=True)

    async def _explain(self, heard: Text) -> None:
        """Show the pending calls of this conversation in full, if the person may see them.

        If there is only one pending call, and the agent can explain it, the agent answers instead.
        """
        waiting = await self._voice.store.pending(origin=heard.conversation)
        calls = [call for call in waiting if self._voice.may_see(heard, call)]
        if not calls:
            return await self._voice.tell(heard, self._voice.wording(heard).say("chat.pending.none"))
        if len(calls) == 1 and self.explains(heard, calls[0]):
            return None
        for call in calls:
            await self._voice.gate.ready(call)
            file = whole(call, self._voice.gate.names, self._voice.wording(heard))
            await self._voice.talker.show(heard.conversation, file, about=call.ref)
        return None

    async def _begin(self, heard: Text) -> None:
        """Begin a turn, and return when its first call is recorded.

        While the turn continues, people may answer that call. If the turn fails before its first call is recorded, this
        method raises the error, and the inbox tries the event again. If the call was recorded in spite of the error,
        the next attempt finds the call by its idempotency key.
        """
        lines = self._history.get(heard.conversation) or deque(maxlen=_LINES)
        self._history[heard.conversation] = lines
        turn = _Turn(self._voice, heard, self._agent.name, lines)
        self._voice.service.accompany(self._taken(turn, heard))
        begun, _ = await asyncio.wait({turn.begun}, timeout=_BEGUN_WITHIN_S)
        if begun:
            turn.begun.result()

    async def _taken(self, turn: _Turn, heard: Text) -> None:
        try:
            await turn.end(await self._said(turn, heard))
        except asyncio.CancelledError:
            turn.begun.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - `_begin` raises the error, or it is logged here
            if turn.begun.done():
                _log.warning("turn.broken", {"why": str(error)}, exc_info=not isinstance(error, PlatformError))
            else:
                turn.begun.set_exception(error)

    async def _said(self, turn: _Turn, heard: Text) -> str:
        """Run the agent's turn. Return the text that ends it: the agent's last words, or the reason why the agent can't
        ask for a call.
        """
        try:
            return await self._agent.take(turn)
        except Unavailable:
            raise
        except NotApprover as error:
            return f"{error.told(self._voice.wording(heard))} {self._voice.whoami(heard)}"
        except SaysoError as error:
            return error.told(self._voice.wording(heard), self._voice.gate.names)


class _Turn:
    """Implements `hitl.ports.Turn` for one text.

    The future `begun` resolves when a call is recorded or the turn has ended.
    """

    def __init__(self, voice: Voice, heard: Text, agent: str, lines: deque[Line]) -> None:
        self.text = heard.text
        self.on_behalf_of = voice.principal(heard)
        self.history: Sequence[Line] = tuple(lines)
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._voice = voice
        self._heard = heard
        self._agent = agent
        self._lines = lines
        self._calls = 0
        lines.append(Line(self.on_behalf_of, heard.text))

    async def call(self, tools: str, tool: str, args: Mapping[str, object]) -> Call:
        """Ask for a call in the name of the person who wrote the text. Return the call when it has ended."""
        self._calls += 1
        key = self._heard.message if self._calls == 1 else f"{self._heard.message}#{self._calls}"
        place, key = self._heard.conversation, key if self._heard.message else None
        ask = Ask(tools, tool, args, self.on_behalf_of, place, Runs.SERVICE, agent=self._agent, key=key)
        call = (await self._voice.service.submit(ask)).call
        if call.status in {Status.DENIED, Status.UNDELIVERABLE}:
            await self._voice.tell(self._heard, outcome_for_agent(call, self._voice.wording(self._heard)), call)
        self._begin()
        call = await self._voice.service.ended(call)
        self._lines.append(Line(None, outcome_for_agent(call)))
        return call

    async def end(self, text: str) -> None:
        """Send the last words of the turn, if there are any."""
        if text:
            self._lines.append(Line(None, text))
            await self._voice.tell(self._heard, text, alone=not self.begun.done())
        self._begin()

    def _begin(self) -> None:
        if not self.begun.done():
            self.begun.set_result(None)


def _there(heard: Text) -> Text:
    """Return the text with the conversation in which its turn runs: the thread that the text opens, or else the text's
    own conversation.
    """
    return replace(heard, conversation=heard.opens) if heard.opens else heard


def _is_word(word: re.Pattern[str], heard: Text) -> bool:
    """Return whether a text is meant for the agent and consists of this word alone."""
    listens = heard.addressed or heard.overheard or heard.private
    return listens and word.fullmatch(heard.text.strip().casefold()) is not None


def _is_question(text: str) -> bool:
    return _ABOUT.fullmatch(text.strip().casefold()) is not None
