"""Each method of the Bot API that the service calls, going wrong in each way: the call ends right, the card true."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from simulators.telegram import DropAnswer, Garbage, Hang, Refuse, Reset, TelegramServer
from tests.faults.matrix import HANG_S, TIMEOUT_S, Life, Trouble, check, summary
from tests.scenarios.telegram.surface import Group, TelegramStage

if TYPE_CHECKING:
    from hitl.call import Call
    from simulators.telegram.faults import Fault
    from tests.wired import Wired

FAULTS: dict[str, Fault] = {
    "429": Refuse(429, "Too Many Requests: retry after 1", {"retry_after": 1}),
    "400": Refuse(400, "Bad Request: chat not found"),
    "403": Refuse(403, "Forbidden: bot was kicked from the supergroup chat"),
    "500": Refuse(500, "Internal Server Error"),
    "not JSON": Garbage(200),
    "hang": Hang(HANG_S),
    "reset": Reset(),
    "reply lost": DropAnswer(),
}

_WELL = "succeeded, 1 card, true"
_TWICE = "succeeded, 2 cards, true"
_NOBODY = "undeliverable, 0 cards, true"

#: What becomes of a call that is asked, looked at, approved and run, with one thing going wrong on the way. A card
#: whose posting was carried out although no answer came is posted again: Telegram can't be asked whether it has it.
OUTCOMES: dict[str, dict[str, str]] = {
    "getMe": dict.fromkeys(FAULTS, _WELL),
    "getUpdates": dict.fromkeys(FAULTS, _WELL),
    "sendMessage": dict.fromkeys(FAULTS, _WELL)
    | {"400": _NOBODY, "403": _NOBODY, "hang": _TWICE, "reply lost": _TWICE},
    "sendDocument": dict.fromkeys(FAULTS, _WELL),
    "editMessageText": dict.fromkeys(FAULTS, _WELL),
    "answerCallbackQuery": dict.fromkeys(FAULTS, _WELL),
}


#: When each method is called first in that life.
MOMENTS = {
    "getMe": "start",
    "getUpdates": "look",
    "sendMessage": "ask",
    "sendDocument": "look",
    "editMessageText": "yes",
    "answerCallbackQuery": "yes",
}


class GroupLife(Life):
    """A call that is asked, looked at and approved, with one thing going wrong at the right moment."""

    def __init__(self, stage: TelegramStage, trouble: Trouble) -> None:
        super().__init__(stage, stage.surface.server, trouble)
        self._stage = stage
        self._group = stage.surface

    def wires(self) -> Wired:
        """The group's."""
        assert self._group.wires is not None
        return self._group.wires

    async def live(self) -> Call:
        """From the start of the service to the end of the call, as it is then."""
        await self.step("start", self._stage.start())
        call: Call = await self.step("ask", self._stage.submit(args={"path": "🗑" * 2500}))
        if self._group.cards(call):
            await self.step("look", self._press(call, Verb.DETAILS))
            await self.step("yes", self._press(call, Verb.APPROVE))
            await self._look_again(call)
        for card in self._group.cards(call):
            if card.labels:
                await self._group.server.press(self._group.people["bob"], card, "Approve")
        await self.settled()
        stored = await self._stage.store.get(call.ref)
        assert stored is not None
        return stored

    async def _look_again(self, call: Call) -> None:
        """As the one does whose yes still wants the details, because they could not be shown."""
        stored = await self._stage.store.get(call.ref)
        if stored is not None and stored.status is Status.PENDING:
            await self.step("again", self._press(call, Verb.DETAILS))
            await self.step("again", self._press(call, Verb.APPROVE))

    async def _press(self, call: Call, verb: Verb) -> None:
        card = self._group.cards(call)[-1]
        await self._group.server.press(self._group.people["ann"], card, data=self._group.data(call, verb))


@pytest.mark.parametrize("method", OUTCOMES)
async def test_each_way_to_go_wrong_ends_as_the_table_says(method: str) -> None:
    """It runs once or not at all, the cards are true, and nothing is left to be done."""
    ended = await asyncio.gather(*(lived(method, fault) for fault in FAULTS.values()))

    assert OUTCOMES[method] == dict(zip(FAULTS, ended, strict=True))


async def lived(method: str, fault: Fault) -> str:
    """One life on a stage of its own, its service not waiting long for Telegram; what came of it."""
    async with TelegramServer() as server:
        stage = TelegramStage(await Group.gather(server), "polling", timeout_s=TIMEOUT_S)
        stage.rules.set("delete_file", timeout_s=86_400)
        trouble = Trouble(method, MOMENTS[method], fault, isinstance(fault, Hang))
        try:
            call = await GroupLife(stage, trouble).live()
        finally:
            await stage.halt()
        await check(stage, call)
        assert 0 == server.platform.faults.left()
        return summary(call, [(card, card.text) for card in stage.surface.cards(call)])
