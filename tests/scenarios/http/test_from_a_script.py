"""A script on the machine asks over the socket, and people decide over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Verb
from hitl.outcomes import Refusal
from tests.scenarios.from_a_script import (  # noqa: F401 - the scenarios are what is wanted
    asked,
    seen,
    test_a_no_comes_back_to_the_script,
    test_a_yes_comes_back_to_the_script,
    test_an_approval_that_no_script_takes_lapses,
    test_its_card_names_what_would_run,
)
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.http.surface import HttpStage


async def test_a_script_that_gives_up_takes_its_card_along(stage: HttpStage) -> None:
    """The card says so and offers no decision; a decision that was on its way is told who withdrew the call."""
    call = await asked(stage)
    uma = stage.surface.identities["uma"]
    await stage.service.gate.withdraw(call.ref, uma)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert says(seen(stage, call), "by.withdrawn")
    assert () == stage.surface.message(call).labels
    told = [text for text in stage.surface.heard("ann") if says(text, Refusal.DECIDED, short=call.short)]
    assert any(stage.service.gate.names.of(uma) in text for text in told)
