"""How much a request writes into a group: one message that tells all of it, and as little beside it as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage


async def test_an_approval_is_one_message(stage: TelegramStage) -> None:
    """The card, which becomes the outcome and the result."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.surface.posted())


async def test_an_approval_in_words_is_one_message(stage: TelegramStage) -> None:
    """A reply to the card needs no answer beside what the card becomes."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, "yes")

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.surface.posted())


async def test_a_rejection_with_its_reason_is_two_messages(stage: TelegramStage) -> None:
    """The card, and one for whoever asked, by whatever way the reason came."""
    for words in ("keep it", "no, because it is mine"):
        before = len(stage.surface.posted())
        call = await stage.ask()
        if words.startswith("no"):
            await stage.surface.answer("ann", call, words)
        else:
            await stage.surface.press("ann", call, Verb.REJECT)
            await stage.surface.answer("ann", call, words)

        assert Status.REJECTED == await stage.status(call)
        assert 2 == len(stage.surface.posted()) - before


async def test_an_expiry_is_one_message(stage: TelegramStage) -> None:
    """The card says that nobody answered."""
    call = await stage.ask()
    await stage.wait(301)

    assert Status.EXPIRED == await stage.status(call)
    assert 1 == len(stage.surface.posted())


async def test_bystanders_write_nothing_into_the_group(stage: TelegramStage) -> None:
    """Five replies of a stranger get at most one word, and that in private."""
    call = await stage.ask()
    for _ in range(5):
        await stage.surface.answer("sam", call, "yes")

    assert Status.PENDING == await stage.status(call)
    assert 1 == len(stage.surface.posted())
