"""Somebody presses Reject and is asked why: whoever waits hears the no, with its reason if one came.

A screen tells the no at once. In a chat the card does, and one message tells the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal, fact
from tests.scenarios.harness import saying

if TYPE_CHECKING:
    from hitl.call import Call
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


def at_once(stage: Stage) -> list[Fact]:
    """What whoever asked is told of a no before its reason."""
    return [] if hasattr(stage.surface, "message") else [ASKED]


def in_the_end(stage: Stage) -> list[Fact]:
    """What whoever asked is told once no reason can come any more."""
    return [] if hasattr(stage.surface, "message") else [ASKED, NONE]


def ends(stage: Stage, call: Call) -> list[Fact]:
    """What whoever asked was told of the call's end, in order."""
    sentences = {say(end.what, short=call.short, **end.particulars): end for end in (ASKED, GIVEN, NONE)}
    return [end for text in stage.surface.heard("uma") for said, end in sentences.items() if text.endswith(said)]


async def test_it_reaches_whoever_asked(stage: Stage) -> None:
    """The no said once more, with its reason, is the reason; after that nothing more is due."""
    call = await rejected(stage)
    before = ends(stage, call)
    await stage.surface.answer("ann", call, WHY)
    given = ends(stage, call)
    await stage.wait(61)

    assert at_once(stage) == before
    assert [*at_once(stage), GIVEN] == given == ends(stage, call)


async def test_when_none_comes_whoever_asked_is_told_so(stage: Stage) -> None:
    """Once, after a minute, and not before."""
    call = await rejected(stage)
    await stage.wait(59)
    before = ends(stage, call)
    await stage.wait(1)
    after = ends(stage, call)
    await stage.wait(60)

    assert at_once(stage) == before
    assert in_the_end(stage) == after == ends(stage, call)


async def test_after_it_was_said_that_none_came_none_does(stage: Stage) -> None:
    """Who still says it is told so; what was told stays true."""
    call = await rejected(stage)
    await stage.wait(60)
    await stage.surface.answer("ann", call, f"no {call.short} because it is the only copy")

    assert in_the_end(stage) == ends(stage, call)
    assert saying(stage.surface.heard("ann"), Refusal.REASON_LATE, short=call.short)


async def test_nobody_elses_no_explains_it(stage: Stage) -> None:
    """Bob comes too late to reject, and Ann's reason is hers to give."""
    call = await rejected(stage)
    await stage.surface.answer("bob", call, WHY)
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert (Status.REJECTED, None) == (stored.status, stored.reason)
    assert at_once(stage) == ends(stage, call)


async def test_who_says_no_in_words_is_not_asked_why(stage: Stage) -> None:
    """They said what they wanted to say: nothing is waited for."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, "no")
    await stage.wait(61)
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert (Status.REJECTED, None, None) == (stored.status, stored.reason, stored.due_at)
    assert [] == ends(stage, call)
