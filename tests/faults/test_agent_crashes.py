"""The service killed at every named point of a model's turn, and started again: a turn goes on from what was stored."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from hitl.cards.wording import say
from hitl.proof.chain import verify
from simulators.model import Asked, Call, ModelServer, Reply
from simulators.telegram import TelegramServer
from tests.patience import PATIENCE_S
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.telegram import Chat, Message, User
    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.long

LABEL = say("button.approve")
OVER = "That is all of it."
#: Where the tool is done and its result isn't stored: nobody runs it again, and the model hears that it isn't known.
LOST = "service.ran:1"
#: What is drilled at once.
STEPS = {
    "answered": ["turn.answered:1", "turn.kept:1"],
    "asked": ["gate.submitted:1", "gate.submitted:2"],
    "ran": [LOST, "gate.finished:1"],
    "told": ["turn.ended:1", "turn.answered:2", "turn.kept:2"],
}
SETTINGS = """
requesters = ["telegram:{ann}"]
approvers = ["telegram:{ann}"]

[conversations."telegram:{ann}"]
self_approval = "high"

[telegram]
api = "{api}"
pace = 0

[agent]
model = "openai:simulated"
base_url = "{model}"
tools = ["workspace.bash"]
"""


def plan(asked: Asked) -> Reply:
    """Two commands, and a word once it was heard how they ended."""
    if asked.fresh:
        return Reply(OVER)
    commands = ("echo one >> out.txt", "echo two >> out.txt")
    return Reply("Two commands.", tuple(Call("workspace__bash", {"command": command}) for command in commands))


class Drill:
    """One person, her chat with the bot, a model, and a service that dies once and is started again."""

    def __init__(self, server: TelegramServer, ann: User, room: Chat, service: Installation) -> None:
        self.server = server
        self.ann = ann
        self.room = room
        self.service = service

    async def live(self, point: str) -> None:
        """Say what is to be done and approve it, while the service dies at the point and comes back."""
        await asyncio.to_thread(self.service.start, dies_at=point)
        again = asyncio.create_task(self._again())
        await self.server.say(self.ann, self.room, "clean up the staging branches")
        for number, card in enumerate(await self.server.wait_for(self._both, PATIENCE_S, "two cards"), 1):
            await self.server.press(self.ann, card, LABEL)
            await self.server.wait_for(partial(self._ended, number), PATIENCE_S, "the end of a call")
        await again
        await self.server.wait_for(self._over, PATIENCE_S, "the last words")

    async def _again(self) -> None:
        assert -9 == await asyncio.to_thread(self.service.wait)
        await asyncio.to_thread(self.service.start)

    def _both(self) -> list[Message] | None:
        found = self.cards()
        return found if len(found) == 2 else None

    def _ended(self, count: int) -> bool | None:
        """Whether so many calls are over."""
        with self.service.database() as database:
            over = database.execute("select count(*) from calls where finished_at is not null").fetchone()[0]
        return True if over == count else None

    def _over(self) -> bool | None:
        """Whether the model's last words are there, the turn is done, and every card tells an end."""
        with self.service.database() as database:
            left = database.execute("select count(*) from turns where not done").fetchone()[0]
        said = any(OVER in message.text for message in self.room.messages.values() if message.author_bot)
        return True if said and not left and not any(card.labels for card in self.cards()) else None

    def cards(self) -> list[Message]:
        """The bot's cards in the chat."""
        posted = ((one, one.history[0] if one.history else one) for one in self.room.messages.values())
        return [one for one, first in posted if says(first.text, "card.headline")]


@pytest.mark.parametrize("step", STEPS)
async def test_a_death_in_a_turn_loses_nothing_and_asks_and_runs_nothing_twice(
    install: Callable[..., Installation], step: str
) -> None:
    """Two calls, two cards, each run once; the model hears how both ended, and people hear the model."""
    await asyncio.gather(*(drilled(install, point) for point in STEPS[step]))


async def drilled(install: Callable[..., Installation], point: str) -> None:
    """One drill at a point, with everybody and everything of its own."""
    async with TelegramServer() as server, ModelServer(plan) as model:
        bot, ann = await server.bot(), await server.user("Ann")
        room = await server.private(ann, bot.id)
        settings = SETTINGS.format(ann=ann.id, api=server.root_url, model=model.base_url("openai"))
        service = install(settings=settings, environment={"SAYSO_TELEGRAM__TOKEN": bot.token})
        drill = Drill(server, ann, room, service)
        try:
            await drill.live(point)
            check(point, drill, model)
        finally:
            await asyncio.to_thread(service.close)


def check(point: str, drill: Drill, model: ModelServer) -> None:
    """What must be true afterwards."""
    service = drill.service
    with service.database() as database:
        ended = [row[0] for row in database.execute("select result from calls order by created_at, short")]
    heard = [json.loads(text)["status"] for text in model.asked[-1].fresh.values()]
    results = ["succeeded", "unknown"] if point == LOST else ["succeeded", "succeeded"]

    assert 2 == len(drill.cards())
    assert results == sorted(ended)
    assert results == sorted(heard)
    assert ["one", "two"] == sorted((service.workspace / "out.txt").read_text().split())
    assert {None} == {verify(service.keys, chain) for chain in service.chains().values()}
