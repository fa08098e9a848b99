"""Sends answers to people in the conversations of one surface, and limits who gets an answer and how often."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any

from hitl.call import Entry, Reply
from hitl.cards.card import outcome, whole
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.errors import CallDenied, NotApprover
from hitl.events import Command, Text
from hitl.gate.response import Came
from hitl.ports import Change, PlatformError, adding
from hitl.question import is_question
from hitl.throttle import Patience

if TYPE_CHECKING:
    from bot.service import Service
    from hitl.call import Call, Event, ReplyKind
    from hitl.cards.wording import Wording
    from hitl.events import Heard
    from hitl.gate.response import Answer
    from hitl.gate.target import Pointed
    from hitl.platforms import Talker
    from hitl.surfaces import Surface

_log = logging.getLogger(__name__)
#: The longest title of a conversation, in characters.
_TITLE = 60
DECIDED = frozenset({Came.APPROVED, Came.REJECTED})
#: The `barred` reasons of events whose author hides their identity.
_ANONYMOUS = frozenset({"chat.anonymous", "chat.channel"})


class Voice:
    """The service and a surface's `Talker`, with the messages and checks that all parts of a conversation share."""

    def __init__(self, service: Service, talker: Talker, surface: Surface) -> None:
        self.service = service
        self.gate = service.gate
        self.store = service.store
        self.talker = talker
        self.surface = surface
        self.patience = Patience(time.monotonic)
        #: Admits one answer for each key, for as long as the service runs. A key names a person and a card.
        self._hints = Patience(time.monotonic, math.inf)

    async def answer(self, heard: Heard, answer: Answer, *, alone: bool = False) -> None:
        """Answer a reply. An answer that isn't a decision goes to the person who replied alone, if the platform can do
        that.

        A decision needs no answer if the request's card is in this conversation, because the card shows the decision. A
        command that decides always gets an answer.

        A bystander (somebody in a chat who may not decide the call) gets one answer for each card, in private. If the
        platform refuses a private message, a sign appears on the bystander's message.

        An approver's reply always gets an answer. The first unclear reply to a card gets a question that everybody in
        the conversation sees. Later unclear replies are answered in private, or in the conversation if the platform
        refuses a private message.
        """
        if answer.came in DECIDED and not isinstance(heard, Command) and self._card_tells(heard, answer.call):
            return
        if not self.admits_answer(heard, answer):
            return
        alone = alone or answer.came not in DECIDED
        if self.is_bystander(heard, answer):
            await self._say_to_bystander(heard, self.text(heard, answer, alone=True), answer.call)
            return
        if self._was_asked(heard, answer):
            whispered = await self.whisper(heard, self.text(heard, answer, alone=True), answer.call)
            if whispered:
                return
        text = self.text(heard, answer, alone=alone and bool(heard.press))
        await self.tell(heard, text, answer.call, alone=alone, refused=answer.came is Came.REFUSED)

    def is_bystander(self, heard: Heard, answer: Answer) -> bool:
        """Return whether the reply came from a person in a chat who may not decide its call."""
        if answer.came in DECIDED or not self.gate.people.is_chat(heard.conversation):
            return False
        call = answer.call
        return isinstance(answer.error, NotApprover) or (call is not None and not self.may_decide(heard, call))

    def may_decide(self, heard: Heard, call: Call) -> bool:
        """Return whether the person who sent the event may decide the call, by the lists of people."""
        access, principal = self.gate.access, self.principal(heard)
        return access.may_answer(principal, call) if is_question(call) else access.is_approver(principal, call)

    def admits_answer(self, heard: Heard, answer: Answer) -> bool:
        """Return whether a reply gets an answer. A bystander gets an answer only to their first reply to a card."""
        ref = answer.call.ref if answer.call else heard.conversation
        return not self.is_bystander(heard, answer) or self._hints.admits((heard.identity, ref))

    def _was_asked(self, heard: Heard, answer: Answer) -> bool:
        """Return whether this reply is unclear, and Sayso has already asked its author about an unclear reply to the
        same card, where everybody saw it.
        """
        if answer.came is not Came.UNCLEAR or answer.call is None or not self.gate.people.is_chat(heard.conversation):
            return False
        return not self._hints.admits((heard.identity, answer.call.ref, "asked"))

    async def whisper(self, heard: Heard, text: str, about: Call | None = None) -> bool:
        """Send a text to the person who sent the event, where nobody else sees it.

        Return False if the platform refuses a private message to this person.
        """
        if text and heard.press:
            await self.talker.answer_press(heard.press, text, alert=True)
        elif text and (
            not self.gate.people.is_chat(heard.conversation) or heard.conversation.startswith(heard.identity)
        ):
            ref = about.ref if about else None
            await self.talker.tell(heard.conversation, text, about=ref, answers=heard.message)
        elif text:
            try:
                await self.talker.tell(heard.identity, text)
            except PlatformError as error:
                _log.info("whisper.not_sent", {"to": heard.identity, "why": str(error)})
                return False
        return True

    async def _say_to_bystander(self, heard: Heard, text: str, about: Call | None) -> None:
        """Send a text to a bystander alone. If the platform refuses a private message, put a sign on the bystander's
        message.
        """
        if await self.whisper(heard, text, about) or not (isinstance(heard, Text | Command) and heard.message):
            return
        try:
            await self.talker.mark_undecided(heard.message)
        except PlatformError as error:
            _log.info("message.not_marked", {"message": heard.message, "why": str(error)})

    async def say_barred(self, heard: Heard, call: Call | None) -> None:
        """Send the reason why an event can't decide a call.

        A bystander gets this answer once for each card, in private. An anonymous person has no private chat, and gets
        this answer in the conversation, once for each card. An approver gets this answer at most once a minute.
        """
        text = self.wording(heard, alone=bool(heard.press)).say(str(heard.barred))
        anonymous = heard.barred in _ANONYMOUS
        if call is None or (self.may_decide(heard, call) and not anonymous):
            admits, alone = self.patience.admits((heard.identity, heard.barred)), False
        else:
            key = (heard.identity, call.ref, heard.barred) if anonymous else (heard.identity, call.ref)
            admits, alone = self._hints.admits(key), not anonymous
        if heard.press and (admits or self.surface.toasts):
            await self.talker.answer_press(heard.press, text, alert=True)
        elif admits and alone:
            await self._say_to_bystander(heard, text, call)
        elif admits:
            await self.talker.tell(heard.conversation, text, answers=heard.message)

    def _card_tells(self, heard: Heard, call: Call | None) -> bool:
        return (
            call is not None and not self.surface.shows_outcomes and self.gate.people.belongs(call, heard.conversation)
        )

    def wording(self, heard: Heard, *, alone: bool = False) -> Wording:
        """Return the wording for an answer to an event.

        The wording is in the person's language if only that person sees the answer, else in the conversation's
        language.
        """
        return self.gate.people.wording(heard.conversation, heard.identity if alone else "")

    def text(self, heard: Heard, answer: Answer, *, alone: bool = False) -> str:
        """Return the text that answers a reply. Return '' if the surface itself shows the outcome of the call."""
        settled = answer.came is Came.APPROVED or isinstance(answer.error, CallDenied)
        if settled and self.surface.shows_outcomes:
            return ""
        if answer.came is Came.REJECTED and answer.call is not None and self.talker.shows_rejection(answer.call):
            return ""
        return answer.told(self.gate.names, self.wording(heard, alone=alone))

    async def tell(
        self, heard: Heard, text: str, about: Call | None = None, *, alone: bool = False, refused: bool = False
    ) -> None:
        """Answer an event.

        With `alone`, only the person who sent the event gets the answer, if the platform can do that.

        A person who is on no list is answered once a minute for each card and kind of event, and gets a refusal
        (`refused`) only in private.
        """
        ref = about.ref if about else None
        what = heard.name if isinstance(heard, Command) else type(heard)
        stranger = not self.gate.people.is_listed(self.principal(heard))
        if stranger and not self.patience.admits((heard.identity, ref, what)):
            return
        if text and alone and heard.press:
            await self.talker.answer_press(heard.press, text, alert=True)
        elif refused and stranger:
            await self._say_to_bystander(heard, text, about)
        elif text:
            await self.talker.tell(heard.conversation, text, about=ref, answers=heard.message)

    async def entitle(self, heard: Text) -> None:
        """Give a conversation with the agent a title: the beginning of its first text."""
        await self.talker.entitle(heard.conversation, one_line(mask(heard.text), _TITLE))

    def may_question(self, heard: Text, about: Call | None) -> bool:
        """Return whether to ask a person what their unclear text means.

        If the text isn't addressed to the bot, the person is asked at most once a minute for each card.
        """
        place = about.ref if about else heard.conversation
        return heard.addressed or self.patience.admits((heard.identity, place, "asked"))

    async def show(self, heard: Heard, call: Call) -> None:
        """Show the person all details of a call, and its outcome or its state."""
        names, wording = self.gate.names, self.wording(heard, alone=bool(heard.press))
        await self.gate.ready(call)
        file = whole(call, names, wording)
        told = file._replace(text=f"{file.text}\n\n{outcome(call, names, wording)}")
        await self.talker.show(heard.conversation, told, about=call.ref, press=heard.press)

    def whoami(self, heard: Heard) -> str:
        """Return a sentence with the identity and the principal of the person who sent the event."""
        return self.wording(heard).say("chat.whoami", identity=heard.identity, principal=self.principal(heard))

    def principal(self, heard: Heard) -> str:
        """Return the principal of the person who sent the event."""
        return self.gate.people.principal(heard.identity)

    def may_see(self, heard: Heard, call: Call) -> bool:
        """Return whether the person who sent the event may read the call in that conversation."""
        return self.gate.people.belongs(call, heard.conversation) and self.gate.access.may_see(
            self.principal(heard), call
        )

    def is_private(self, heard: Heard) -> bool:
        """Return whether the event happened in the person's private conversation with the service, or a thread of it.

        A private conversation has the person's identity as its name.
        """
        people = self.gate.people
        names = {heard.identity, *people.identities(self.principal(heard))}
        return people.is_chat(heard.conversation) and people.place(heard.conversation).chat in names

    def reply(self, heard: Heard, kind: ReplyKind, **more: Any) -> Reply:
        """Return the event as a `Reply` to a card. `more` has the fields of the reply that the event itself doesn't
        give.
        """
        fields = {"conversation": heard.conversation} | more
        surface = heard.conversation.partition(":")[0]
        came: dict[str, Any] = {"pressed_at": heard.at, "event": heard.event, "received_at": heard.received_at}
        return Reply(heard.identity, surface, kind=kind, **came, **fields)

    async def about(self, heard: Heard) -> Pointed | None:
        """Return the call of the message that the event is about, or None.

        A text is about the message that it answers. A press or a reaction is about the message on which it was made.
        """
        message = heard.answers if isinstance(heard, Text) else heard.message
        return await self.gate.pointed_at(message) if message else None

    async def record(self, heard: Heard, what: Event, about: Pointed | None) -> None:
        """Record an event in the audit chain of the call that it is about.

        If the event is about no call, record it in the service's own chain.
        """
        entry = Entry(about.ref if about else "", what, heard.identity, {"conversation": heard.conversation})
        await self.store.commit(adding(Change(entries=(entry,), handled=heard.event)))
