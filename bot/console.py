"""One person's conversation in a terminal: typed lines go to the conversation engine, which shows cards and outcomes.

This module doesn't read a keyboard: `hear` gets a typed line, and the function `show` prints text. The demo, a pipe and
an attached client use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.terminal.chat import TerminalChat
from adapters.terminal.handlers import understand
from adapters.terminal.surface import SURFACE
from bot.conversation import Router
from hitl.call import Call, Decision, Runs, State, Status
from hitl.cards.card import headline
from hitl.errors import SaysoError
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from adapters.terminal.screen import Screen
    from bot.conversation import StoredTurns
    from bot.service import Service
    from hitl.cards.wording import Wording


class Console:
    """The conversation of one person (`identity`) in one place. If `width` is None, cards are plain text."""

    def __init__(  # noqa: PLR0913 - each parameter is passed by keyword
        self,
        service: Service,
        *,
        identity: str,
        conversation: str,
        show: Callable[[str], None],
        width: Callable[[], int] | None = None,
        colour: bool = False,
        turns: StoredTurns | None = None,
        screen: Screen | None = None,
    ) -> None:
        self._service = service
        self._gate = service.gate
        self._identity = identity
        self._place = conversation
        self._surface = conversation.partition(":")[0]
        self._principal = service.gate.people.principal(identity)
        self._chat = TerminalChat(
            show,
            width=width,
            colour=colour,
            names=service.gate.names,
            reader=self._principal,
            wording=self.wording,
            screen=screen,
        )
        surface = replace(SURFACE, help="model.help") if turns else SURFACE
        self._router = Router(service, self._chat, surface, turns=turns)
        self._running: dict[str, Call] = {}
        self._unfollow = self._gate.follow(self.changed)
        self._router.listen(self._surface)

    def wording(self) -> Wording:
        """Return the wording in the language of the person."""
        return self._gate.people.wording(self._place, self._identity)

    async def open_calls(self) -> list[Call]:
        """Return the pending calls of this place that the person may see, oldest first."""
        waiting = await self._service.store.pending(origin=self._place)
        return list(filter(self._may_see, waiting))

    def focus(self, waiting: Sequence[Call]) -> Call | None:
        """Return the pending request that a key (`a`, `r`, `d`) acts on: the request whose card was shown last. Return
        None if no card of these requests was shown.
        """
        shown = [call for call in waiting if call.ref in self._chat.shown]
        return max(shown, key=lambda call: self._chat.shown[call.ref], default=None)

    async def hear(self, line: str, *, begun_at: datetime | None = None, aimed: str | None = None) -> None:
        """Handle one line. If the line approves calls, wait until they have run.

        `begun_at` is the time of the line's first key press. If `begun_at` is None, the line counts as typed now,
        because it can't be older than the card. `aimed` is the ref of the request that the screen named while the line
        was typed. If the line is a key, such as `a`, it acts only on that request.
        """
        if not line.strip():
            return
        now = self._gate.clock.now()
        self._chat.begun_at = begun_at or now
        waiting = await self.open_calls()
        above = aimed or self._chat.latest(self._place, None)
        card_above = await self._service.store.get(aimed) if aimed else None
        card_above = card_above or next((call for call in waiting if call.ref == above), None)
        heard = understand(
            line,
            identity=self._identity,
            place=self._place,
            at=now,
            card=card_above,
            waits=bool(waiting),
            keys=self._gate.keys,
        )
        try:
            await self._router.handle(heard)
        except SaysoError as error:
            self._chat.say(error.told(self.wording(), self._gate.names))
        for call in tuple(self._running.values()):
            await self._service.ended(call)
        await self._remind(waiting)

    def leave(self) -> None:
        """End the conversation for this person.

        Nothing more is shown to this person, and their pending calls stay pending.
        """
        self._unfollow()
        self._router.leave(self._surface)

    async def withdraw_all(self) -> list[Call]:
        """End the conversation: withdraw this person's pending calls, show the withdrawals, and return the calls.

        After that, nothing more is shown.
        """
        self.leave()
        own = [call for call in await self.open_calls() if self._gate.access.may_withdraw(self._principal, call)]
        for call in own:
            self._chat.outcome(await self._gate.withdraw(call.ref, self._identity), whole=False)
        return own

    def changed(self, call: Call) -> None:
        """Show the card of a new call, or the outcome of an ended call, if the call is in this conversation and the
        person may see it.
        """
        if call.origin != self._place or not self._may_see(call):
            return
        self._running.pop(call.ref, None)
        if call.status is Status.PENDING and call.ref not in self._chat.shown:
            self._chat.post(call, self._gate.clock.now())
        elif call.state is State.EXECUTING and self._concerns(call):
            self._running[call.ref] = call
        elif call.ended and self._concerns(call):
            own = self._gate.access.asked(self._principal, call) or call.decided_by == self._principal
            self._chat.outcome(call, whole=own and call.decision is not Decision.EXPIRED)

    def _concerns(self, call: Call) -> bool:
        """Return whether to show this person the outcome of a call: they saw its card, they asked for it, or it
        expired.

        Calls that the policy decided immediately aren't shown if the person's own program asked for them, because that
        program has the answer.
        """
        if call.ref in self._chat.shown or call.decision is Decision.EXPIRED:
            return True
        at_once = call.decision is Decision.DENIED or (
            call.decision is Decision.ALLOWED and call.runs is not Runs.SERVICE
        )
        return self._gate.access.asked(self._principal, call) and not at_once

    def _may_see(self, call: Call) -> bool:
        return self._gate.access.may_see(self._principal, call)

    async def _remind(self, waiting: list[Call]) -> None:
        """If there is only one pending call, and the text shown last is about another call or none, show the call's
        headline again.

        So the person's next yes can be about this call.
        """
        if len(waiting) == 1 and self._chat.last != waiting[0].ref:
            still = await self._service.store.get(waiting[0].ref)
            if still and still.status is Status.PENDING:
                await self._gate.ready_to_list(still, self.wording())
                told = headline(still, self._gate.names, self.wording())
                self._chat.say(self.wording().say("offline.still", short=still.short, headline=told), still.ref)
