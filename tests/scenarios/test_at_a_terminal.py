"""What only a terminal has: lines that were begun before a card appeared, an offline agent, people who leave."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from hitl.call import Decision, Result, Status
from hitl.cards.wording import say
from tests.scenarios.harness import Stage
from tests.scenarios.terminal import Terminal
from tests.sentences import says


@pytest.fixture
def terminal() -> Terminal:
    """Everybody's screen."""
    return Terminal()


@pytest.fixture
async def stage(terminal: Terminal) -> AsyncIterator[Stage]:
    """The stage, on terminals only."""
    stage = Stage(terminal)
    yield stage
    await stage.close()


@pytest.mark.parametrize("line", ["yes", "a", "A", "no", "d", "v", "👍"])
async def test_a_line_begun_before_the_card_never_answers_it(stage: Stage, terminal: Terminal, line: str) -> None:
    """Half typed when the card came up: whatever it says, it was meant for something else."""
    begun_at = stage.clock.now()
    stage.clock.advance(0.5)
    call = await stage.ask()
    stage.clock.advance(0.5)
    await terminal.say_begun("ann", line, begun_at)

    assert Status.PENDING == await stage.status(call)
    assert call.short in stage.last("ann")
    assert [] == stage.ran()


@pytest.mark.parametrize("line", ["yes", "a", " A "])
async def test_a_line_begun_after_it_does(stage: Stage, terminal: Terminal, line: str) -> None:
    """Begun at the very moment of the card is after it."""
    call = await stage.ask()
    await terminal.say_begun("ann", line, stage.clock.now())

    assert Status.SUCCEEDED == await stage.status(call)


@pytest.mark.parametrize("line", ["absolutely not", "abort", "add a file", "dunno", "doubt it", "very well, why"])
async def test_a_key_is_a_whole_line(stage: Stage, line: str) -> None:
    """Words that begin with the letter of a key are no press on it."""
    call = await stage.ask()
    await stage.surface.say("ann", line)

    assert await stage.status(call) in {Status.PENDING, Status.REJECTED}


async def test_a_key_with_no_card_open_is_talk(stage: Stage) -> None:
    """There is nothing that it could be for."""
    await stage.surface.say("uma", "a")

    assert say("offline.help") == stage.last("uma")


async def test_the_offline_agent_asks_and_runs(stage: Stage) -> None:
    """Uma tells her agent what to do; Ann says yes; Uma's file is gone."""
    await stage.surface.say("uma", "delete notes.txt")
    (call,) = await stage.store.pending()
    await stage.surface.say("ann", "yes")

    assert Status.SUCCEEDED == await stage.status(call)
    assert [{"path": "notes.txt"}] == stage.ran()


async def test_what_is_allowed_is_answered_with_its_output(stage: Stage) -> None:
    """No card, no ceremony."""
    stage.executor.outcome = type(stage.executor.outcome)(Result.SUCCEEDED, "Buy milk.\n")
    await stage.surface.say("uma", "read notes.txt")

    assert "Buy milk." == stage.last("uma")


async def test_a_failure_is_told_as_one(stage: Stage) -> None:
    """With what the tool said."""
    stage.executor.outcome = type(stage.executor.outcome)(Result.FAILED, error="no such file")
    call = await stage.ask()
    await stage.surface.say("ann", "yes")

    assert say("agent.failed", short=call.short, how=Decision.APPROVED, error="no such file") == stage.last("ann")


async def test_an_empty_line_is_nothing(stage: Stage) -> None:
    """Enter alone is neither yes nor no."""
    call = await stage.ask()
    before = list(stage.surface.heard("ann"))
    for line in ("", "   ", "\n"):
        await stage.surface.say("ann", line)

    assert Status.PENDING == await stage.status(call)
    assert before == stage.surface.heard("ann")


async def test_who_leaves_sees_no_more_and_decides_nothing(stage: Stage, terminal: Terminal) -> None:
    """The card waits for the others."""
    terminal.leave("ann")
    call = await stage.ask()

    assert [] == stage.surface.heard("ann")
    assert call.short in stage.last("bob")
    assert Status.PENDING == await stage.status(call)


async def test_the_end_of_the_conversation_withdraws_what_waits(stage: Stage, terminal: Terminal) -> None:
    """The asker's own calls, and says so; an approver who leaves withdraws nothing."""
    call = await stage.ask()
    await terminal.end("ann")
    between = await stage.status(call)
    await terminal.end("uma")

    assert [Status.PENDING, Status.WITHDRAWN] == [between, await stage.status(call)]
    assert says(stage.last("uma"), "by.withdrawn")


async def test_time_is_the_stages_own(stage: Stage) -> None:
    """The deadline on the card is five minutes after it was asked."""
    call = await stage.ask()

    assert timedelta(minutes=5) == call.deadline - stage.clock.now()
