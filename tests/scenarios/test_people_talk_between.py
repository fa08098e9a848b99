"""A card is open and people talk about something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


async def test_talk_with_the_agent_decides_nothing(stage: Stage) -> None:
    """Uma goes on working with her agent while Ann thinks."""
    call = await stage.ask()
    await stage.surface.say("uma", "list")
    await stage.surface.say("uma", "read other.txt")

    assert Status.PENDING == await stage.status(call)
    assert [{"path": "."}, {"path": "other.txt"}] == stage.ran()


async def test_after_it_the_card_can_be_answered(stage: Stage) -> None:
    """The one who talked answers the card in the way that points to it."""
    call = await stage.ask()
    await stage.surface.say("ann", "what a day")
    await stage.surface.answer("ann", call, "yes")

    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_new_card_between_takes_the_place_of_the_old(stage: Stage) -> None:
    """A yes that was meant for one card and comes after another is asked about, not guessed."""
    first = await stage.ask(args={"path": "first"})
    second = await stage.ask(args={"path": "second"})
    await stage.surface.say("ann", "yes")

    assert [Status.PENDING] * 2 == [await stage.status(call) for call in (first, second)]
    assert all(call.short in stage.last("ann") for call in (first, second))
