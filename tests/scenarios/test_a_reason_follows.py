"""Somebody presses Reject and is asked why: whoever waits hears the no at once, then the reason or that none came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.model import Status, Verb
from hitl.outcomes import Refusal, Told, fact
from hitl.wording import say
from tests.scenarios.harness import saying

if TYPE_CHECKING:
    from hitl.model import Call
    from hitl.outcomes import Fact
    from tests.scenarios.harness import Stage

WHY = "no because it is the only copy"
ASKED = fact("agent.rejected.asked")
GIVEN = fact("agent.rejected.reason", reason="it is the only copy")
NONE = fact("agent.rejected.no_reason")


async def rejected(stage: Stage) -> Call:
    """A call that Ann rejected by a press."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)
    return call


def told(stage: Stage, call: Call) -> list[Fact]:
    """What whoever asked was told of the call's end, in order."""
    sentences = {say(end.what, short=call.short, **end.particulars): end for end in (ASKED, GIVEN, NONE)}
    return [end for text in stage.surface.heard("uma") for said, end in sentences.items() if text.endswith(said)]


async def test_it_reaches_whoever_asked(stage: Stage) -> None:
    """The no said once more, with its reason, is the reason; after that nothing more is due."""
    call = await rejected(stage)
    at_once = told(stage, call)
    await stage.surface.answer("ann", call, WHY)
    given = told(stage, call)
    await stage.wait(61)

    assert [ASKED] == at_once
    assert [ASKED, GIVEN] == given == told(stage, call)
    assert say(Told.REASON_ADDED, short=call.short) in stage.surface.heard("ann")


async def test_when_none_comes_whoever_asked_is_told_so(stage: Stage) -> None:
    """Once, after a minute, and not before."""
    call = await rejected(stage)
    await stage.wait(59)
    before = told(stage, call)
    await stage.wait(1)
    after = told(stage, call)
    await stage.wait(60)

    assert [ASKED] == before
    assert [ASKED, NONE] == after == told(stage, call)


async def test_after_it_was_said_that_none_came_none_does(stage: Stage) -> None:
    """Who still says it is told so; what was told stays true."""
    call = await rejected(stage)
    await stage.wait(60)
    await stage.surface.answer("ann", call, f"no {call.short} because it is the only copy")

    assert [ASKED, NONE] == told(stage, call)
    assert saying(stage.surface.heard("ann"), Refusal.REASON_LATE, short=call.short)


async def test_nobody_elses_no_explains_it(stage: Stage) -> None:
    """Bob comes too late to reject, and Ann's reason is hers to give."""
    call = await rejected(stage)
    await stage.surface.answer("bob", call, WHY)
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert (Status.REJECTED, None) == (stored.status, stored.reason)
    assert [ASKED] == told(stage, call)


async def test_who_says_no_in_words_is_not_asked_why(stage: Stage) -> None:
    """They said what they wanted to say: nothing is waited for."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, "no")
    await stage.wait(61)
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert (Status.REJECTED, None, None) == (stored.status, stored.reason, stored.due_at)
    assert [] == told(stage, call)
