"""Somebody who isn't listed tries to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.outcomes import Refusal
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
@pytest.mark.parametrize("who", ["sam", "uma"])
async def test_a_press_decides_nothing(stage: Stage, who: str, verb: Verb) -> None:
    """Neither a stranger's nor the asker's own; it is on record, and the card stays open for those who may."""
    call = await stage.ask()
    await stage.surface.press(who, call, verb)
    events = [line.event for line in await stage.store.history(call.ref)]

    assert "refused" == events[-1]
    assert says(stage.last(who), Refusal.STRANGER, who=stage.name(who), short=call.short)
    assert Status.PENDING == await stage.status(call)


async def test_a_strangers_yes_runs_nothing(stage: Stage) -> None:
    """Said out loud, naming nothing."""
    call = await stage.ask()
    await stage.surface.say("sam", "yes")

    assert Status.PENDING == await stage.status(call)
    assert [] == stage.ran()


async def test_a_strangers_words_start_nothing(stage: Stage) -> None:
    """Only listed people start a turn of the agent, even for what the policy allows."""
    await stage.surface.say("sam", "read notes.txt")

    assert [] == stage.ran()
    assert saying(stage.surface.heard("sam"), Refusal.REQUESTER, who=stage.surface.identities["sam"])
