"""What happens to an event from a chat: to the gate if it may be an answer, else to the agent; and the person is told.

Knows no platform. Each platform brings a `Talker` (its words out) and hands in `Heard` events (its words in).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from bot.agent import TOOLS, Plan, Question, understand
from bot.patience import Patience
from hitl.answers import NOTHING, Answer, Came, unknown_call
from hitl.cards import card, details, outcome_for_agent
from hitl.delivery import shown
from hitl.errors import InvalidConfirmation, NotApprover, SaysoError
from hitl.events import Command, Echo, Explained, Heard, Moved, PageTurned, Press, Reaction, Text
from hitl.model import Ask, Decision, Entry, Event, Kind, Reply, Runs, Status, Verb
from hitl.people import belongs, chat_of
from hitl.ports import Change, PlatformError, adding
from hitl.recent import remember
from hitl.replies import is_reason, unformatted
from hitl.tokens import ButtonData, as_short
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.service import Service
    from hitl.model import Call

#: A press is answered with what came of it, unless that takes longer than this.
PRESS_WITHIN_S = 1.0
#: Answers to a press that the one who pressed must not miss.
_ALERTS = frozenset({Came.REFUSED, Came.CONFIRM, Came.DETAILS_NEEDED, Came.REASON_NEEDED})
#: Answers to words that may have been said to somebody else.
_QUESTIONS = frozenset({Came.UNCLEAR, Came.WHICH, Came.NOT_A_REPLY})
_DECIDED = frozenset({Came.APPROVED, Came.REJECTED})
#: So many questions are remembered as answered; each matters for a minute.
_SPENT = 1000


class Talker(Protocol):
    """What a platform lets us say, beside new cards. Each raises PlatformError but `answer_press`."""

    def latest(self, place: str, before: str | None) -> str | None:
        """The ref that our latest message there is about, if it was there before that message."""

    def learn_move(self, old: str, new: str) -> None:
        """A conversation is under another name now."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit a card to what the call is now."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Make a second copy of a card say that another one counts, or how the call ended, if it did."""

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """A sentence."""

    async def ask(
        self,
        route: str,
        *,
        call: Call,
        verb: Verb,
        person: str,
        answers: str | None = None,
        press: str | None = None,
    ) -> None:
        """Ask one person, by identity, for the reason of a yes or no that they pressed."""

    async def show(self, route: str, name: str, text: str, *, about: str, press: str | None = None) -> None:
        """A text whole, in a file of that name where it is too long for a message.

        To the one who pressed alone, where the platform can.
        """

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """What came of a press, for the one who pressed."""


@dataclass(frozen=True, slots=True)
class Manner:
    """A platform's way: what stands before a command's name, what commands there are, and how presses are answered.

    `toasts`: each press wants one answer, at once, if only a blank one. Else who pressed is told what is news to them,
    after a window has opened in front of them, for which there is little time.
    """

    prefix: str
    help: str
    toasts: bool = True


class Chats:
    """All conversations of one platform."""

    def __init__(self, service: Service, talker: Talker, manner: Manner | None = None) -> None:
        self._service = service
        self._gate = service.gate
        self._store = service.store
        self._talker = talker
        self._manner = manner or Manner("/", say("chat.help"))
        self._patience = Patience(time.monotonic)
        #: Questions whose answer was the first of two yeses: the second begins with a press, which asks anew.
        self._spent: dict[str | None, None] = {}
        self._acts: Mapping[type[Heard], Callable[[Any], Awaitable[None]]] = {
            Press: self._press,
            Text: self._text,
            Reaction: self._reaction,
            Command: self._command,
            Moved: self._moved,
            Explained: self._explained,
            PageTurned: self._page,
            Echo: self._echo,
        }

    async def handle(self, heard: Heard) -> None:
        """Do what the event asks for. Raises what the store or the platform raises."""
        heard = replace(heard, conversation=await self._began_as(heard.conversation))
        await (self._barred if heard.barred else self._acts[type(heard)])(heard)

    # -- presses --------------------------------------------------------------------------------------------

    async def _press(self, heard: Press) -> None:
        press = str(heard.press)
        try:
            verb, call, route = await self._pressed(heard)
        except InvalidConfirmation as error:
            await self._record(heard, Event.FORGED)
            return await self._talker.answer_press(press, error.message, alert=True)
        reply = self._reply(heard, Kind.BUTTON, verb=verb, target=call.ref, conversation=route)
        if verb is Verb.DETAILS:
            answer = await self._look(heard, route, replace(reply, event=None))
        elif self._manner.toasts:
            answer, told = await self._toasted(press, reply)
            await self._after_press(heard, route, answer, told=told)
        else:
            (answer,) = await self._service.decide(reply)
            await self._after_press(heard, route, answer, told=True)
            if answer.came is not Came.REASON_NEEDED:
                await self._talker.answer_press(press, answer.text, alert=True)
        return await self._correct(heard, route, answer)

    async def _look(self, heard: Press, route: str, reply: Reply) -> Answer:
        """Show a call whole. Only what was shown counts as seen: who decides, and the gate, count on it."""
        answer, press = await self._gate.peek(reply), str(heard.press)
        seen = answer.came is Came.DETAILS
        if self._manner.toasts or not seen:
            await self._talker.answer_press(press, say("button.details") if seen else answer.text, alert=not seen)
        if seen and answer.call is not None and await self._showed(heard, route, answer.call, answer.text):
            await self._service.decide(reply)
        return answer

    async def _showed(self, heard: Heard, route: str, call: Call, text: str) -> bool:
        """Whether it could be shown; where it never can be, that is said. Raises PlatformError for what may pass."""
        try:
            await self._talker.show(route, f"{call.short}.txt", text, about=call.ref, press=heard.press)
        except PlatformError as error:
            if error.passing:
                raise
            await self._not_shown(heard, route, say("chat.not_shown", short=call.short), call)
            return False
        return True

    async def _not_shown(self, heard: Heard, route: str, text: str, call: Call) -> None:
        if self._manner.toasts:
            await self._talker.tell(route, text, about=call.ref)
        else:
            await self._talker.answer_press(str(heard.press), text, alert=True)

    async def _toasted(self, press: str, reply: Reply) -> tuple[Answer, bool]:
        """What came of a press, and whether it could be told in the one answer that a press gets."""
        deciding = asyncio.ensure_future(self._service.decide(reply))
        done, _ = await asyncio.wait({deciding}, timeout=PRESS_WITHIN_S)
        if not done:
            await self._talker.answer_press(press, "", alert=False)
        (answer,) = await deciding
        if done:
            await self._talker.answer_press(press, answer.text, alert=answer.came in _ALERTS)
        return answer, bool(done)

    async def _pressed(self, heard: Press) -> tuple[Verb, Call, str]:
        """The verb, the call and the card's route of a press; a card that we didn't know about is adopted.

        Only for one who may decide: nobody else may make us edit another message. Raises InvalidConfirmation.
        """
        verb, call, route, known = await self._sealed(heard)
        if not known and self._gate.access.is_approver(self._principal(heard), call):
            await self._adopt(heard, call, route)
        return verb, call, route

    async def _sealed(self, heard: Press | Echo) -> tuple[Verb, Call, str, bool]:
        """The verb, the call and the card's route that button data names, and whether its message is known for a card.

        Raises InvalidConfirmation for data that isn't ours, or is another card's: a client may send what it likes.
        """
        data = ButtonData.unpack(heard.data)
        call = await self._store.get(data.ref)
        chat = chat_of(heard.conversation)
        if call is None or not data.holds(self._gate.keys, digest=call.digest, deadline=call.deadline, place=chat):
            raise InvalidConfirmation(say("chat.forged"))
        known = await self._store.by_message(heard.message) if heard.message else None
        if known is not None and known[0] != call.ref:
            raise InvalidConfirmation(say("chat.forged"))
        if known is not None:
            return data.verb, call, known[1], True
        here = [route for route in call.routes if chat_of(route) == chat]
        return data.verb, call, heard.conversation if heard.conversation in here or not here else here[0], False

    async def _adopt(self, heard: Heard, call: Call, route: str) -> None:
        """The platform took the card but its answer was lost: this message is the card, where none is known."""
        wanted = route in call.routes and not (await self._store.cards(call.ref)).get(route)
        if heard.message and wanted:
            await self._store.adopt(call.ref, route, heard.message)
            await self._store.commit(adding(Change(entries=(shown(call, route, heard.message),))))

    async def _echo(self, heard: Echo) -> None:
        """A card of ours as it stands there for all to see, when no answer told us so. It decides nothing.

        The first that is known is the card; a second says so at once. Whatever else a message of ours holds is no card.
        """
        try:
            _, call, route, known = await self._sealed(heard)
        except InvalidConfirmation:
            return
        if known or route not in call.routes:
            return
        if (await self._store.cards(call.ref)).get(route) or call.ended:
            await self._talker.spare(route, str(heard.message), call)
        await self._adopt(heard, call, route)

    async def _correct(self, heard: Heard, route: str, answer: Answer) -> None:
        """A second card of the call, which the outbox doesn't know of, tells the truth once it was pressed."""
        call = answer.call
        if call is None or not heard.message or isinstance(answer.error, NotApprover):
            return
        if call.status is not Status.PENDING and not await self._store.by_message(heard.message):
            await self._talker.update(route, heard.message, call)
            if not call.ended:
                self._service.follow(call, partial(self._talker.update, route, heard.message))

    async def _after_press(self, heard: Heard, route: str, answer: Answer, *, told: bool) -> None:
        call = answer.call
        if call is None:
            return
        if verb := _reason_wanted(answer, call):
            who, card_ = heard.identity, heard.message
            await self._talker.ask(route, call=call, verb=verb, person=who, answers=card_, press=heard.press)
        elif not told:
            await self._talker.tell(route, answer.text, about=call.ref)

    # -- words ----------------------------------------------------------------------------------------------

    async def _text(self, heard: Text) -> None:
        pointed = await self._gate.pointed_at(heard.answers) if heard.answers else None
        if pointed is not None and pointed.asks == heard.identity:
            return await self._reason(heard, pointed.ref)
        for answer in await self._service.decide(self._said(heard)):
            direct = pointed is not None and answer.call is not None
            if answer.came is Came.NOT_A_REPLY or (answer.came is Came.UNCLEAR and not direct and _for_agent(heard)):
                await self._to_agent(heard, answer if answer.came is Came.NOT_A_REPLY else NOTHING)
            elif direct or answer.came not in _QUESTIONS or self._may_question(heard, answer):
                await self._answer(heard, answer)
        return None

    def _may_question(self, heard: Text, answer: Answer) -> bool:
        """People who talk to each other are asked once a minute for each person and card."""
        about = answer.call.ref if answer.call else heard.conversation
        return heard.addressed or self._patience.admits((heard.identity, about, "asked"))

    async def _reason(self, heard: Text, ref: str) -> None:
        """A reason that we asked this person for. It completes the yes that they pressed, or follows their no.

        It is never read as a decision itself, but for one that takes the yes back. What may be no reason (a question, a
        condition, a "wait") completes nothing.
        """
        call = await self._store.get(ref)
        if call is not None and call.decision is Decision.REJECTED and call.decided_by == self._principal(heard):
            return await self._answer(heard, await self._gate.add_reason(ref, heard.identity, heard.text))
        reply = self._said(heard, target=ref)
        if unformatted(heard.spans) and is_reason(heard.text) and heard.answers not in self._spent:
            reply = replace(reply, kind=Kind.BUTTON, verb=Verb.APPROVE, reason=heard.text)
        for answer in await self._service.decide(reply):
            if answer.came is Came.CONFIRM:
                remember(self._spent, heard.answers, None, most=_SPENT)
            await self._answer(heard, answer)
        return None

    async def _explained(self, heard: Explained) -> None:
        """A reason from a window that a press opened: it goes with that press, which counts as one now."""
        if heard.verb is Verb.REJECT:
            return await self._answer(heard, await self._gate.add_reason(heard.ref, heard.identity, heard.text))
        reply = self._reply(heard, Kind.BUTTON, verb=Verb.APPROVE, target=heard.ref)
        for answer in await self._service.decide(replace(reply, reason=heard.text or None)):
            await self._answer(heard, answer, alone=True)
        return None

    async def _page(self, heard: PageTurned) -> None:
        """Another page of a text that was shown, for who may see it."""
        call = await self._store.get(heard.ref)
        if call is not None and self._may_see(heard, call):
            await self._show_whole(heard, call)

    async def _reaction(self, heard: Reaction) -> None:
        known = await self._store.by_message(heard.message) if heard.message else None
        if known is None:
            return
        reply = self._reply(heard, Kind.REACTION, text=heard.text, answers=heard.message)
        for answer in await self._service.decide(reply):
            if answer.came not in _DECIDED:
                await self._answer(replace(heard, conversation=known[1]), answer)

    async def _barred(self, heard: Heard) -> None:
        """What never counts, whoever sent it: on record, and told where it was meant for us."""
        if isinstance(heard, Reaction) and not await self._store.by_message(heard.message or ""):
            return
        await self._record(heard, Event.BARRED)
        text = say(str(heard.barred))
        if heard.program:
            return
        if heard.press and (isinstance(heard, Press) or self._patience.admits((heard.identity, heard.barred))):
            await self._talker.answer_press(heard.press, text, alert=True)
        elif (
            heard.press is None
            and not isinstance(heard, Reaction)
            and self._patience.admits((heard.identity, heard.barred))
        ):
            await self._talker.tell(heard.conversation, text, answers=heard.message)

    async def _moved(self, heard: Moved) -> None:
        """A conversation got another name. Telegram says so twice: here, and to whoever writes to the old one."""
        self._talker.learn_move(heard.conversation, heard.moved_to)
        if (await self._store.moves()).get(heard.conversation) != heard.moved_to:
            await self._service.moved(heard.conversation, heard.moved_to)

    # -- commands -------------------------------------------------------------------------------------------

    async def _command(self, heard: Command) -> None:
        if heard.name in {"approve", "reject"}:
            return await self._decide_by_command(heard)
        if heard.name == "show":
            return await self._show(heard)
        told = {
            "whoami": self._whoami,
            "pending": self._pending,
            "status": self._status,
            "cancel": self._cancel,
        }.get(heard.name)
        await self._tell(heard, await told(heard) if told else self._manner.help, alone=True)
        return None

    async def _decide_by_command(self, heard: Command) -> None:
        target, _, reason = " ".join(heard.text.split()).partition(" ")
        if not as_short(target):
            return await self._tell(heard, self._usage(heard.name), alone=True)
        reply = self._reply(heard, Kind.COMMAND, verb=Verb(heard.name), target=target)
        reason = reason.removeprefix("because ").lstrip(":, ")
        for answer in await self._service.decide(replace(reply, reason=reason or None)):
            await self._answer(heard, answer)
        return None

    def _usage(self, command: str) -> str:
        return say("chat.usage", command=f"{self._manner.prefix}{command}")

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

    async def _show(self, heard: Command) -> None:
        if not as_short(heard.text):
            return await self._tell(heard, self._usage("show"), alone=True)
        call = await self._gate.find(heard.text)
        if call is None or not self._may_see(heard, call):
            return await self._tell(heard, unknown_call(heard.text).message, alone=True)
        return await self._show_whole(heard, call)

    async def _show_whole(self, heard: Heard, call: Call) -> None:
        text = f"{details(call)}\n\n{card(call).outcome}"
        await self._talker.show(heard.conversation, f"{call.short}.txt", text, about=call.ref, press=heard.press)

    async def _cancel(self, heard: Command) -> str:
        if not as_short(heard.text):
            return self._usage(heard.name)
        try:
            call = await self._gate.withdraw(heard.text, heard.identity)
        except SaysoError as error:
            return error.message
        return say("chat.withdrawn", short=call.short)

    def _may_see(self, heard: Heard, call: Call) -> bool:
        return belongs(call, heard.conversation) and self._gate.access.may_see(self._principal(heard), call)

    # -- the agent ------------------------------------------------------------------------------------------

    async def _to_agent(self, heard: Text, otherwise: Answer) -> None:
        """A turn of the agent; `otherwise` is what to answer to a text that is none."""
        plan = understand(heard.text) if heard.addressed or heard.overheard else None
        if isinstance(plan, Question):
            return await self._explain(heard)
        if plan is not None:
            return await self._propose(heard, plan)
        if heard.addressed:
            helped = say("offline.help") if self._may_ask(heard) else self._manner.help
            return await self._tell(heard, otherwise.text or helped, otherwise.call, alone=bool(otherwise.text))
        if otherwise.text and self._may_question(heard, NOTHING):
            await self._tell(heard, otherwise.text, otherwise.call, alone=True)
        return None

    async def _explain(self, heard: Text) -> None:
        """What waits here, whole, for those who may know."""
        calls = [c for c in await self._store.pending(origin=heard.conversation) if self._may_see(heard, c)]
        if not calls:
            return await self._tell(heard, say("chat.pending.none"))
        for call in calls:
            await self._talker.show(heard.conversation, f"{call.short}.txt", details(call), about=call.ref)
        return None

    async def _propose(self, heard: Text, plan: Plan) -> None:
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
            return await self._tell(heard, f"{error.message} {await self._whoami(heard)}", alone=True)
        except SaysoError as error:
            return await self._tell(heard, error.message)
        if submitted.call.status in {Status.DENIED, Status.UNDELIVERABLE}:
            await self._tell(heard, outcome_for_agent(submitted.call), submitted.call)
        return None

    def _may_ask(self, heard: Heard) -> bool:
        return self._gate.access.may_ask(self._principal(heard), heard.conversation)

    # -- shared ---------------------------------------------------------------------------------------------

    def _said(self, heard: Text, kind: Kind = Kind.TEXT, **more: Any) -> Reply:
        """A text as a reply, with all that tells which call it is about."""
        return self._reply(
            heard,
            kind,
            text=heard.text,
            spans=heard.spans,
            language=heard.language,
            answers=heard.answers,
            thread=heard.thread,
            follows=self._talker.latest(heard.conversation, heard.message) if heard.private else None,
            private=heard.private,
            addressed=heard.addressed,
            **more,
        )

    def _reply(self, heard: Heard, kind: Kind, **more: Any) -> Reply:
        fields = {"conversation": heard.conversation} | more
        surface = heard.conversation.partition(":")[0]
        return Reply(heard.identity, surface, kind=kind, pressed_at=heard.at, event=heard.event, **fields)

    async def _answer(self, heard: Heard, answer: Answer, *, alone: bool = False) -> None:
        await self._tell(heard, answer.text, answer.call, alone=alone or answer.came not in _DECIDED)

    async def _tell(self, heard: Heard, text: str, about: Call | None = None, *, alone: bool = False) -> None:
        """Answer a message: that person alone, where that is better and the platform can.

        A stranger is answered once a minute for each card and kind of message.
        """
        ref = about.ref if about else None
        stranger = not self._gate.people.is_listed(self._principal(heard))
        what = heard.name if isinstance(heard, Command) else type(heard)
        if stranger and not self._patience.admits((heard.identity, ref, what)):
            return
        if text and alone and heard.press:
            await self._talker.answer_press(heard.press, text, alert=True)
        elif text:
            await self._talker.tell(heard.conversation, text, about=ref, answers=heard.message)

    async def _record(self, heard: Heard, what: Event) -> None:
        """On the call's record if the card that was meant is known, else on the service's own."""
        about = heard.answers if isinstance(heard, Text) and heard.answers else heard.message
        known = await self._store.by_message(about or "")
        entry = Entry(known[0] if known else "", what, heard.identity, {"conversation": heard.conversation})
        await self._store.commit(adding(Change(entries=(entry,), handled=heard.event)))

    async def _began_as(self, conversation: str) -> str:
        """The name that a conversation began with, however often the platform renamed it since."""
        moves = {new: old for old, new in (await self._store.moves()).items()}
        while conversation in moves:
            conversation = moves[conversation]
        return conversation

    def _principal(self, heard: Heard) -> str:
        return self._gate.people.principal(heard.identity)


def _for_agent(heard: Text) -> bool:
    """Whether an unclear text that points to no call is a command to the agent, not a failed answer to a card."""
    return (heard.addressed or heard.overheard) and understand(heard.text) is not None


def _reason_wanted(answer: Answer, call: Call) -> Verb | None:
    """Of what to ask the one who pressed for a reason: of a yes that needs one, or a no that may have one."""
    if answer.came is Came.REASON_NEEDED:
        return Verb.APPROVE
    return Verb.REJECT if answer.came is Came.REJECTED and not call.reason else None
