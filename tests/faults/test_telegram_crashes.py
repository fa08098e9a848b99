"""The service killed at every named point from a message on Telegram to the result, and started again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hitl.cards.wording import say
from hitl.proof.chain import verify
from simulators.telegram import TelegramServer
from tests.patience import PATIENCE_S
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.telegram import Bot, Chat, Message, User
    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.long

RUN = "run echo ran >> out.txt"
LABEL = say("button.approve")
#: What becomes of the call where the process dies once it has the one permission to run it: nobody tries again.
UNKNOWN = {"gate.approved": 0, "service.leased": 0, "service.ran": 1}
#: Where the tool may still be running.
RUNNING = {"delivery.sent:2", "intake.handled:2"}
#: What is drilled at once.
STEPS = {
    "asked": ["gate.submitted", "delivery.sent:1"],
    "pressed": ["events.received:2", "events.recorded:2", "intake.handling:2"],
    "decided": list(UNKNOWN),
    "ended": ["gate.finished", "delivery.sent:2", "intake.handled:2"],
}
#: Longer, or of less interest: the same on the way of the message that asks, and around every commit after the two of
#: the start.
MORE = [
    *("events.received:1", "events.recorded:1", "intake.handling:1", "intake.handled:1"),
    *(f"writer.{when}:{n}" for when in ("before-begin", "before-commit", "after-commit") for n in range(3, 14)),
]

SETTINGS = """
requesters = ["telegram:{ann}"]
approvers = ["telegram:{ann}"]

[conversations."telegram:{ann}"]
self_approval = "high"

[telegram]
api = "{api}"
pace = 0
"""


class Drill:
    """One person, her chat with the bot, and a service that dies once and is started again."""

    def __init__(self, server: TelegramServer, bot: Bot, ann: User, room: Chat, service: Installation) -> None:
        self.server = server
        self.bot = bot
        self.ann = ann
        self.room = room
        self.service = service

    async def live(self, point: str) -> Message:
        """Ask and approve, while the service dies at the point and comes back; the card when the call is over."""
        await asyncio.to_thread(self.service.start, dies_at=point)
        again = asyncio.create_task(self._again())
        await self.server.say(self.ann, self.room, RUN)
        card = await self.server.wait_message(self.room, button=LABEL, timeout=PATIENCE_S)
        await self.server.press(self.ann, card, LABEL)
        await again
        return await self.server.wait_for(self._over, PATIENCE_S, "the end")

    async def _again(self) -> None:
        assert -9 == await asyncio.to_thread(self.service.wait)
        await asyncio.to_thread(self.service.start)

    def _over(self) -> Message | None:
        """The card, once it tells an end and nothing waits to be handled or sent."""
        with self.service.database() as database:
            query = "select (select count(*) from inbox where handled_at is null) + (select count(*) from outbox)"
            query += " + (select count(*) from calls where finished_at is null)"
            (left,) = database.execute(query).fetchone()
        ended = [card for card in self.cards() if not card.labels]
        return ended[0] if ended and not left else None

    def cards(self) -> list[Message]:
        """The bot's cards in the chat."""
        return [one for one in self.room.messages.values() if one.labels or one.history]


@pytest.mark.parametrize("step", STEPS)
async def test_a_death_on_the_way_loses_no_press_and_runs_nothing_twice(
    install: Callable[..., Installation], step: str
) -> None:
    """One call, one card, which tells the truth; it ran once, or at most once where it is said not to be known."""
    await asyncio.gather(*(drilled(install, point) for point in STEPS[step]))


@pytest.mark.fuzz
@pytest.mark.parametrize("point", MORE)
async def test_nor_does_a_death_elsewhere(install: Callable[..., Installation], point: str) -> None:
    """The same, wherever the database was."""
    await drilled(install, point)


async def drilled(install: Callable[..., Installation], point: str) -> None:
    """One drill at a point, with everybody and everything of its own."""
    async with TelegramServer() as server:
        bot, ann = await server.bot(), await server.user("Ann")
        room = await server.private(ann, bot.id)
        settings = SETTINGS.format(ann=ann.id, api=server.root_url)
        service = install(settings=settings, environment={"SAYSO_TELEGRAM__TOKEN": bot.token})
        drill = Drill(server, bot, ann, room, service)
        try:
            check(point, drill, await drill.live(point))
        finally:
            await asyncio.to_thread(service.close)


def check(point: str, drill: Drill, card: Message) -> None:
    """What must be true afterwards."""
    service = drill.service
    ran = len(service.lines())
    with service.database() as database:
        calls = database.execute("select decision, result from calls").fetchall()

    assert 1 == len(drill.cards())
    assert 1 == len(calls)
    assert "approved" == calls[0][0]
    may_be_lost = point in RUNNING or point.startswith("writer.")
    if point in UNKNOWN or (may_be_lost and calls[0][1] == "unknown"):
        assert says(card.text, "ending.unknown")
        assert ran <= 1
    else:
        assert ("succeeded", 1) == (calls[0][1], ran)
        assert says(card.text, "by.approved")
    if point in UNKNOWN:
        assert UNKNOWN[point] == ran
    assert {None} == {verify(service.keys, chain) for chain in service.chains().values()}
