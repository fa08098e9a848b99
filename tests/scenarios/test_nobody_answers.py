"""Silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from hitl.outcomes import Refusal
from tests.scenarios.harness import saying, told
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


async def test_silence_means_no(stage: Stage) -> None:
    """At the deadline it is over, people see that nobody answered, and nothing runs."""
    call = await stage.ask()
    await stage.wait(299)
    before = await stage.status(call)
    await stage.wait(1)

    assert [Status.PENDING, Status.EXPIRED] == [before, await stage.status(call)]
    assert says(told(stage, "ann", call), "ending.expired")
    assert [] == stage.ran()


async def test_a_yes_at_the_last_moment_counts(stage: Stage) -> None:
    """A microsecond before the deadline."""
    call = await stage.ask()
    stage.clock.advance(300 - 1e-6)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_yes_too_late_is_told_so(stage: Stage) -> None:
    """At the deadline, with every timer asleep: refused, and nothing runs."""
    call = await stage.ask()
    stage.clock.advance(300)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.EXPIRED == await stage.status(call)
    assert saying(stage.surface.heard("ann"), Refusal.EXPIRED, short=call.short, time="12:05:00")
    assert [] == stage.ran()
