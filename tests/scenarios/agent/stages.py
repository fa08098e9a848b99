"""A stage with a model behind the agent: on a terminal, on Telegram and on Slack."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from adapters.agents.model import Bounds, ModelAgent
from adapters.agents.offline import TOOLS
from adapters.agents.providers import make_model
from bot.conversation import StoredTurns
from bot.service import Service
from hitl import question
from hitl.call import Call as ToolCall
from hitl.call import Status, Verb
from hitl.ports import Offer
from simulators.model import Asked, Call, ModelServer, Reply
from tests.canaries import CANARIES
from tests.patience import PATIENCE_S
from tests.scenarios.chats import MakeTurns
from tests.scenarios.harness import Stage
from tests.scenarios.slack.surface import staged as on_slack
from tests.scenarios.telegram.surface import staged as on_telegram
from tests.scenarios.terminal import Terminal

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
OFFERS = (
    *(Offer(TOOLS, tool, f"Does {tool}.", PATH) for tool in ("read_file", "delete_file")),
    Offer(question.GROUP, question.TOOL, "Asks.", question.SCHEMA),
)
T = TypeVar("T")
FINE = Reply("All done.")
PLACES = ("terminal", "telegram", "slack")


async def offers() -> tuple[Offer, ...]:
    """A tool that the policy allows, and one that it asks people about."""
    return OFFERS


def reading(*paths: str) -> tuple[Call, ...]:
    """Calls that the policy allows."""
    return tuple(Call(f"{TOOLS}__read_file", {"path": path}) for path in paths)


def deleting(*paths: str) -> tuple[Call, ...]:
    """Calls that people are asked about."""
    return tuple(Call(f"{TOOLS}__delete_file", {"path": path}) for path in paths)


@dataclass
class Planned:
    """A stage, the model behind its agent, and every service that was started on it."""

    server: ModelServer
    stage: Stage
    turns: list[StoredTurns] = field(default_factory=list)

    def says(self, *replies: Reply) -> None:
        """Have the model say these things, one after the other, and then always the last."""
        left = list(replies)
        self.server.script = lambda _: left.pop(0) if len(left) > 1 else left[0]

    async def say(self, who: str, text: str) -> None:
        """Somebody says something to the agent."""
        await self.stage.surface.say(who, text)

    async def cards(self, count: int) -> list[ToolCall]:
        """So many calls that wait for people, the oldest first, with cards that everybody sees."""

        async def shown() -> list[ToolCall]:
            found = [*await self.stage.store.pending()]
            return found if len(found) == count and all(map(self.stage.surface.card, found)) else []

        return await until(shown)

    async def decide(self, who: str, call: ToolCall, verb: Verb) -> None:
        """Somebody presses a button of a card."""
        await self.stage.surface.press(who, call, verb)

    async def heard(self, count: int) -> Asked:
        """The request of that number to the model."""

        async def asked() -> list[Asked]:
            return self.server.asked[count - 1 :][:1]

        return (await until(asked))[0]

    async def idle(self) -> None:
        """Until no turn is being taken, and everybody heard what came of it."""

        async def quiet() -> bool:
            return self.turns[-1].idle

        await until(quiet)
        await self.settle()

    async def settle(self) -> None:
        """Until everybody has heard everything; a terminal shows all at once."""
        if settle := getattr(self.stage.surface, "settle", None):
            await settle()

    def screen(self, who: str) -> str:
        """All that a person was shown."""
        return "\n".join(self.stage.surface.heard(who))

    def ran(self) -> list[str]:
        """The paths of the calls that ran."""
        return [str(args["path"]) for args in self.stage.ran()]

    async def statuses(self) -> dict[str, Status]:
        """What became of each call, by its path."""
        calls = self.stage.store._calls.values()  # noqa: SLF001 - MemoryStore's
        return {str(call.arguments["path"]): call.status for call in calls}


async def until(found: Callable[[], Awaitable[T]]) -> T:
    """What is found, once it is there."""
    async with asyncio.timeout(PATIENCE_S):
        while not (there := await found()):  # noqa: ASYNC110 - many things are looked for, and few tell
            await asyncio.sleep(0.01)
        return there


@contextlib.asynccontextmanager
async def planned(place: str, offers: Callable[[], Awaitable[Sequence[Offer]]] = offers) -> AsyncIterator[Planned]:
    """A stage in that place, with a model that has nothing to say yet."""
    async with ModelServer(lambda _: FINE) as server:
        made: list[StoredTurns] = []

        def make(service: Service) -> StoredTurns:
            model = make_model(
                "openai:simulated",
                key=CANARIES.plant("the key of the model", "canary-of-the-model"),
                base_url=server.base_url("openai"),
            )
            made.append(StoredTurns(service, ModelAgent(model, "", offers, Bounds(), pauses_s=())))
            return made[-1]

        async with _stage(place, make) as stage:
            yield Planned(server, stage, made)
        for turns in made:
            await turns.agent.close()


@contextlib.asynccontextmanager
async def _stage(place: str, make: MakeTurns) -> AsyncIterator[Stage]:
    if place == "terminal":
        stage = Stage(Terminal(turns=make))
        yield stage
        await stage.close()
    else:
        on = {"telegram": on_telegram("polling", turns=make), "slack": on_slack("socket", turns=make)}
        async with on[place] as chat:
            yield chat
