"""An agent asks people a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from tests.scenarios.harness import saying, told, unboxed

if TYPE_CHECKING:
    from hitl.call import Call
    from tests.scenarios.harness import Stage

STAGES = ("staging", "production")


async def answer_to(stage: Stage, call: Call) -> str | None:
    """What the agent gets."""
    stored = await stage.store.get(call.ref)
    assert stored is not None
    return stored.output


async def test_the_card_is_a_question(stage: Stage) -> None:
    """It says who asks, what, between which answers, and that no secret belongs into an answer."""
    call = await stage.question("Which stage do you mean?", *STAGES)
    shown = unboxed(stage.surface.card(call))

    assert all(text in shown for text in ("Which stage do you mean?", *STAGES, call.short))
    assert saying([shown], "card.never_secret")
    assert not saying([shown], "card.risk.low")


async def test_words_answer_it(stage: Stage) -> None:
    """In the way in which words answer a card there; the card then shows the answer and who gave it."""
    call = await stage.question("What shall the branch be called?")
    await stage.surface.answer("ann", call, "release-7")

    assert "release-7" == await answer_to(stage, call)
    assert Status.SUCCEEDED is await stage.status(call)
    assert "release-7" in told(stage, "ann", call)


@pytest.mark.parametrize("words", ["production", "2"])
async def test_an_option_or_its_number_answers_it(stage: Stage, words: str) -> None:
    """As the card says."""
    call = await stage.question("Which stage?", *STAGES)
    await stage.surface.answer("ann", call, words)

    assert "production" == await answer_to(stage, call)


async def test_a_stranger_does_not_answer_it(stage: Stage) -> None:
    """Nobody lists Sam."""
    call = await stage.question("Which stage?", *STAGES)
    await stage.surface.say("sam", f"{call.short} staging")

    assert Status.PENDING is await stage.status(call)


async def test_people_may_decline(stage: Stage) -> None:
    """By the button or the key that rejects a call; nobody is asked why."""
    call = await stage.question("Which stage?", *STAGES)
    await stage.surface.press("ann", call, Verb.REJECT)

    assert Status.REJECTED is await stage.status(call)
    assert not saying(stage.surface.heard("ann"), "offline.why")


async def test_it_expires_without_an_answer(stage: Stage) -> None:
    """Nobody answered."""
    call = await stage.question("Which stage?", *STAGES)
    await stage.wait(301)

    assert (Status.EXPIRED, None) == (await stage.status(call), await answer_to(stage, call))


async def test_beside_a_card_plain_words_ask_back(stage: Stage) -> None:
    """They decide neither, whichever of the two came last."""
    card, call = await stage.ask(), await stage.question("Shall I go on?")
    await stage.surface.say("ann", "yes")

    assert {Status.PENDING} == {await stage.status(card), await stage.status(call)}
    assert [] == stage.ran()


async def test_a_question_never_approves_a_call(stage: Stage) -> None:
    """Whatever its options are called."""
    card, call = await stage.ask(), await stage.question("Approve it?", "Approve", "Reject")
    await stage.surface.answer("ann", call, f"approve {call.short}")

    assert (Status.PENDING, Status.SUCCEEDED) == (await stage.status(card), await stage.status(call))
    assert [] == stage.ran()
