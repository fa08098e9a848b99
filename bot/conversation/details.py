"""Shows a call's details to a person who pressed Details, and attaches them to the card as a file."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from cachetools import FIFOCache

from hitl.call import Entry, Event
from hitl.cards.card import file_below, whole
from hitl.errors import Unavailable
from hitl.gate.response import Answer, Came
from hitl.ports import Change, PlatformError, adding
from hitl.proof.chain import data_of

if TYPE_CHECKING:
    from bot.conversation.voice import Voice
    from hitl.call import Call, Reply
    from hitl.cards.card import File
    from hitl.events import Press

_log = logging.getLogger(__name__)
#: The number of cards for which we remember that their details were shown.
_SHOWN = 10_000


class Details:
    """Shows the details of calls on one surface."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._service = voice.service
        self._talker = voice.talker
        self._toasts = voice.surface.toasts
        #: Id of a card's message -> a hash of the details, for each card below which everybody in the conversation can
        #: read the details.
        self._shown: FIFOCache[str, int] = FIFOCache(_SHOWN)
        #: A lock for each card, held while its file is sent.
        self._attaching: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def show(self, heard: Press, route: str, reply: Reply) -> Answer:
        """Show a whole call to the person who pressed Details.

        Return the gate's answer. The record gets a line only if the call was really shown: if a card leaves out a part
        of the call, an approval counts only after that line.
        """
        answer, wording = await self._voice.gate.peek(reply), self._voice.wording(heard, alone=True)
        seen = answer.came is Came.DETAILS
        # With toasts, everybody in the conversation sees the details, so they are in the conversation's language.
        language = self._voice.wording(heard, alone=not self._toasts)
        file = whole(answer.call, self._voice.gate.names, language) if seen and answer.call is not None else None
        shown = self._toasts and file is not None and self._shown.get(heard.message or "") == hash(file.text)
        if self._toasts or (not seen and self._voice.admits_answer(heard, answer)):
            below = wording.say("button.details.shown" if shown else "button.details")
            text = below if seen else self._voice.text(heard, answer, alone=True)
            await self._talker.answer_press(str(heard.press), text, alert=not seen)
        if (
            file is not None
            and answer.call is not None
            and (shown or await self._shown_to(heard, route, answer.call, file))
        ):
            await self._service.decide(reply)
            self._service.accompany(self._attach(heard, route, answer.call))
        return answer

    async def _shown_to(self, heard: Press, route: str, call: Call, file: File) -> bool:
        """Show the details to the person who pressed. Return whether they were shown.

        If the platform refuses the details and a retry can't help, tell the person. Raises PlatformError for errors
        after which a retry may help.
        """
        try:
            await self._talker.show(route, file, about=call.ref, press=heard.press)
        except PlatformError as error:
            if error.passing:
                raise
            not_shown = self._voice.wording(heard, alone=not self._toasts).say("chat.not_shown", short=call.short)
            if self._toasts:
                await self._talker.tell(route, not_shown, about=call.ref)
            else:
                await self._talker.answer_press(str(heard.press), not_shown, alert=True)
            return False
        if self._toasts and heard.message:
            self._shown[heard.message] = hash(file.text)
        return True

    async def _attach(self, heard: Press, route: str, call: Call) -> None:
        """Send the details as a file below the pressed card if the card leaves out a part of the call.

        Each card gets its file only once: the audit record says whether the card has its file. If the file can't be
        sent, tell the person who pressed, who has seen the details anyway. The next press tries again to send the file.
        """
        file = file_below(call, self._voice.gate.names, self._voice.gate.people.wording(route))
        card = heard.message
        if file is None or card is None:
            return
        lock = self._attaching.setdefault(card, asyncio.Lock())
        try:
            async with lock:
                if await self._has_file(call, card):
                    return
                if await self._talker.attach(route, file, about=call.ref, card=card):
                    entry = Entry(call.ref, Event.ATTACHED, "service", {"card": card, "file": file.name})
                    await self._voice.store.commit(adding(Change(entries=(entry,))))
        except PlatformError as error:
            _log.warning("file.not_sent", {"ref": call.ref, "route": route, "why": str(error)})
            wording = self._voice.wording(heard, alone=True)
            told = wording.say("chat.no_file", short=call.short, why=str(error))
            told = f"{told} {wording.say(error.remedy)}." if error.remedy else told
            await self._talker.answer_press(str(heard.press), told, alert=True)
        except Unavailable as error:
            _log.warning("file.not_recorded", {"ref": call.ref, "route": route, "why": error.message})

    async def _has_file(self, call: Call, card: str) -> bool:
        """Return whether the audit record says that a card has its file."""
        lines = await self._voice.store.history(call.ref)
        return any(line.event == Event.ATTACHED and data_of(line.data).get("card") == card for line in lines)
