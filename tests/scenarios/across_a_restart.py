"""The service was down for a while, on any surface that reaches it over a wire.

Imported by each: `stage` must have `halt` and `start`, and its surface `send_again`, `command` and `message`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from tests.scenarios.from_a_script import seen
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call


async def restart(stage: Any, *, down_s: float = 0.0) -> None:
    """Down, and up again, until everything was sent once more that nobody took meanwhile."""
    await stage.surface.settle()
    await stage.halt()
    stage.clock.advance(down_s)
    await stage.start()
    await stage.surface.send_again()
    await stage.surface.settle()


async def named(stage: Any, call: Call) -> None:
    """Ann names the call."""
    await stage.surface.say("ann", f"yes {call.short}")


async def pressed(stage: Any, call: Call) -> None:
    """Ann presses."""
    await stage.surface.press("ann", call, Verb.APPROVE)


async def reacted(stage: Any, call: Call) -> None:
    """Ann reacts."""
    await stage.surface.react("ann", call, "👍")


async def commanded(stage: Any, call: Call) -> None:
    """Ann types a command."""
    await stage.surface.command("ann", f"approve {call.short}")


@pytest.mark.parametrize("way", [named, pressed, reacted, commanded])
async def test_the_first_answer_after_it_counts(stage: Any, way: Any) -> None:
    """In whatever way, to a card from before, once."""
    call = await stage.ask()
    await restart(stage)
    await way(stage, call)

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.ran())
    assert say("button.approve") not in stage.surface.message(call).labels


async def test_time_goes_on_from_where_it_was(stage: Any) -> None:
    """What became overdue while it was down is over; what has time left keeps it, no less and no more."""
    early = await stage.ask(args={"path": "early"})
    await stage.wait(100)
    late = await stage.ask(args={"path": "late"})
    await restart(stage, down_s=250)

    assert [Status.EXPIRED, Status.PENDING] == [await stage.status(call) for call in (early, late)]
    assert says(seen(stage, early), "ending.expired")
    assert [False, True] == [say("button.reject") in stage.surface.message(call).labels for call in (early, late)]
    await stage.wait(49.9)
    assert Status.PENDING == await stage.status(late)
    await stage.wait(0.1)
    assert Status.EXPIRED == await stage.status(late)


async def test_a_press_on_what_is_over_holds_up_nobody(stage: Any) -> None:
    """It is answered; the next card is decided at once, before and after a restart."""
    over = await stage.ask(args={"path": "over"})
    await stage.wait(301)
    cards = []
    for path in ("before", "after"):
        cards.append(await stage.ask(args={"path": path}))
        await stage.surface.press("ann", over, Verb.APPROVE)
        await stage.surface.press("ann", cards[-1], Verb.APPROVE)
        await restart(stage)

    assert [Status.SUCCEEDED] * 2 == [await stage.status(call) for call in cards]
    assert 2 == len(saying(stage.surface.heard("ann"), Refusal.EXPIRED, short=over.short))
