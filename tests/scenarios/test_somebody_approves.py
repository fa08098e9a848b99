"""A card appears, somebody says yes, the tool runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from tests.scenarios.harness import told
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


async def test_the_card_says_what_is_asked(stage: Stage) -> None:
    """Who wants what, the arguments, who may approve, and until when; nothing runs yet."""
    call = await stage.ask(args={"path": "notes.txt"})
    card = stage.surface.card(call)

    for sentence in ("card.headline", "card.risk.high", "card.approvers"):
        assert says(card, sentence)
    for said in ("path: notes.txt", "12:05"):
        assert said in card
    assert Status.PENDING == await stage.status(call)
    assert [] == stage.ran()


async def test_a_press_runs_it(stage: Stage) -> None:
    """With the arguments that were shown, once; the approver hears how it went."""
    call = await stage.ask(args={"path": "notes.txt"})
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert [{"path": "notes.txt"}] == stage.ran()
    assert any(says(told(stage, "ann", call), how) for how in ("agent.succeeded", "end.done.do"))


@pytest.mark.parametrize("text", ["yes", "Yes!", "ok", "approve"])
async def test_a_word_runs_it(stage: Stage, text: str) -> None:
    """In answer to the card."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, text)

    assert Status.SUCCEEDED == await stage.status(call)


async def test_an_emoji_runs_it(stage: Stage) -> None:
    """On the card."""
    call = await stage.ask()
    await stage.surface.react("ann", call, "👍")

    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_second_yes_runs_nothing_more(stage: Stage) -> None:
    """Pressed again by somebody else, it is told who was first."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    await stage.status(call)
    await stage.surface.press("bob", call, Verb.APPROVE)

    assert 1 == len(stage.ran())


async def test_what_the_policy_allows_needs_nobody(stage: Stage) -> None:
    """It runs at once, and no card is shown."""
    call = await stage.ask("read_file")

    assert Status.SUCCEEDED == await stage.status(call)
    assert "" == stage.surface.card(call)
