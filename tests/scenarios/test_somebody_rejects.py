"""A card appears, somebody says no, with a reason or without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.cards.card import outcome_for_agent
from hitl.cards.wording import say
from hitl.outcomes import Told
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


async def test_a_press_is_enough(stage: Stage) -> None:
    """Nothing runs, and who pressed hears that it counts."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)

    assert Status.REJECTED == await stage.status(call)
    assert say(Told.REJECTED, short=call.short) in stage.surface.heard("ann")
    assert [] == stage.ran()


async def test_a_reason_reaches_the_agent(stage: Stage) -> None:
    """What the person said is what the agent is told."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, "no because it is the only copy")
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert "it is the only copy" in str(stored.reason)
    assert says(outcome_for_agent(stored), "agent.rejected.reason", short=call.short, reason="it is the only copy")


@pytest.mark.parametrize("emoji", ["👎", "❌"])
async def test_an_emoji_is_enough(stage: Stage, emoji: str) -> None:
    """On the card."""
    call = await stage.ask()
    await stage.surface.react("ann", call, emoji)

    assert Status.REJECTED == await stage.status(call)


async def test_a_yes_after_it_is_too_late(stage: Stage) -> None:
    """The no stands."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)
    await stage.surface.press("bob", call, Verb.APPROVE)

    assert Status.REJECTED == await stage.status(call)
    assert [] == stage.ran()
