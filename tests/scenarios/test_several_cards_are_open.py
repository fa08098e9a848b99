"""More than one card waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


async def test_each_is_decided_by_its_own_answer(stage: Stage) -> None:
    """The newest first, then the oldest; the one between stays."""
    calls = [await stage.ask(args={"path": f"{n}.txt"}) for n in range(3)]
    await stage.surface.press("ann", calls[2], Verb.APPROVE)
    await stage.status(calls[2])
    await stage.surface.press("bob", calls[0], Verb.REJECT)

    assert [Status.REJECTED, Status.PENDING, Status.SUCCEEDED] == [await stage.status(call) for call in calls]
    assert [{"path": "2.txt"}] == stage.ran()


async def test_two_people_each_take_one(stage: Stage) -> None:
    """Ann's yes and Bob's no are for different cards and don't touch each other."""
    one, other = await stage.ask(args={"path": "a"}), await stage.ask(args={"path": "b"})
    await stage.surface.answer("ann", one, "yes")
    await stage.surface.answer("bob", other, "no")

    assert [Status.SUCCEEDED, Status.REJECTED] == [await stage.status(one), await stage.status(other)]


async def test_the_same_call_twice_is_two_cards(stage: Stage) -> None:
    """The second says that it is the same, and is decided by itself."""
    one = await stage.ask(key="one")
    other = await stage.ask(key="two")
    await stage.surface.press("ann", other, Verb.APPROVE)

    assert says(stage.surface.card(other), "card.same", short=one.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [await stage.status(one), await stage.status(other)]
