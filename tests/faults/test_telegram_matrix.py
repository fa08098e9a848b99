"""Each method of the Bot API that the service calls, going wrong in each way: the call ends right, the card true."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from hitl.cards import outcome
from hitl.model import Status, Verb
from tests.scenarios.telegram.surface import Group, TelegramStage
from tests.wire.telegram import DropAnswer, Garbage, Hang, Refuse, Reset, TelegramServer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from hitl.model import Call
    from tests.wire.telegram.faults import Fault

#: How long the service waits for Telegram here, and how long a Telegram that hangs lets it wait.
TIMEOUT_S, HANG_S = 0.7, 1.2

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


class Life:
    """A call that is asked, looked at and approved, with one thing going wrong at the right moment."""

    def __init__(self, stage: TelegramStage, method: str, fault: Fault) -> None:
        self._stage = stage
        self._group = stage.surface
        self._method = method
        self._fault = fault

    async def live(self) -> Call:
        """From the start of the service to the end of the call, as it is then."""
        await self._step("start", self._stage.start())
        call: Call = await self._step("ask", self._stage.submit(args={"path": "🗑" * 2500}))
        if self._group.cards(call):
            await self._step("look", self._press(call, Verb.DETAILS))
            await self._step("yes", self._press(call, Verb.APPROVE))
        for card in self._group.cards(call):
            if card.labels:
                await self._group.server.press(self._group.people["bob"], card, "Approve")
        await self._settled()
        stored = await self._stage.store.get(call.ref)
        assert stored is not None
        return stored

    async def _step(self, moment: str, act: Awaitable[Any]) -> Any:
        """One step, and all that follows from it; a request that hangs comes through before it is repeated."""
        here = MOMENTS[self._method] == moment
        server = self._group.server
        before = len(await server.calls(self._method))
        if here:
            await server.fail(self._method, self._fault)
        done = await act
        if here and isinstance(self._fault, Hang):
            await server.wait_calls(self._method, before + 1)
        await self._settled()
        return done

    async def _press(self, call: Call, verb: Verb) -> None:
        card = self._group.cards(call)[-1]
        await self._group.server.press(self._group.people["ann"], card, data=self._group.data(call, verb))

    async def _settled(self) -> None:
        """Until nothing is on its way, with time going by, so that what is to be tried again is."""
        assert self._group.wires is not None
        await self._group.wires.settle(self._hurry)

    def _hurry(self) -> None:
        self._stage.clock.advance(1)
        self._stage.service._outbox.set()  # noqa: SLF001 - it looks at the time once a second by itself


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
        try:
            call = await Life(stage, method, fault).live()
        finally:
            await stage.halt()
        await stage.store.check_record()
        assert (call.status is Status.SUCCEEDED) == len(stage.ran())
        assert 0 == server.platform.faults.left()
        return summary(stage.surface, call)


def summary(group: Group, call: Call) -> str:
    """What became of a call, and of its cards."""
    cards = group.cards(call)
    true = all(outcome(call) in card.text and not card.labels for card in cards)
    told = "true" if true else "UNTRUE"
    return f"{call.status}, {len(cards)} card{'' if len(cards) == 1 else 's'}, {told}"
