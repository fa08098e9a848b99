"""Turns of the agent: what a text that answers no card leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.agent import TOOLS, Plan, Question, understand
from hitl.cards import details, outcome_for_agent
from hitl.errors import NotApprover, SaysoError
from hitl.model import Ask, Runs, Status
from hitl.wording import say

if TYPE_CHECKING:
    from bot.conversation.voice import Voice
    from hitl.answers import Answer
    from hitl.events import Text


class Turns:
    """The agent's turns in the conversations of one surface."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._service = voice.service
        self._gate = voice.gate

    def is_for_agent(self, heard: Text) -> bool:
        """Whether an unclear text that points to no call is a command to the agent, not a failed answer to a card."""
        return (heard.addressed or heard.overheard) and understand(heard.text) is not None

    async def take(self, heard: Text, otherwise: Answer) -> None:
        """A turn of the agent; `otherwise` is what to answer to a text that is none."""
        plan = understand(heard.text) if heard.addressed or heard.overheard else None
        if isinstance(plan, Question):
            return await self._explain(heard)
        if plan is not None:
            return await self._propose(heard, plan)
        if heard.addressed:
            may_ask = self._gate.access.may_ask(self._voice.principal(heard), heard.conversation)
            helped = say("offline.help") if may_ask else self._voice.manner.help
            alone = bool(otherwise.text)
            return await self._voice.tell(heard, otherwise.text or helped, otherwise.call, alone=alone)
        if otherwise.text and self._voice.may_question(heard, None):
            await self._voice.tell(heard, otherwise.text, otherwise.call, alone=True)
        return None

    async def _explain(self, heard: Text) -> None:
        """What waits here, whole, for those who may know."""
        waiting = await self._voice.store.pending(origin=heard.conversation)
        calls = [call for call in waiting if self._voice.may_see(heard, call)]
        if not calls:
            return await self._voice.tell(heard, say("chat.pending.none"))
        for call in calls:
            await self._voice.talker.show(heard.conversation, f"{call.short}.txt", details(call), about=call.ref)
        return None

    async def _propose(self, heard: Text, plan: Plan) -> None:
        ask = Ask(
            TOOLS,
            plan.tool,
            plan.args,
            self._voice.principal(heard),
            heard.conversation,
            Runs.SERVICE,
            agent="offline",
            key=heard.message,
        )
        try:
            submitted = await self._service.submit(ask)
        except NotApprover as error:
            return await self._voice.tell(heard, f"{error.message} {self._voice.whoami(heard)}", alone=True)
        except SaysoError as error:
            return await self._voice.tell(heard, error.message)
        if submitted.call.status in {Status.DENIED, Status.UNDELIVERABLE}:
            await self._voice.tell(heard, outcome_for_agent(submitted.call), submitted.call)
        return None
