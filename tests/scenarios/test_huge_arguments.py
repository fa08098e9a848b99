"""An agent asks for something that no screen can show whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from tests.scenarios.harness import unboxed
from tests.sentences import says

if TYPE_CHECKING:
    from typing import Any

    from tests.scenarios.harness import Stage

HUGE: dict[str, dict[str, Any]] = {
    "one text": {"path": "x" * 200_000},
    "many": {f"n{n}": "x" * 100 for n in range(2000)},
    "deep": {"a": [[[["x" * 1000] * 50] * 4]]},
}


@pytest.mark.parametrize("args", HUGE.values(), ids=HUGE)
async def test_the_card_stays_readable_and_the_details_are_needed(stage: Stage, args: dict[str, Any]) -> None:
    """Cut and counted on the card; a yes counts only after the details; what runs is every byte of it."""
    call = await stage.ask("bash", args)
    card = stage.surface.card(call)
    await stage.surface.press("ann", call, Verb.APPROVE)
    early = await stage.status(call)
    await stage.surface.press("ann", call, Verb.DETAILS)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert len(card) < 8000
    assert says(unboxed(card), "card.cut")
    assert [Status.PENDING, Status.SUCCEEDED] == [early, await stage.status(call)]
    assert [args] == stage.ran()
