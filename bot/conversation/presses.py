"""Handles the events that carry the data of a card's button: presses, and cards that a platform sends back.

The data names the call. A press decides the call, and the person who pressed gets an answer.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from bot.conversation.details import Details
from hitl.call import Event, ReplyKind, Status, Verb
from hitl.delivery import shown
from hitl.errors import InvalidConfirmation, NotApprover
from hitl.gate.response import Answer, Came
from hitl.outcomes import fact
from hitl.ports import Change, adding
from hitl.proof.keyring import ButtonData
from hitl.records import replace

if TYPE_CHECKING:
    from bot.conversation.voice import Voice
    from hitl.call import Call, Reply
    from hitl.events import Echo, Press

#: If a decision takes more seconds than this, the press is answered without the outcome, and the outcome follows as a
#: message.
PRESS_WITHIN_S = 1.0
#: Results of a press that are shown as an alert, because the person who pressed must not miss them.
_ALERTS = frozenset({Came.REFUSED, Came.CONFIRM, Came.DETAILS_NEEDED, Came.REASON_NEEDED})


class Presses:
    """Handles the presses on the cards of one surface, and second messages that show the same card."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._service = voice.service
        self._store = voice.store
        self._talker = voice.talker
        self._toasts = voice.surface.toasts
        self._details = Details(voice)

    async def pressed(self, heard: Press) -> None:
        """Decide the call of a press, or show its details.

        Refuse a press whose data isn't from a button of the service. If the store doesn't know the card's message, and
        an approver pressed, the message is stored as the card, so that the service edits it later. Other people can't
        make the service edit a message in this way.
        """
        try:
            verb, call, route, known = await self._sealed(heard)
        except InvalidConfirmation as error:
            if not heard.stray:
                await self._voice.record(heard, Event.FORGED, await self._voice.about(heard))
            return await self._talker.answer_press(
                str(heard.press), error.told(self._voice.wording(heard, alone=True)), alert=True
            )
        if not known and self._voice.gate.access.is_approver(self._voice.principal(heard), call):
            await self._adopt(heard, call, route)
        reply = self._voice.reply(heard, ReplyKind.BUTTON, verb=verb, target=call.ref, conversation=route)
        if verb is Verb.DETAILS:
            answer = await self._details.show(heard, route, replace(reply, event=None))
        elif self._toasts:
            answer, told = await self._toasted(heard, reply)
            await self._after(heard, route, answer, told=told)
        else:
            (answer,) = await self._service.decide(reply)
            await self._after(heard, route, answer, told=True)
            if answer.came is not Came.REASON_NEEDED and self._voice.admits_answer(heard, answer):
                text = self._voice.text(heard, answer, alone=True)
                await self._talker.answer_press(str(heard.press), text, alert=True)
        return await self._correct(heard, route, answer)

    async def _toasted(self, heard: Press, reply: Reply) -> tuple[Answer, bool]:
        """Decide by a press, on a platform that shows the answer to a press as a short notice.

        Return the gate's answer, and whether the person got it. The platform allows only one notice for each press.
        """
        press = str(heard.press)
        deciding = asyncio.ensure_future(self._service.decide(reply))
        done, _ = await asyncio.wait({deciding}, timeout=PRESS_WITHIN_S)
        if not done:
            await self._talker.answer_press(press, "", alert=False)
        (answer,) = await deciding
        if done:
            text = self._voice.text(heard, answer, alone=True)
            await self._talker.answer_press(press, text, alert=answer.came in _ALERTS)
        return answer, bool(done)

    async def _after(self, heard: Press, route: str, answer: Answer, *, told: bool) -> None:
        """After a press, ask for a reason if an approval needs a reason, or if the person may still explain a
        rejection.

        In any other case, send the answer, unless `told` says that the person has it already.
        """
        call = answer.call
        if call is None:
            return
        needed = Verb.APPROVE if answer.came is Came.REASON_NEEDED else None
        verb = Verb.REJECT if answer.came is Came.REJECTED and call.awaits_reason else needed
        if verb:
            who, card = heard.identity, heard.message
            await self._talker.ask(route, call=call, verb=verb, person=who, answers=card, press=heard.press)
        elif not told and self._voice.is_bystander(heard, answer):
            if self._voice.admits_answer(heard, answer):
                await self._voice.whisper(replace(heard, press=None), self._voice.text(heard, answer, alone=True), call)
        elif not told and (text := self._voice.text(heard, answer)):
            await self._talker.tell(route, text, about=call.ref)

    async def echo(self, heard: Echo) -> None:
        """Handle a card of the service that the platform sends back. The service may not know that this card was sent.

        This method decides no call. The first message that the store knows is the card. A second message is edited, so
        that it says that the first message is the card. A message without valid button data is ignored.
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

    async def _correct(self, heard: Press, route: str, answer: Answer) -> None:
        """If the pressed message is a second card of a decided call, edit the message.

        The outbox doesn't edit it, because only the first message is stored as the card.
        """
        call = answer.call
        if call is None or not heard.message or isinstance(answer.error, NotApprover):
            return
        if call.status is not Status.PENDING and not await self._store.by_message(heard.message):
            await self._talker.update(route, heard.message, call)
            if not call.ended:
                self._service.follow(call, partial(self._talker.update, route, heard.message))

    async def _sealed(self, heard: Press | Echo) -> tuple[Verb, Call, str, bool]:
        """Return the verb, the call and the card's route from button data, and whether the store knows the message as
        the card of this call.

        A client may send any data. Raises InvalidConfirmation for data that the service didn't make or that belongs to
        another card.
        """
        data = ButtonData.unpack(heard.data)
        call = await self._store.get(data.ref)
        people, keys = self._voice.gate.people, self._voice.gate.keys
        chat = people.place(heard.conversation).chat
        if call is None or not data.holds(keys, digest=call.digest, deadline=call.deadline, place=chat):
            raise InvalidConfirmation(fact("chat.forged"))
        known = await self._store.by_message(heard.message) if heard.message else None
        if known is not None and known[0] != call.ref:
            raise InvalidConfirmation(fact("chat.forged"))
        if known is not None:
            return data.verb, call, known[1], True
        here = [route for route in call.routes if people.place(route).chat == chat]
        return data.verb, call, heard.conversation if heard.conversation in here or not here else here[0], False

    async def _adopt(self, heard: Press | Echo, call: Call, route: str) -> None:
        """Store a message as the card of a call, if no message of that card is known on the route.

        The store has no message of the card if the platform posted the card, but the platform's answer with the message
        id was lost.
        """
        wanted = route in call.routes and not (await self._store.cards(call.ref)).get(route)
        if heard.message and wanted:
            await self._store.adopt(call.ref, route, heard.message)
            await self._store.commit(adding(Change(entries=(shown(call, route, heard.message),))))
