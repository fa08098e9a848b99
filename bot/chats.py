"""What happens to an event from a chat: to the gate if it may be an answer, else to the agent; and the person is told.

Knows no platform. Each platform brings a `Talker` (its words out) and hands in `Heard` events (its words in).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from bot.agent import HELP, TOOLS, Plan, Question, understand
from hitl.answers import Answer, Came
from hitl.cards import card, details, outcome_for_agent
from hitl.errors import InvalidConfirmation, NotApprover, SaysoError
from hitl.heard import Heard, What
from hitl.model import Ask, Entry, Kind, Reply, Runs, Status, Verb
from hitl.ports import Change, adding
from hitl.tokens import ButtonData, as_short
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.service import Service
    from hitl.model import Call

#: A press is answered with what came of it, unless that takes longer than this.
PRESS_WITHIN_S = 1.0
#: How much of the details a message holds; more goes into a file.
_DETAILS_IN_MESSAGE = 3000
_REASON_ASKED = "✍️"
_AFTER_SIGN = 1


class Talker(Protocol):
    """What a platform lets us say, beside cards."""

    def latest(self, place: str) -> str | None:
        """The ref that our latest message there is about."""

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """A sentence."""

    async def ask(self, route: str, text: str, *, about: str, answers: str | None = None) -> None:
        """A question to one person."""

    async def file(self, route: str, name: str, text: str, *, about: str) -> None:
        """A long text."""

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """What came of a press, for the one who pressed."""


@dataclass(frozen=True, slots=True)
class _Aimed:
    """An event with the call that it is about, as the store knows it, and the route of the card."""

    ref: str | None
    conversation: str


class Chats:
    """All conversations of one platform."""

    def __init__(self, service: Service, talker: Talker) -> None:
        self._service = service
        self._gate = service.gate
        self._store = service.store
        self._talker = talker
        self._acts: Mapping[What, Callable[[Heard, tuple[str, str]], Awaitable[None]]] = {
            What.PRESS: self._press,
            What.TEXT: self._text,
            What.REACTION: self._reaction,
            What.COMMAND: self._command,
            What.BARRED: self._barred,
            What.MOVED: self._moved,
        }

    async def handle(self, heard: Heard, event: tuple[str, str]) -> None:
        """Do what the event asks for, and mark it done. Raises what the store or the platform raises."""
        heard = replace(heard, conversation=await self._began_as(heard.conversation))
        act = self._barred if heard.barred else self._acts[heard.what]
        await act(heard, event)
        await self._store.commit(adding(Change(handled=event)))

    # -- presses --------------------------------------------------------------------------------------------

    async def _press(self, heard: Heard, event: tuple[str, str]) -> None:
        press = str(heard.press)
        try:
            verb, call, route = await self._pressed(heard)
        except InvalidConfirmation as error:
            await self._record(heard, event, "forged")
            return await self._talker.answer_press(press, error.message, alert=True)
        reply = self._reply(heard, event, Kind.BUTTON, verb=verb, target=call.ref, conversation=route)
        deciding = asyncio.ensure_future(self._service.decide(reply))
        done, _ = await asyncio.wait({deciding}, timeout=PRESS_WITHIN_S)
        if not done:
            await self._talker.answer_press(press, "", alert=False)
        (answer,) = await deciding
        if done:
            shown = say("button.details") if answer.came is Came.DETAILS else answer.text
            await self._talker.answer_press(press, shown, alert=answer.came is Came.REFUSED)
        return await self._after_press(heard, route, answer, told=bool(done))

    async def _pressed(self, heard: Heard) -> tuple[Verb, Call, str]:
        """The verb, the call and the card's route of a press; a card that we didn't know about is adopted."""
        data = ButtonData.unpack(heard.data)
        call = await self._store.get(data.ref)
        place = heard.conversation.partition("/")[0]
        if call is None or not data.holds(self._gate.keys, digest=call.digest, deadline=call.deadline, place=place):
            raise InvalidConfirmation(say("chat.forged"))
        known = await self._store.by_message(heard.message) if heard.message else None
        if known is not None:
            return data.verb, call, known[1]
        if heard.message and heard.conversation in call.routes:
            await self._store.adopt(call.ref, heard.conversation, heard.message)
        return data.verb, call, heard.conversation

    async def _after_press(self, heard: Heard, route: str, answer: Answer, *, told: bool) -> None:
        call = answer.call
        if call is None:
            return
        if answer.came is Came.DETAILS:
            await self._show_details(route, call, answer.text)
        elif answer.came is Came.REASON_NEEDED:
            text = say("answer.why_approved", short=call.short)
            await self._talker.ask(route, text, about=call.ref, answers=heard.message)
        elif answer.came is Came.REJECTED and not call.reason:
            text = say("answer.why_rejected", short=call.short)
            await self._talker.ask(route, text, about=call.ref, answers=heard.message)
        elif not told:
            await self._talker.tell(route, answer.text, about=call.ref)

    async def _show_details(self, route: str, call: Call, text: str) -> None:
        if len(text) <= _DETAILS_IN_MESSAGE:
            await self._talker.tell(route, text, about=call.ref)
        else:
            await self._talker.file(route, f"{call.short}.txt", text, about=call.ref)

    # -- words ----------------------------------------------------------------------------------------------

    async def _text(self, heard: Heard, event: tuple[str, str]) -> None:
        aimed = await self._aim(heard)
        if aimed.ref and heard.answers_ours.startswith(_REASON_ASKED):
            return await self._reason(heard, event, aimed.ref)
        reply = self._reply(heard, event, Kind.TEXT, target=aimed.ref, conversation=aimed.conversation)
        for answer in await self._service.decide(reply):
            if answer.came is Came.NOT_A_REPLY or (answer.came is Came.UNCLEAR and _for_agent(heard, aimed)):
                await self._to_agent(heard)
            else:
                await self._tell(heard, answer.text, answer.call)
        return None

    async def _aim(self, heard: Heard) -> _Aimed:
        """The call that a message answers: by the card that it replies to, or by what our message there names."""
        known = await self._store.by_message(heard.answers) if heard.answers else None
        if known is not None:
            return _Aimed(known[0], known[1])
        named = next(filter(None, map(as_short, _words(heard.answers_ours))), None)
        call = await self._store.by_short(named) if named else None
        return _Aimed(call.ref if call else None, heard.conversation)

    async def _reason(self, heard: Heard, event: tuple[str, str], ref: str) -> None:
        """A reason that we asked for: never read as a decision, whatever it says."""
        call = await self._store.get(ref)
        if call is not None and call.status is Status.PENDING:
            reply = self._reply(heard, event, Kind.COMMAND, verb=Verb.APPROVE, target=ref)
            answers = await self._service.decide(replace(reply, reason=heard.text))
        else:
            answers = (await self._gate.add_reason(ref, heard.identity, heard.text),)
        for answer in answers:
            await self._tell(heard, answer.text, answer.call)

    async def _reaction(self, heard: Heard, event: tuple[str, str]) -> None:
        known = await self._store.by_message(heard.message) if heard.message else None
        if known is None:
            return
        ref, route = known
        reply = self._reply(heard, event, Kind.REACTION, target=ref, conversation=route)
        for answer in await self._service.decide(reply):
            if answer.came not in {Came.APPROVED, Came.REJECTED}:
                await self._talker.tell(route, answer.text, about=ref, answers=heard.message)

    async def _barred(self, heard: Heard, event: tuple[str, str]) -> None:
        """What never counts, whoever sent it: on record, and told where it was meant for us."""
        await self._record(heard, event, "barred")
        text = say(str(heard.barred))
        if heard.press:
            await self._talker.answer_press(heard.press, text, alert=True)
        elif heard.what is not What.REACTION:
            await self._talker.tell(heard.conversation, text, answers=heard.message)

    async def _moved(self, heard: Heard, event: tuple[str, str]) -> None:
        del event
        await self._service.moved(heard.conversation, heard.moved_to)

    # -- commands -------------------------------------------------------------------------------------------

    async def _command(self, heard: Heard, event: tuple[str, str]) -> None:
        if heard.command in {"approve", "reject"}:
            return await self._decide_by_command(heard, event)
        told = {
            "whoami": self._whoami,
            "pending": self._pending,
            "status": self._status,
            "show": self._show,
            "cancel": self._cancel,
        }.get(heard.command)
        await self._tell(heard, await told(heard) if told else say("chat.help"))
        return None

    async def _decide_by_command(self, heard: Heard, event: tuple[str, str]) -> None:
        target, _, reason = heard.text.partition(" ")
        if not as_short(target):
            return await self._tell(heard, say("chat.usage", command=f"/{heard.command}"))
        reason = reason.strip().removeprefix("because ").lstrip(":, ") or ""
        reply = self._reply(heard, event, Kind.COMMAND, verb=Verb(heard.command), target=target)
        for answer in await self._service.decide(replace(reply, reason=reason or None)):
            await self._tell(heard, answer.text, answer.call)
        return None

    async def _whoami(self, heard: Heard) -> str:
        return say("chat.whoami", identity=heard.identity, principal=self._principal(heard))

    async def _pending(self, heard: Heard) -> str:
        calls = [call for call in await self._store.pending() if self._may_see(heard, call)]
        lines = [
            say("chat.pending", short=call.short, risk=call.verdict.risk.value, sentence=card(call).sentence)
            for call in calls
        ]
        return "\n".join(lines) or say("chat.pending.none")

    async def _status(self, heard: Heard) -> str:
        return say("chat.status", count=len(await self._store.pending(origin=heard.conversation)))

    async def _show(self, heard: Heard) -> str:
        call = await self._gate.find(heard.text)
        if call is None or not self._may_see(heard, call):
            return say("refused.unknown", short=heard.text)
        return f"{details(call)}\n\n{card(call).outcome}"

    async def _cancel(self, heard: Heard) -> str:
        try:
            call = await self._gate.withdraw(heard.text, heard.identity)
        except SaysoError as error:
            return error.message
        return say("chat.withdrawn", short=call.short)

    def _may_see(self, heard: Heard, call: Call) -> bool:
        here = heard.conversation in {call.origin, *call.routes}
        return here and self._principal(heard) in {call.requester, *call.approvers, *self._gate.people.operators}

    # -- the agent ------------------------------------------------------------------------------------------

    async def _to_agent(self, heard: Heard) -> None:
        if not heard.addressed:
            return None
        plan = understand(heard.text)
        if isinstance(plan, Question):
            calls = await self._store.pending(origin=heard.conversation)
            text = "\n\n".join(details(call) for call in calls) or say("chat.pending.none")
            return await self._tell(heard, text, calls[0] if len(calls) == 1 else None)
        if plan is None:
            return await self._tell(heard, HELP if self._may_ask(heard) else say("chat.help"))
        return await self._propose(heard, plan)

    async def _propose(self, heard: Heard, plan: Plan) -> None:
        ask = Ask(
            TOOLS,
            plan.tool,
            plan.args,
            self._principal(heard),
            heard.conversation,
            Runs.SERVICE,
            agent="offline",
            key=heard.message,
        )
        try:
            submitted = await self._service.submit(ask)
        except NotApprover as error:
            return await self._tell(heard, f"{error.message} {await self._whoami(heard)}")
        except SaysoError as error:
            return await self._tell(heard, error.message)
        if submitted.call.status in {Status.DENIED, Status.UNDELIVERABLE}:
            await self._tell(heard, outcome_for_agent(submitted.call), submitted.call)
        return None

    def _may_ask(self, heard: Heard) -> bool:
        return self._gate.people.may_ask(self._principal(heard), heard.conversation)

    # -- shared ---------------------------------------------------------------------------------------------

    def _reply(
        self,
        heard: Heard,
        event: tuple[str, str],
        kind: Kind,
        *,
        target: str | None,
        verb: Verb | None = None,
        conversation: str | None = None,
    ) -> Reply:
        return Reply(
            identity=heard.identity,
            surface=heard.conversation.partition(":")[0],
            conversation=conversation or heard.conversation,
            kind=kind,
            verb=verb,
            text=heard.text,
            target=target,
            follows=self._talker.latest(heard.conversation) if heard.private else None,
            private=heard.private,
            pressed_at=heard.at,
            event=event,
        )

    async def _tell(self, heard: Heard, text: str, about: Call | None = None) -> None:
        if text:
            ref = about.ref if about else None
            await self._talker.tell(heard.conversation, text, about=ref, answers=heard.message)

    async def _record(self, heard: Heard, event: tuple[str, str], what: str) -> None:
        """On the call's record if the card that was meant is known, else on the service's own."""
        known = await self._store.by_message(heard.answers or heard.message or "")
        entry = Entry(known[0] if known else "", what, heard.identity, {"conversation": heard.conversation})
        await self._store.commit(adding(Change(entries=(entry,), handled=event)))

    async def _began_as(self, conversation: str) -> str:
        """The name that a conversation began with, however often the platform renamed it since."""
        moves = {new: old for old, new in (await self._store.moves()).items()}
        while conversation in moves:
            conversation = moves[conversation]
        return conversation

    def _principal(self, heard: Heard) -> str:
        return self._gate.people.principal(heard.identity)


def _for_agent(heard: Heard, aimed: _Aimed) -> bool:
    """Whether an unclear text is a command to the agent rather than a failed answer to a card."""
    return aimed.ref is None and heard.addressed and understand(heard.text) is not None


def _words(text: str) -> list[str]:
    return text.replace(":", " ").replace(".", " ").split()[:200]
