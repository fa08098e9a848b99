"""Words that are neither yes nor no, and then a clear answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.outcomes import Told
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


@pytest.mark.parametrize("text", ["hm, not sure about that", "yes?", "yes but only the old ones"])
async def test_it_is_asked_back_and_then_answered(stage: Stage, text: str) -> None:
    """The person is told that nothing was decided and how to answer; the yes that follows counts."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, text)
    told = stage.last("ann")
    between = await stage.status(call)
    await stage.surface.answer("ann", call, "yes")

    assert says(told, Told.UNCLEAR, short=call.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]


async def test_details_first(stage: Stage) -> None:
    """Who asks what it is all about is shown, and then decides."""
    call = await stage.ask("bash", {"command": "make clean " + "x" * 5000 + " && make"})
    await stage.surface.answer("ann", call, "yes")
    told = stage.last("ann")
    await stage.surface.press("ann", call, Verb.DETAILS)
    shown = stage.last("ann")
    await stage.surface.answer("ann", call, "yes")

    assert says(told, Told.DETAILS_NEEDED, short=call.short)
    assert "x" * 5000 in shown
    assert Status.SUCCEEDED == await stage.status(call)
