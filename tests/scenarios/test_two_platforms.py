"""One call with cards on Telegram and on Slack: whichever valid decision comes first wins, and both cards say so."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from adapters.agents.offline import TOOLS
from adapters.slack.platform import build as build_slack
from adapters.telegram.platform import build as build_telegram
from bot.platform_runner import Connector
from bot.service import Service
from bot.surfaces import surfaces
from hitl.call import Action, Ask, Call, Risk, Runs, Status, ToolInfo
from hitl.cards.wording import say
from hitl.gate import Gate
from hitl.outcomes import Refusal
from hitl.people import Directory
from hitl.platforms import Core, Platform
from hitl.proof.keyring import Keyring
from hitl.testing import ScriptedExecutor, SetClock
from simulators.slack import SlackServer
from simulators.telegram import TelegramServer
from tests.canaries import CANARIES, KEY, PASSWORD
from tests.hitl.world import NOON, Rules, Store, verdict
from tests.patience import PATIENCE_S
from tests.scenarios.harness import record_of, saying
from tests.wired import telegram_settings
from tests.wired_slack import slack_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulators.slack import App, Channel
    from simulators.slack import Message as SlackMessage
    from simulators.slack import User as SlackUser
    from simulators.telegram import Bot, Chat, User
    from simulators.telegram import Message as TelegramMessage

EACH = 10
APPROVE, REJECT = say("button.approve"), say("button.reject")


@dataclass
class Town:
    """Two platforms with people on both, and one service between them that can be started again."""

    telegram: TelegramServer
    slack: SlackServer
    bot: Bot
    app: App
    group: Chat
    channel: Channel
    here: list[User]
    there: list[SlackUser]
    clock: SetClock = field(default_factory=lambda: SetClock(NOON))
    executor: ScriptedExecutor = field(
        default_factory=lambda: ScriptedExecutor({(TOOLS, "delete_file"): ToolInfo("workspace", "delete_file")})
    )
    parts: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    platforms: list[Connector] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A record that outlives every service."""
        self.store = Store(self.clock)
        CANARIES.look("the record", lambda: record_of(self.store))

    @property
    def routes(self) -> tuple[str, str]:
        """Where cards go."""
        return f"telegram:{self.group.id}", f"slack:{self.app.team_id}/{self.channel.id}"

    def gate(self) -> Gate:
        """Everybody on either platform may approve."""
        rules = Rules()
        rules.verdicts = {"delete_file": verdict(Action.APPROVE, Risk.HIGH)}
        approvers = (
            *(f"telegram:{one.id}" for one in self.here),
            *(f"slack:{one.team_id}/{one.id}" for one in self.there),
        )
        people = Directory(approvers=approvers, requesters=("local:1",), routes=self.routes, surfaces=surfaces())
        return Gate(
            store=self.store,
            policies=rules,
            people=people,
            executor=self.executor,
            keys=Keyring([("k1", KEY)]),
            owner="service:test",
        )

    async def open(self) -> None:
        """The service comes up, and doesn't wait for the platforms."""
        gate = self.gate()
        ours, theirs = telegram_settings(self.telegram, self.bot), slack_settings(self.slack, self.app)
        core = Core(gate.store, gate.keys, gate.people)
        made: list[Platform] = [await build_telegram(ours, core), await build_slack(theirs, core)]
        for one in made:
            self.parts.push_async_callback(one.close)
        self.service = Service(gate, {one.surface.name: one.chat for one in made})
        self.parts.push_async_callback(self.service.stop)
        await self.service.start()
        self.platforms = [Connector(one, self.service) for one in made]
        for platform in self.platforms:
            self.parts.push_async_callback(platform.stop)
            await platform.start()

    async def ready(self) -> None:
        """Both platforms reach the service."""
        await self.until(lambda: not self.troubles())

    async def close(self) -> None:
        """The service goes down."""
        await self.parts.aclose()

    async def until(self, holds: Any) -> None:
        """Wait for it; the store's time goes by, so that retries come."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self.clock.advance(0.02)
                await asyncio.sleep(0.01)

    def troubles(self) -> list[str]:
        """What `/readyz` and `doctor` say is in the way."""
        return [trouble for platform in self.platforms for trouble in platform.troubles()]

    async def ask(self) -> Call:
        """A call from this machine, whose cards go to both."""
        asked = Ask(
            TOOLS, "delete_file", {"path": "x", "password": PASSWORD}, "local:1", "local", Runs.SERVICE, timeout_s=300
        )
        return (await self.service.submit(asked)).call

    def telegram_card(self, call: Call) -> TelegramMessage | None:
        """The card there, as it is now."""
        return next((one for one in self.group.messages.values() if one.author_bot and call.short in one.text), None)

    def slack_card(self, call: Call) -> SlackMessage | None:
        """The card there, as it is now."""
        posted = (one for one in self.channel.messages.values() if one.bot_id)
        return next((one for one in posted if call.short in one.shown.text), None)

    async def shown(self, call: Call) -> tuple[TelegramMessage, SlackMessage]:
        """Both cards, once they are there."""
        await self.until(lambda: self.telegram_card(call) and self.slack_card(call))
        one, other = self.telegram_card(call), self.slack_card(call)
        assert one is not None
        assert other is not None
        return one, other

    async def told(self, call: Call, what: str, /, **particulars: object) -> bool:
        """Whether both cards come to hold this sentence of the catalogue, with these particulars."""

        def both() -> bool:
            one, other = self.telegram_card(call), self.slack_card(call)
            texts = [one.text, other.shown.text] if one and other else []
            return 2 == len(saying(texts, what, **particulars))

        await self.until(both)
        return True


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    """Both platforms up, the service not yet."""
    async with TelegramServer() as telegram, SlackServer() as slack:
        bot = await telegram.bot(sees_bots=True)
        here = [await telegram.user(f"Tess{number}") for number in range(EACH)]
        group = await telegram.supergroup("Ops", members=here, bots=[bot.user])
        await telegram.promote(group, bot.user)
        app = await slack.app(socket_mode=True)
        there = [await slack.user(f"Sol{number}") for number in range(EACH)]
        channel = await slack.channel("ops", members=[*there, app.bot])
        made = Town(telegram, slack, bot, app, group, channel, here, there)
        yield made
        await made.close()
        await made.store.check_record()


async def test_twenty_decide_at_once(town: Town) -> None:
    """One run, one outcome on both cards, and nineteen are told who was quicker."""
    await town.open()
    await town.ready()
    call = await town.ask()
    here, there = await town.shown(call)
    labels = [APPROVE, REJECT]
    presses = [town.telegram.press(one, here, labels[number % 2]) for number, one in enumerate(town.here)]
    acts = [town.slack.press(one, there, labels[number % 2]) for number, one in enumerate(town.there)]
    queries, _ = await asyncio.gather(asyncio.gather(*presses), asyncio.gather(*acts))
    answers = [(await town.telegram.wait_answer(query)).text for query in queries]
    await town.until(lambda: len(town.slack.world.ephemerals) == EACH)
    told = [*answers, *(one.shown.text for one in town.slack.world.ephemerals)]
    stored = await town.service.ended(call)
    outcome = "by.approved" if stored.status is Status.SUCCEEDED else "by.rejected"

    assert 19 == len(saying(told, Refusal.DECIDED, short=call.short))
    assert len(town.executor.ran) == (stored.status is Status.SUCCEEDED)
    assert 1 == len(await town.store.votes(call.ref))
    assert await town.told(call, outcome)


async def test_both_cards_show_the_same_request(town: Town) -> None:
    """What is approved here is what is seen there."""
    await town.open()
    await town.ready()
    call = await town.ask()
    here, there = await town.shown(call)

    assert [True, True] == [call.short in text and "path: x" in text for text in (here.text, there.shown.text)]


async def test_after_a_restart_both_end_the_same(town: Town) -> None:
    """Whichever is pressed then."""
    await town.open()
    await town.ready()
    call = await town.ask()
    _, there = await town.shown(call)
    await town.close()
    await town.open()
    await town.ready()
    await town.slack.press(town.there[0], there, APPROVE)

    assert Status.SUCCEEDED is (await town.service.ended(call, PATIENCE_S)).status
    assert await town.told(call, "by.approved")


@pytest.mark.parametrize("down", ["telegram", "slack"])
async def test_one_is_down_for_a_while(town: Town, down: str) -> None:
    """The other decides; the one that was down tells the same once it is back."""
    await town.open()
    await town.ready()
    call = await town.ask()
    here, there = await town.shown(call)
    if down == "telegram":
        await town.telegram.down()
        await town.slack.press(town.there[0], there, APPROVE)
    else:
        await town.slack.down()
        await town.telegram.press(town.here[0], here, APPROVE)
    ended = await town.service.ended(call, PATIENCE_S)
    await (town.telegram.up() if down == "telegram" else town.slack.up())

    assert Status.SUCCEEDED is ended.status
    assert await town.told(call, "by.approved")


async def test_both_are_down_at_the_start(town: Town) -> None:
    """The service comes up, says what is in the way, and posts and hears once they are back."""
    await town.telegram.down()
    await town.slack.down()
    await town.open()
    call = await town.ask()
    await town.until(
        lambda: len(town.troubles()) == 2 and not any("not connected yet" in one for one in town.troubles())
    )
    troubles = town.troubles()
    await town.telegram.up()
    await town.slack.up()
    await town.ready()
    here, _ = await town.shown(call)
    await town.telegram.press(town.here[0], here, APPROVE)

    assert ["slack", "telegram"] == sorted(trouble.partition(":")[0] for trouble in troubles)
    assert Status.SUCCEEDED is (await town.service.ended(call, PATIENCE_S)).status
    assert await town.told(call, "by.approved")
