"""Handles texts, emoji and reasons of people.

The gate gets the texts that may answer a card; the agent gets all other texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cachetools import FIFOCache

from bot.conversation.voice import DECIDED
from hitl import replies
from hitl.call import Decision, Reply, ReplyKind, Verb
from hitl.gate.response import NOTHING, Came
from hitl.question import is_question
from hitl.records import replace

if TYPE_CHECKING:
    from bot.conversation.turns import Turns
    from bot.conversation.voice import Voice
    from hitl.call import Call
    from hitl.events import Explained, Reaction, Text

#: Kinds of answers to a text that may have been meant for somebody else.
_QUESTIONS = frozenset({Came.UNCLEAR, Came.WHICH, Came.NOT_A_REPLY})
#: At most this many of the messages in `_spent` are remembered.
_SPENT = 1000


class Words:
    """Handles texts, reactions and reasons in the conversations of one surface."""

    def __init__(self, voice: Voice, turns: Turns) -> None:
        self._voice = voice
        self._turns = turns
        self._service = voice.service
        #: Ids of the messages that asked for a reason and got it with the first of two approvals. The second approval
        #: begins with another press, after which the service asks for the reason again.
        self._spent: FIFOCache[str | None, None] = FIFOCache(_SPENT)

    async def said(self, heard: Text) -> None:
        """Decide the call that a text answers. If the text answers no card, pass it to the agent."""
        pointed = await self._voice.gate.pointed_at(heard.answers) if heard.answers else None
        if pointed is not None and pointed.asks == heard.identity:
            return await self._reason(heard, pointed.ref)
        if pointed is None and (await self._turns.stopped(heard) or await self._turns.renewed(heard)):
            return None
        if (call := await self._unexplained(heard, pointed.ref if pointed else None)) is not None:
            return await self._explain(heard, call)
        for answer in await self._service.decide(self._reply(heard)):
            direct = pointed is not None and answer.call is not None
            if answer.came is Came.UNCLEAR and self._turns.explains(heard, answer.call):
                continue
            if answer.came is Came.NOT_A_REPLY:
                await self._turns.take(heard, answer)
            elif answer.came is Came.UNCLEAR and not direct and self._turns.is_for_agent(heard):
                await self._turns.take(heard, NOTHING)
            elif direct or answer.came not in _QUESTIONS or self._voice.may_question(heard, answer.call):
                await self._voice.answer(heard, answer)
        return None

    async def reacted(self, heard: Reaction) -> None:
        """Decide by an emoji on a card. An emoji on any other message is ignored."""
        known = await self._voice.store.by_message(heard.message) if heard.message else None
        if known is None:
            return
        reply = self._voice.reply(heard, ReplyKind.REACTION, text=heard.text, answers=heard.message)
        for answer in await self._service.decide(reply):
            if answer.came not in DECIDED:
                await self._voice.answer(replace(heard, conversation=known[1]), answer)

    async def explained(self, heard: Explained) -> None:
        """Handle a reason or an answer that was entered in a window.

        The reason is added to the rejection, or the approval that opened the window is made now, with this reason.
        """
        if heard.verb is Verb.REJECT:
            reasoned = await self._voice.gate.add_reason(heard.ref, heard.identity, heard.text)
            return await self._voice.answer(heard, reasoned)
        reply = self._voice.reply(
            heard, ReplyKind.BUTTON, verb=Verb.APPROVE, target=heard.ref, reason=heard.text or None
        )
        for answer in await self._service.decide(reply):
            await self._voice.answer(heard, answer, alone=True)
        return None

    async def _reason(self, heard: Text, ref: str) -> None:
        """Handle a reason for which this person was asked.

        The reason completes their approval, or explains their rejection.

        If the words may not be a reason (a question, a condition, a "wait", a "no"), they don't complete the approval,
        and are handled like any other reply.
        """
        call, who = await self._voice.store.get(ref), self._voice.principal(heard)
        if call is not None and call.decision is Decision.REJECTED and call.decided_by == who:
            return await self._voice.answer(heard, await self._voice.gate.add_reason(ref, heard.identity, heard.text))
        reply = self._reply(heard, target=ref)
        # If the call is a question to people, any words of this person are the answer to that question.
        answers = call is not None and is_question(call)
        is_reason = not answers and replies.unformatted(heard.spans) and replies.is_reason(heard.text)
        if is_reason and heard.answers not in self._spent:
            reply = replace(reply, kind=ReplyKind.BUTTON, verb=Verb.APPROVE, reason=heard.text)
        for answer in await self._service.decide(reply):
            if answer.came is Came.CONFIRM:
                self._spent[heard.answers] = None
            await self._voice.answer(heard, answer)
        return None

    async def _unexplained(self, heard: Text, pointed: str | None) -> Call | None:
        """If the text gives this person's reason for a rejection, return the rejected call, else None.

        If the text answers a message, the reason is for that message's call. In a private conversation, a text that
        answers no message explains the call of the bot's latest message, unless the text is for the agent.
        """
        latest = None
        if heard.private and pointed is None and not self._turns.is_for_agent(heard):
            latest = self._voice.talker.latest(heard.conversation, heard.message)
        call = await self._voice.store.get(pointed or latest or "")
        own = call is not None and call.decided_by == self._voice.principal(heard)
        return call if own and call is not None and call.awaits_reason else None

    async def _explain(self, heard: Text, call: Call) -> None:
        """Add a reason to the rejection of a call.

        If the text is a rejection with a reason, such as "no, because it is mine", add only its reason ("it is mine").
        Otherwise add the whole text.
        """
        read = replies.read(heard.text, known_refs={call.short}, language=heard.language, spans=heard.spans)
        reason = read[0].reason if len(read) == 1 and read[0].verdict is replies.Meaning.REJECT else None
        answer = await self._voice.gate.add_reason(call.ref, heard.identity, reason or heard.text)
        await self._voice.answer(heard, answer)

    def _reply(self, heard: Text, **more: Any) -> Reply:
        """Return a text as a `Reply`, with all facts that show which call the text is about."""
        return self._voice.reply(
            heard,
            ReplyKind.TEXT,
            text=heard.text,
            spans=heard.spans,
            language=heard.language,
            answers=heard.answers,
            thread=heard.thread,
            follows=self._voice.talker.latest(heard.conversation, heard.message) if heard.private else None,
            private=heard.private,
            addressed=heard.addressed,
            **more,
        )
