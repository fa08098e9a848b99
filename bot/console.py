"""One conversation with the offline agent in a terminal: what is typed goes to the gate first, then to the agent.

Knows nothing of keyboards: `hear` takes a line, `show` is where text goes. The demo, a pipe and an attached
client all use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.terminal.handlers import Desk
from adapters.terminal.messages import box, ended, plain
from bot.agent import TOOLS, Plan, Question, understand
from hitl.answers import Answer, Came
from hitl.cards import card, details, outcome_for_agent
from hitl.errors import CallDenied, SaysoError
from hitl.model import Ask, Call, Decision, Runs, Status
from hitl.recent import remember
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.service import Service


#: Decisions that come with the call itself: nobody waits for them.
_AT_ONCE = frozenset({Decision.ALLOWED, Decision.DENIED})
#: So many outcomes are remembered as told.
_MOST_TOLD = 1000


class Console:
    """The conversation of one person (`identity`) in one place. `width` None means plain text."""

    def __init__(
        self,
        service: Service,
        *,
        identity: str,
        conversation: str,
        show: Callable[[str], None],
        width: Callable[[], int] | None = None,
        colour: bool = False,
    ) -> None:
        self._service = service
        self._gate = service.gate
        self._desk = Desk(identity, conversation)
        self._principal = service.gate.people.principal(identity)
        self._show = show
        self._width = width
        self._colour = colour
        self._told: dict[tuple[str, Status, str | None], None] = {}
        service.listeners.add(self)

    async def open_calls(self) -> list[Call]:
        """What waits here for an answer, of what this person may see; oldest first."""
        waiting = await self._service.store.pending(origin=self._desk.conversation)
        return list(filter(self._may_see, waiting))

    async def hear(self, line: str, *, begun_at: datetime | None = None) -> None:
        """Take one line. `begun_at` is when its first key was pressed, now if the line can't be older than the card."""
        if not line.strip():
            return
        now = self._gate.clock.now()
        waiting = await self.open_calls()
        reply = self._desk.to_reply(line, begun_at=begun_at or now, at=now, open_calls=waiting)
        try:
            for answer in await self._service.decide(reply):
                await self._answer(reply.text, answer, waiting)
        except SaysoError as error:
            self._say(error.message)

    def leave(self) -> None:
        """The person is gone: nothing is shown any more; what waits goes on waiting."""
        self._service.listeners.remove(self)

    async def withdraw_all(self) -> None:
        """The conversation is over: what still waits is withdrawn, and said."""
        for call in filter(self._is_own, await self.open_calls()):
            remember(self._told, (call.ref, Status.WITHDRAWN, None), None, most=_MOST_TOLD)
            self._say(ended(await self._gate.withdraw(call.ref, self._desk.identity), colour=self._colour))

    def changed(self, call: Call) -> None:
        """Show the card of a new call, and what became of one, when it belongs to this conversation."""
        if call.origin != self._desk.conversation or not self._may_see(call):
            return
        if call.status is Status.PENDING and call.ref not in self._desk.shown:
            text = box(call, width=self._width(), colour=self._colour) if self._width else plain(call)
            self._show(text)
            self._desk.showed_card(call, self._gate.clock.now())
        elif call.ended and self._concerns(call) and not self._rejected_it(call):
            self._tell_end(call)

    def _concerns(self, call: Call) -> bool:
        """Whether to tell this person how a call ended: they saw its card, they asked for it, or its time ran out."""
        waited = self._gate.access.asked(self._principal, call) and call.decision not in _AT_ONCE
        return call.ref in self._desk.shown or call.decision is Decision.EXPIRED or waited

    def _may_see(self, call: Call) -> bool:
        return self._gate.access.may_see(self._principal, call)

    def _rejected_it(self, call: Call) -> bool:
        """Whether this person rejected the call. The answer to their reply said so."""
        return call.decision is Decision.REJECTED and call.decided_by == self._principal

    def _is_own(self, call: Call) -> bool:
        return self._gate.access.may_withdraw(self._principal, call)

    async def _answer(self, line: str, answer: Answer, waiting: list[Call]) -> None:
        if answer.came is Came.APPROVED and answer.call:
            self._tell_end(await self._service.ended(answer.call))
        elif answer.came is Came.NOT_A_REPLY or (answer.came is Came.UNCLEAR and understand(line)):
            await self._ask_agent(line, waiting, answer.text if waiting else "")
        elif not (isinstance(answer.error, CallDenied) and answer.call and self._was_told(answer.call)):
            self._say(answer.text, answer.call)
            if answer.call and answer.call.awaits_reason and answer.came is Came.REJECTED:
                self._say(say("offline.why", short=answer.call.short), answer.call)

    async def _ask_agent(self, line: str, waiting: list[Call], otherwise: str = "") -> None:
        plan = understand(line)
        if isinstance(plan, Question) and waiting:
            for call in waiting:
                self._say(f"{card(call).sentence}\n{details(call)}", call)
        elif isinstance(plan, Plan):
            await self._propose(plan)
        else:
            self._say(otherwise or say("offline.help"))
        await self._remind(waiting)

    async def _propose(self, plan: Plan) -> None:
        submitted = await self._service.submit(
            Ask(
                TOOLS,
                plan.tool,
                plan.args,
                self._principal,
                self._desk.conversation,
                Runs.SERVICE,
                agent="offline",
            )
        )
        if submitted.call.status is not Status.PENDING:
            self._tell_end(await self._service.ended(submitted.call))

    async def _remind(self, waiting: list[Call]) -> None:
        """After talk about something else, say what still waits, so that a yes is about what was said last."""
        if len(waiting) == 1 and self._desk.last != waiting[0].ref:
            still = await self._service.store.get(waiting[0].ref)
            if still and still.status is Status.PENDING:
                self._say(say("offline.still", short=still.short, sentence=card(still).sentence), still)

    def _tell_end(self, call: Call) -> None:
        """Show an outcome once. A rejection is shown again when its reason comes, or can't come any more."""
        if self._was_told(call):
            return
        remember(self._told, (call.ref, call.status, call.reason), None, most=_MOST_TOLD)
        concerned = self._gate.access.asked(self._principal, call) or call.decided_by == self._principal
        if concerned and call.decision is not Decision.EXPIRED:
            self._tell_outcome(call)
        else:
            self._say(ended(call, colour=self._colour), call)

    def _was_told(self, call: Call) -> bool:
        return (call.ref, call.status, call.reason) in self._told

    def _tell_outcome(self, call: Call) -> None:
        shown = card(call)
        text = shown.output if call.status is Status.SUCCEEDED and call.decision is Decision.ALLOWED else ""
        if not text:
            text = outcome_for_agent(call) + (f"\n{shown.output}" if shown.output else "")
        self._say(text.rstrip("\n"), call)

    def _say(self, text: str, about: Call | None = None) -> None:
        self._show(text)
        self._desk.said(about)
