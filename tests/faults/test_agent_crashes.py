"""The service killed at every named point of a model's turn, and started again: a turn goes on from what was stored."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pytest

from hitl.cards.wording import say
from hitl.proof.chain import verify
from simulators.model import Asked, Call, ModelServer, Reply
from simulators.slack import SlackServer
from simulators.telegram import TelegramServer
from tests.patience import PATIENCE_S
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulators.slack import App, Channel, Message
    from simulators.slack import User as Colleague
    from simulators.telegram import Bot, Chat, User
    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.long

LABEL = say("button.approve")
OVER = "That is all of it."
#: Seconds after which somebody presses again who sees no outcome.
PRESSED_AGAIN_S = 5.0
T = TypeVar("T")
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
requesters = ["{ann}"]
approvers = ["{ann}"]

[conversations."{ann}"]
self_approval = "high"

[{platform}]
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


class OnTelegram:
    """Ann's private chat with the bot."""

    def __init__(self, server: TelegramServer, bot: Bot, ann: User, chat: Chat) -> None:
        self.server = server
        self.person = f"telegram:{ann.id}"
        self.api = server.root_url
        self.environment = {"SAYSO_TELEGRAM__TOKEN": bot.token}
        self._ann = ann
        self._chat = chat

    @classmethod
    @contextlib.asynccontextmanager
    async def opened(cls) -> AsyncIterator[Self]:
        """A server, and the chat on it."""
        async with TelegramServer() as server:
            bot, ann = await server.bot(), await server.user("Ann")
            yield cls(server, bot, ann, await server.private(ann, bot.id))

    async def say(self, text: str) -> None:
        """Ann writes."""
        await self.server.say(self._ann, self._chat, text)

    async def press(self, card: Any) -> None:
        """Ann presses Approve."""
        await self.server.press(self._ann, card, LABEL)

    def written(self) -> list[tuple[Any, str]]:
        """The bot's messages, each with its first text."""
        ours = [one for one in self._chat.messages.values() if one.author_bot]
        return [(one, (one.history[0] if one.history else one).text) for one in ours]


class OnSlack:
    """Ann's direct conversation with the app, in the pane of the assistant view, by Socket Mode."""

    def __init__(self, server: SlackServer, app: App, ann: Colleague, head: Message) -> None:
        self.server = server
        self.person = f"slack:{ann.team_id}/{ann.id}"
        self.api = server.api_url
        self.environment = {"SAYSO_SLACK__BOT_TOKEN": app.bot_token, "SAYSO_SLACK__APP_TOKEN": app.app_token}
        self._ann = ann
        self._head = head

    @classmethod
    @contextlib.asynccontextmanager
    async def opened(cls) -> AsyncIterator[Self]:
        """A server, and the conversation on it."""
        async with SlackServer() as server:
            app, ann = await server.app(socket_mode=True, pane="assistant"), await server.user("Ann")
            yield cls(server, app, ann, await server.open_pane(ann))

    async def say(self, text: str) -> None:
        """Ann writes, once the app is there."""
        await self.server.wait_connected()
        await self.server.say(self._ann, self._room, text, thread=self._head)

    async def press(self, card: Any) -> None:
        """Ann presses Approve; Slack keeps no press for an app that is away."""
        await self.server.press(self._ann, card, LABEL)

    def written(self) -> list[tuple[Any, str]]:
        """The app's messages, each with its first text."""
        ours = [one for one in self._room.messages.values() if one.bot_id and one.ts != self._head.ts]
        return [(one, (one.history[0] if one.history else one).shown.text) for one in ours]

    @property
    def _room(self) -> Channel:
        return self.server.world.channels[self._head.channel_id]


PLACES: dict[str, Callable[[], contextlib.AbstractAsyncContextManager[OnTelegram | OnSlack]]] = {
    "telegram": OnTelegram.opened,
    "slack": OnSlack.opened,
}


class Drill:
    """One person, her conversation with the bot, a model, and a service that dies once and is started again."""

    def __init__(self, place: OnTelegram | OnSlack, service: Installation) -> None:
        self.place = place
        self.service = service

    async def live(self, point: str) -> None:
        """Say what is to be done and approve it, while the service dies at the point and comes back."""
        await asyncio.to_thread(self.service.start, dies_at=point)
        again = asyncio.create_task(self._again())
        await self.place.say("clean up the staging branches")
        for number, card in enumerate(await self._wait_for(self._both, "two cards"), 1):
            await self._approve(card, number)
        await again
        await self._wait_for(self._over, "the last words")

    async def _approve(self, card: Any, number: int) -> None:
        """Press until so many calls are over: a press may come while the service is away.

        A card whose press was handled has no button any more, though its call may still run.
        """
        async with asyncio.timeout(PATIENCE_S):
            while not self._ended(number):
                if LABEL in self.cards()[number - 1].labels:
                    await self.place.press(card)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PRESSED_AGAIN_S):
                        await self._wait_for(partial(self._ended, number), "the end of a call")

    async def _wait_for(self, found: Callable[[], T | None], what: str) -> T:
        return await self.place.server.wait_for(found, PATIENCE_S, what)

    async def _again(self) -> None:
        assert -9 == await asyncio.to_thread(self.service.wait)
        await asyncio.to_thread(self.service.start)

    def _both(self) -> list[Any] | None:
        found = self.cards()
        return found if len(found) == 2 else None

    def _ended(self, count: int) -> bool | None:
        """Whether so many calls are over."""
        with self.service.database() as database:
            over = database.execute("select count(*) from calls where finished_at is not null").fetchone()[0]
        return True if over >= count else None

    def _over(self) -> bool | None:
        """Whether the model's last words are there, the turn is done, and every card tells an end."""
        with self.service.database() as database:
            left = database.execute("select count(*) from turns where not done").fetchone()[0]
        said = any(OVER in text for _, text in self.place.written())
        return True if said and not left and not any(LABEL in card.labels for card in self.cards()) else None

    def cards(self) -> list[Any]:
        """The bot's cards in the conversation."""
        return [one for one, first in self.place.written() if says(first, "card.headline")]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("place", PLACES)
async def test_a_death_in_a_turn_loses_nothing_and_asks_and_runs_nothing_twice(
    install: Callable[..., Installation], place: str, step: str
) -> None:
    """Two calls, two cards, each run once; the model hears how both ended, and people hear the model."""
    await asyncio.gather(*(drilled(install, place, point) for point in STEPS[step]))


async def drilled(install: Callable[..., Installation], platform: str, point: str) -> None:
    """One drill at a point, with everybody and everything of its own."""
    async with PLACES[platform]() as place, ModelServer(plan) as model:
        settings = SETTINGS.format(ann=place.person, platform=platform, api=place.api, model=model.base_url("openai"))
        service = install(settings=settings, environment=place.environment)
        drill = Drill(place, service)
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
