"""A call that nobody may wave through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.outcomes import Told
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


@pytest.mark.parametrize("text", ["yes", "ok", "👍"])
async def test_a_word_is_not_enough(stage: Stage, text: str) -> None:
    """It must be named; the person is told how."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.say("ann", text)

    assert Status.PENDING == await stage.status(call)
    assert f"yes {call.short}" in stage.last("ann")


async def test_its_name_is(stage: Stage) -> None:
    """Typed in full."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.say("ann", f"yes {call.short}")

    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_press_is_asked_again(stage: Stage) -> None:
    """The first press asks for a second thought, which the same person gives."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.press("ann", call, Verb.APPROVE)
    between, told = await stage.status(call), stage.last("ann")
    await stage.wait(3)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert says(told, Told.CONFIRM, short=call.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]


async def test_two_people_do_not_make_one_second_thought(stage: Stage) -> None:
    """Ann presses, then Bob: both are asked again."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.press("ann", call, Verb.APPROVE)
    await stage.wait(3)
    await stage.surface.press("bob", call, Verb.APPROVE)

    assert Status.PENDING == await stage.status(call)
