"""An agent's turn: it goes on while people answer what it asked for, and hears how each call ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from adapters.terminal.chat import TerminalChat
from bot.conversation import Router
from bot.service import Service
from hitl.call import Call, Decision, ReplyKind, Status, Verb
from hitl.cards.wording import Wording
from hitl.errors import Unavailable
from hitl.events import Text
from hitl.ports import Line, Turn
from hitl.surfaces import Surface
from tests.hitl.world import ANN, GROUP, ROOM, UMA, WRITE, World, reply
from tests.sentences import says


@dataclass
class Script:
    """An agent that does what a test wrote down, and remembers what it heard."""

    name: str = "script"
    heard: list[Call] = field(default_factory=list)
    history: Sequence[Line] = ()
    cancelled: bool = False
    trouble: Exception | None = None

    def help(self, wording: Wording) -> str:
        """What it takes."""
        return f"Tell me something in {wording.language}."

    def understands(self, text: str) -> bool:
        """Whatever says that something is to be done."""
        return text.startswith("do ")

    async def take(self, turn: Turn) -> str:
        """Two calls, one after the other, then a word on them."""
        self.history = turn.history
        if self.trouble:
            raise self.trouble
        try:
            for path in turn.text.split()[1:]:
                self.heard.append(await turn.call(GROUP, WRITE, {"path": path}))
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "That was all."


@dataclass
class Room:
    """The room, with an agent in it."""

    world: World
    agent: Script
    service: Service
    router: Router
    shown: list[str]
    said: int = 0

    async def say(self, who: str, text: str) -> None:
        """Somebody says something to us there."""
        self.said += 1
        await self.router.handle(
            Text(identity=who, conversation=ROOM, message=f"m{self.said}", text=text, addressed=True)
        )

    async def press(self, call: Call) -> None:
        """Ann approves, and what follows from it happens."""
        await self.service.decide(reply(ANN, kind=ReplyKind.BUTTON, verb=Verb.APPROVE, target=call.ref))
        for _ in range(20):
            await asyncio.sleep(0)

    async def waiting(self) -> list[Call]:
        """What waits for people."""
        return list(await self.world.store.pending())


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    """Uma asks there and Ann decides."""
    world, agent, shown = World(), Script(), list[str]()
    service = Service(world.gate)
    chat = TerminalChat(shown.append, width=None, colour=False)
    made = Room(world, agent, service, Router(service, chat, Surface(name="telegram", help="chat.help"), agent), shown)
    yield made
    await service.stop()


async def test_it_goes_on_after_each_answer_and_ends_with_its_last_words(room: Room) -> None:
    """The event is over once the first call is on record; each result comes back to the agent."""
    await room.say(UMA, "do a b")
    (first,) = await room.waiting()
    await room.press(first)
    (second,) = await room.waiting()
    assert [Status.SUCCEEDED] == [call.status for call in room.agent.heard]

    await room.press(second)
    assert [first.ref, second.ref] == [call.ref for call in room.agent.heard]
    assert "That was all." == room.shown[-1]
    assert [(UMA, "script")] * 2 == [(call.requester, call.agent) for call in room.agent.heard]


async def test_a_rejection_comes_back_like_any_end(room: Room) -> None:
    """What the agent makes of it is its own affair."""
    await room.say(UMA, "do a")
    (call,) = await room.waiting()
    await room.world.gate.withdraw(call.ref, UMA)
    for _ in range(20):
        await asyncio.sleep(0)

    assert [Decision.WITHDRAWN] == [call.decision for call in room.agent.heard]


async def test_a_later_turn_hears_what_was_said_and_done(room: Room) -> None:
    """By whom, in order; other conversations hear nothing of it."""
    await room.say(UMA, "do a")
    (call,) = await room.waiting()
    await room.press(call)
    await room.say(UMA, "do")
    await room.say(UMA, "do b")

    first, outcome, words, *_ = room.agent.history
    assert (Line(UMA, "do a"), Line(None, "That was all.")) == (first, words)
    assert (None, True) == (outcome.by, says(outcome.text, "agent.succeeded", short=call.short))


async def test_who_may_not_ask_starts_nothing(room: Room) -> None:
    """They hear it, with their own id."""
    await room.say(ANN, "do a")

    assert ([], []) == (await room.waiting(), room.agent.heard)
    assert ANN in room.shown[-1]


async def test_a_stop_cancels_it(room: Room) -> None:
    """The call that it waits for goes on waiting."""
    await room.say(UMA, "do a")
    await room.service.stop()

    assert room.agent.cancelled
    assert 1 == len(await room.waiting())


async def test_an_event_that_comes_twice_asks_once(room: Room) -> None:
    """The second turn finds the call of the first by its key."""
    await room.say(UMA, "do a")
    room.said = 0
    await room.say(UMA, "do a")

    assert 1 == len(await room.waiting())


@pytest.mark.parametrize("trouble", [RuntimeError("no model"), Unavailable()])
async def test_what_breaks_before_a_call_is_on_record_is_raised(room: Room, trouble: Exception) -> None:
    """The inbox tries the event again."""
    room.agent.trouble = trouble
    with pytest.raises(type(trouble)):
        await room.say(UMA, "do a")

    assert [] == room.shown
