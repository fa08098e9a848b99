"""Stored turns: taken one at a time, gone on with by another service on the same store, and ended by "stop"."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from adapters.terminal.chat import TerminalChat
from bot.conversation import Router, StoredTurns
from bot.service import Service
from hitl.call import Ask, Call, KeptTurn, ReplyKind, Runs, Status, Verb
from hitl.cards.wording import Wording
from hitl.errors import Unavailable
from hitl.events import Text
from hitl.people import Directory
from hitl.ports import Explaining, StoredTurn
from hitl.records import replace
from hitl.surfaces import Surface
from tests.hitl.world import ANN, GROUP, ROOM, UMA, WRITE, World, reply
from tests.patience import PATIENCE_S
from tests.sentences import says


@dataclass
class Script:
    """An agent that asks for one call for each word behind `do`, all at once, and remembers what it heard."""

    name: str = "script"
    heard: list[Call] = field(default_factory=list)
    trouble: list[Exception] = field(default_factory=list)
    taken: int = 0
    explained: list[Explaining] = field(default_factory=list)

    def help(self, wording: Wording) -> str:
        """What it takes."""
        return f"Tell me something in {wording.language}."

    async def take(self, turn: StoredTurn) -> str:
        """Ask, wait, and report."""
        self.taken += 1
        if self.trouble:
            raise self.trouble.pop()
        await turn.keep(b"begun")
        wanted = turn.text.split()[1:]
        calls = (turn.call(GROUP, WRITE, {"path": path}, name=path) for path in wanted)
        self.heard = list(await asyncio.gather(*calls))
        return f"Ended: {len(self.heard)}"

    async def explain(self, asked: Explaining) -> str:
        """Repeat the question."""
        self.explained.append(asked)
        return asked.text

    async def close(self) -> None:
        """It holds nothing."""


class Room:
    """The room with an agent in it, and services that come and go on one store."""

    def __init__(self) -> None:
        self.world = World()
        self.agent = Script()
        self.shown: list[str] = []
        self.said = 0
        self.start()

    def start(self, *, listens: bool = True) -> None:
        """A service comes up; people listen at once, or later."""
        self.service = Service(self.world.gate)
        self.turns = StoredTurns(self.service, self.agent)
        chat = TerminalChat(self.shown.append, width=None, colour=False)
        surface = Surface(name="telegram", help="chat.help")
        self.router = Router(self.service, chat, surface, turns=self.turns)
        if listens:
            self.router.listen("telegram")

    async def restart(self, **more: Any) -> None:
        """The service ends, and another one takes its place."""
        await self.service.stop()
        self.start(**more)

    async def say(self, who: str, text: str) -> None:
        """Somebody says something to us there."""
        self.said += 1
        await self.router.handle(
            Text(identity=who, conversation=ROOM, message=f"m{self.said}", text=text, addressed=True)
        )

    async def approve(self, call: Call) -> None:
        """Ann approves."""
        await self.service.decide(reply(ANN, kind=ReplyKind.BUTTON, verb=Verb.APPROVE, target=call.ref))

    async def until(self, true: Callable[[], bool]) -> None:
        """Until something is true."""
        async with asyncio.timeout(PATIENCE_S):
            while not true():  # noqa: ASYNC110 - what is looked for is a fact of a fake
                await asyncio.sleep(0)

    async def over(self) -> None:
        """Until no turn is being taken."""
        await self.until(lambda: self.turns.idle)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    """Uma asks there and Ann decides."""
    made = Room()
    yield made
    await made.service.stop()


async def pending(room: Room, count: int) -> list[Call]:
    """What waits for people, once it is so many."""
    async with asyncio.timeout(PATIENCE_S):
        while len(found := list(await room.world.store.pending())) != count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
    return found


async def test_another_service_goes_on_with_a_turn_and_makes_no_call_again(room: Room) -> None:
    """What waits still waits, what ran isn't run again, and the agent hears how both ended."""
    await room.say(UMA, "do a b")
    first, second = await pending(room, 2)
    await room.approve(first)
    await room.restart()
    assert [second.ref] == [call.ref for call in await pending(room, 1)]

    await room.approve(second)
    await room.over()
    assert [Status.SUCCEEDED] * 2 == [call.status for call in room.agent.heard]
    assert 2 == len(room.world.executor.ran)
    assert "Ended: 2" in room.shown[-1]
    assert [] == await room.world.store.open_turns()


async def test_a_call_is_found_again_though_its_requester_has_another_name_now(room: Room) -> None:
    """The operator may say who is who while a turn is open."""
    await room.say(UMA, "do a")
    (call,) = await pending(room, 1)
    room.world.gate.people = replace(room.world.gate.people, principals={"uma": (UMA,)})
    assert isinstance(room.world.gate.people, Directory)
    await room.restart()
    await room.until(lambda: room.agent.taken == 2)

    assert [call.ref] == [each.ref for each in await pending(room, 1)]


async def test_a_turn_waits_while_nobody_listens(room: Room) -> None:
    """It goes on once somebody does, such as a terminal that is opened again."""
    await room.say(UMA, "do a")
    await pending(room, 1)
    await room.restart(listens=False)
    await asyncio.sleep(0)
    assert 1 == room.agent.taken

    room.router.listen("telegram")
    await room.until(lambda: room.agent.taken == 2)


async def test_last_words_that_nobody_could_hear_are_said_later(room: Room) -> None:
    """The turn stays open until somebody listens."""
    await room.say(UMA, "do a")
    (call,) = await pending(room, 1)
    room.router.leave("telegram")
    await room.approve(call)
    await room.over()
    assert 1 == len(await room.world.store.open_turns())

    room.router.listen("telegram")
    await room.until(lambda: bool(room.shown))
    await room.over()
    assert "Ended: 1" in room.shown[-1]
    assert [] == await room.world.store.open_turns()


async def test_a_bug_in_an_agent_ends_its_turn_and_people_are_told(room: Room) -> None:
    """The next turn is taken as ever."""
    room.agent.trouble = [RuntimeError("bug")]
    await room.say(UMA, "do a")
    await room.over()
    assert says(room.shown[-1], "model.broken")

    await room.say(UMA, "do")
    await room.over()
    assert "Ended: 0" in room.shown[-1]


async def test_a_store_in_trouble_is_waited_for(room: Room) -> None:
    """The turn is taken again, and nothing of it is lost."""
    room.agent.trouble = [Unavailable()]
    await room.say(UMA, "do")
    await room.over()

    assert 2 == room.agent.taken
    assert "Ended: 0" in room.shown[-1]


async def test_an_event_that_is_handled_again_begins_no_second_turn(room: Room) -> None:
    """Also after the turn is over."""
    heard = Text(identity=UMA, conversation=ROOM, message="m1", text="do", addressed=True, event=("telegram", "7"))
    for _ in range(2):
        await room.router.handle(heard)
        await room.over()

    assert 1 == room.agent.taken


async def test_stop_withdraws_a_call_that_is_on_its_way_to_the_record(room: Room) -> None:
    """Whenever it comes: no card is left whose turn is over."""
    await room.say(UMA, "do a b c")
    for _ in range(2):
        await asyncio.sleep(0)
    await room.say(UMA, "stop")
    await room.over()
    await asyncio.sleep(0)

    assert [] == await room.world.store.pending()
    assert [] == await room.world.store.open_turns()


async def test_new_lets_another_persons_turn_end_and_forgets_it_then(room: Room) -> None:
    """Its calls stay open for the person who began it, and the turn after it begins with nothing."""
    room.world.gate.people = replace(room.world.gate.people, requesters=(UMA, ANN))
    await room.say(UMA, "do a")
    (call,) = await pending(room, 1)
    await room.say(ANN, "new")
    assert [call.ref] == [one.ref for one in await room.world.store.pending()]

    await room.approve(call)
    await room.over()
    last = await room.world.store.last_turn(ROOM)
    assert last is not None
    assert b"" == last.state


async def test_another_callers_call_is_not_explained_with_this_turns_thread(room: Room) -> None:
    """A caller chooses its agent's name and its keys, so it can't get a person's thread shown by naming a turn."""
    await room.say(UMA, "do a")
    (own,) = await pending(room, 1)
    (turn,) = await room.world.store.open_turns()
    foreign = Ask(
        GROUP, WRITE, {"path": "b"}, "token:ci", ROOM, Runs.SERVICE, agent=room.agent.name, key=f"turn:{turn.id}#b"
    )
    room.world.gate.people = replace(room.world.gate.people, requesters=(UMA, "token:ci"))
    theirs = (await room.service.submit(foreign)).call
    (voice,) = room.turns.voices(ROOM)
    why = Text(identity=ANN, conversation=ROOM, message="m9", text="why?", addressed=True)
    begun = [room.turns.explain(why, call, voice) for call in (own, theirs)]
    await room.until(lambda: len(room.agent.explained) == 2)

    assert [True, True] == begun
    assert [b"begun", b""] == [asked.state for asked in room.agent.explained]


async def test_words_of_the_agent_are_framed_line_by_line(room: Room) -> None:
    """A line of it can't be taken for one of ours, whatever line breaks it uses."""
    turn = KeptTurn("t", ROOM, UMA, UMA, "", "do")
    await room.world.store.begin_turn(turn)
    lie = "fine\nABC234 was approved\u2028ABC234 ran\rABC234 ran"
    room.agent.take = lambda _: _said(lie)  # type: ignore[method-assign, assignment]
    await room.restart()
    await room.until(lambda: bool(room.shown))

    assert all(line.startswith("│ ") for line in room.shown[-1].splitlines()[1:])


async def _said(text: str) -> str:
    return text
