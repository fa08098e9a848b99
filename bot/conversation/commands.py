"""Carries out people's commands: decide a request by its ref, show it, withdraw it, and show one's own identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import ReplyKind, Verb
from hitl.cards.card import headline
from hitl.cards.sessions import session_text, waiting_sessions
from hitl.cards.wording import SIGNS
from hitl.errors import SaysoError
from hitl.gate.response import refuse, unknown_call
from hitl.proof.keyring import as_short
from hitl.records import replace

if TYPE_CHECKING:
    from bot.conversation.turns import Turns
    from bot.conversation.voice import Voice
    from hitl.call import Call
    from hitl.events import Command


class Commands:
    """Carries out the commands that people send on one surface."""

    def __init__(self, voice: Voice, turns: Turns) -> None:
        self._voice = voice
        self._turns = turns
        self._gate = voice.gate
        self._store = voice.store

    async def commanded(self, heard: Command) -> None:
        """Carry out a command. For an unknown command, send the help."""
        if heard.name in {"approve", "reject"}:
            return await self._decide(heard)
        if heard.name == "show":
            return await self._show(heard)
        if heard.name in {"withdraw", "cancel"}:
            return await self._withdraw(heard)
        if heard.name == "new":
            return await self._turns.forget(heard)
        told = {
            "whoami": self._whoami,
            "pending": self._pending,
            "sessions": self._sessions,
            "status": self._status,
        }.get(heard.name)
        helped = self._voice.wording(heard).say(self._voice.surface.help)
        return await self._voice.tell(heard, await told(heard) if told else helped, alone=True)

    async def _decide(self, heard: Command) -> None:
        target, _, reason = " ".join(heard.text.split()).partition(" ")
        if not as_short(target):
            return await self._voice.tell(heard, self._usage(heard), alone=True)
        reply = self._voice.reply(heard, ReplyKind.COMMAND, verb=Verb(heard.name), target=target)
        reason = reason.removeprefix("because ").removeprefix("weil ").lstrip(":, ")
        for answer in await self._voice.service.decide(replace(reply, reason=reason or None)):
            await self._voice.answer(heard, answer)
        return None

    async def _show(self, heard: Command) -> None:
        if not as_short(heard.text):
            return await self._voice.tell(heard, self._usage(heard), alone=True)
        call = await self._gate.find(heard.text)
        if call is None or not self._voice.may_see(heard, call):
            return await self._voice.tell(heard, unknown_call(heard.text).told(self._voice.wording(heard)), alone=True)
        return await self._voice.show(heard, call)

    async def _whoami(self, heard: Command) -> str:
        return self._voice.whoami(heard)

    async def _pending(self, heard: Command) -> str:
        private = self._voice.is_private(heard)
        lines = [await self._line(heard, call, linked=private) for call in await self._for(heard)]
        nothing = "chat.pending.nowhere" if private else "chat.pending.none"
        return "\n".join(lines) or self._voice.wording(heard).say(nothing)

    async def _for(self, heard: Command) -> list[Call]:
        """Return the pending requests that the person may see.

        In a private chat, these are requests of all places: those that the person may approve or has asked for. In any
        other place, these are the requests of that place.
        """
        access, calls = self._gate.access, await self._store.pending()
        if not self._voice.is_private(heard):
            return [call for call in calls if self._voice.may_see(heard, call)]
        principal = self._voice.principal(heard)
        return [call for call in calls if access.is_approver(principal, call) or access.asked(principal, call)]

    async def _line(self, heard: Command, call: Call, *, linked: bool) -> str:
        """Return the headline of a request with its short ref. With `linked`, the address of its card follows on the
        next line.
        """
        wording = self._voice.wording(heard)
        await self._gate.ready_to_list(call, wording)
        head = f"{SIGNS[call.verdict.risk]} {headline(call, self._gate.names, wording)}"
        told = wording.say("chat.pending", short=call.short, headline=head)
        return "\n".join([told, *(await self._links(call) if linked else [])])

    async def _sessions(self, heard: Command) -> str:
        """Return the text about the agents' sessions whose pending requests the person may see (see `_for`)."""
        wording, private = self._voice.wording(heard), self._voice.is_private(heard)
        lines: list[str] = []
        for session in waiting_sessions(await self._for(heard)):
            await self._gate.ready_to_list(session.newest, wording)
            lines.append(session_text(session, self._gate.names, wording))
            lines += await self._links(session.newest) if private else []
        return "\n".join(lines) or wording.say("chat.sessions.nowhere" if private else "chat.sessions.none")

    async def _links(self, call: Call) -> list[str]:
        """Return a list with the address of the call's card on this surface. Without an address, the list is empty."""
        cards = await self._store.cards(call.ref)
        surface = self._voice.surface.name
        links = [
            self._voice.talker.link(route, message)
            for route, message in cards.items()
            if message and route.partition(":")[0] == surface
        ]
        return list(filter(None, links[:1]))

    async def _status(self, heard: Command) -> str:
        return self._voice.wording(heard).say("chat.status", count=len(await self._for(heard)))

    async def _withdraw(self, heard: Command) -> None:
        if not as_short(heard.text):
            return await self._voice.tell(heard, self._usage(heard), alone=True)
        try:
            call = await self._gate.withdraw(heard.text, heard.identity)
        except SaysoError as error:
            found = await self._gate.find(heard.text)
            if found is not None and not self._voice.may_see(heard, found):
                return await self._voice.answer(heard, refuse(error, found))
            told = error.told(self._voice.wording(heard), self._gate.names)
        else:
            told = self._voice.wording(heard).say("chat.withdrawn", short=call.short)
        return await self._voice.tell(heard, told, alone=True)

    def _usage(self, heard: Command) -> str:
        return self._voice.wording(heard).say("chat.usage", command=f"{self._voice.surface.prefix}{heard.name}")
