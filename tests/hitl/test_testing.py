"""The fakes that we ship do what they promise, so that others can build on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Lease, Preparation, Ran, Result, ToolInfo
from hitl.ports import PlatformError
from hitl.testing import RecordedChat, ScriptedExecutor, SetClock, ShownCard, a_call
from tests.hitl.world import GROUP, NOON, WRITE, ask

if TYPE_CHECKING:
    from hitl.ports import Chat, Clock, Executor

DOWN = PlatformError("Bad Gateway", passing=True)


def test_they_are_what_the_ports_ask_for() -> None:
    """Checked by the type checker, too."""
    ports: tuple[Chat, Executor, Clock] = (RecordedChat(), ScriptedExecutor({}), SetClock(NOON))
    _, executor, clock = ports

    assert NOON == clock.now()
    assert executor.info(GROUP, WRITE) is None


async def test_a_chat_remembers_what_it_was_told() -> None:
    """Posts, updates and notices in order; what stands is the latest of each message."""
    chat = RecordedChat()
    call = a_call(NOON)
    later = call.evolve(reason="why")
    message = await chat.post("telegram:1", call)
    await chat.update("telegram:1", message, later)
    await chat.notify("telegram:1", later)

    assert [ShownCard("telegram:1", "m1", call)] == chat.posts
    assert [ShownCard("telegram:1", "m1", later)] == chat.updates
    assert [ShownCard("telegram:1", "", later)] == chat.notices
    assert {("telegram:1", "m1"): later} == chat.messages


async def test_a_chat_fails_so_often_and_there_only() -> None:
    """The next two on one route; the others, and the third, are taken."""
    chat = RecordedChat()
    chat.fail(DOWN, times=2, route="telegram:1")
    for _ in range(2):
        with pytest.raises(PlatformError, match="Bad Gateway"):
            await chat.post("telegram:1", a_call(NOON))
    await chat.post("telegram:2", a_call(NOON))
    await chat.post("telegram:1", a_call(NOON))

    assert ["telegram:2", "telegram:1"] == [shown.route for shown in chat.posts]


async def test_a_chat_can_lose_its_answer() -> None:
    """It took the message; whoever sent it doesn't know."""
    chat = RecordedChat()
    chat.fail(DOWN, applied=True)
    with pytest.raises(PlatformError):
        await chat.post("telegram:1", a_call(NOON))

    assert 1 == len(chat.posts)


async def test_an_executor_prepares_on_the_facts_as_they_are() -> None:
    """And says which of them changed since."""
    executor = ScriptedExecutor({(GROUP, WRITE): ToolInfo("local", "d")})
    executor.facts = {"base:b": "1", "base:a": "1"}
    executor.preparation = Preparation("Writes.", preview="+x")
    prepared = await executor.prepare(ask(cwd="/srv"))
    call = a_call(NOON, preconditions=prepared.preconditions)

    assert ("Writes.", "+x", "/srv") == (prepared.sentence, prepared.preview, prepared.cwd)
    assert (("base:a", "1"), ("base:b", "1")) == prepared.preconditions
    assert await executor.still_holds(call) is None
    executor.facts["base:b"] = "2"
    assert "base:b changed" == await executor.still_holds(call)


async def test_an_executor_remembers_its_runs() -> None:
    """And ends them as it was told."""
    executor = ScriptedExecutor({})
    executor.outcome = Ran(Result.FAILED, error="no")
    call = a_call(NOON)

    assert executor.outcome == await executor.run(Lease(call, "me", NOON), limit_s=1)
    assert [call] == executor.ran
