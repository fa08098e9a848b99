"""Finds the call of a pressed button by the button's data, and corrects messages that are second copies of a card."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hitl.call import Status
from hitl.delivery import shown
from hitl.errors import InvalidConfirmation, NotApprover
from hitl.outcomes import fact
from hitl.ports import Change, adding
from hitl.proof.keyring import ButtonData

if TYPE_CHECKING:
    from bot.conversation.voice import Voice
    from hitl.call import Call, Verb
    from hitl.events import Echo, Press
    from hitl.gate.response import Answer


class Cards:
    """Finds the calls of presses on the cards of one surface, and handles second messages that show the same card."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._service = voice.service
        self._store = voice.store
        self._talker = voice.talker

    async def pressed(self, heard: Press) -> tuple[Verb, Call, str]:
        """Return the verb of a button press, its call, and the route of its card.

        If the store doesn't know the card's message, and an approver pressed, the message is stored as the card, so
        that the service edits it later. Other people can't make the service edit a message in this way. Raises
        InvalidConfirmation.
        """
        verb, call, route, known = await self._sealed(heard)
        if not known and self._voice.gate.access.is_approver(self._voice.principal(heard), call):
            await self._adopt(heard, call, route)
        return verb, call, route

    async def echo(self, heard: Echo) -> None:
        """Handle a card of the service that the platform sends back. The service may not know that this card was sent.

        This method decides no call. The first message that the store knows is the card. A second message is edited to
        say that the first one counts. A message without valid button data is ignored.
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

    async def correct(self, heard: Press, route: str, answer: Answer) -> None:
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
