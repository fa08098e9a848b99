"""How much a request writes into a channel: one message that tells all of it, and as little beside it as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.cards.wording import say
from tests.scenarios.how_many_messages import test_an_expiry_is_one_message  # noqa: F401 - the scenario is what is wanted
from tests.scenarios.slack.surface import staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.minutes import Minutes
    from tests.scenarios.slack.surface import SlackStage


@pytest.fixture
async def stage(minutes: Minutes) -> AsyncIterator[SlackStage]:
    """A stage by that clock."""
    del minutes
    async with staged("socket") as stage:
        yield stage


def private(stage: SlackStage, who: str) -> int:
    """How many messages only that person got: in the channel, and in their direct channel with the app."""
    room = stage.surface
    direct = [one for one in room.server.world.channels.values() if one.id.startswith("D")]
    written = [
        message for channel in direct for message in room.posted(channel) if room.people[who].id in channel.members
    ]
    return len(room.whispers(who)) + len(written)


async def test_an_approval_is_one_message(stage: SlackStage) -> None:
    """The card, which becomes the outcome and the result. Only the person who pressed sees that the press counted."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.surface.posted())
    assert 1 == private(stage, "ann")


async def test_an_approval_in_words_is_one_message(stage: SlackStage) -> None:
    """A reply to the card needs no answer beside what the card becomes."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, "yes")

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.surface.posted())
    assert 0 == private(stage, "ann")


async def test_a_rejection_with_its_reason_is_two_messages(stage: SlackStage) -> None:
    """The card, and one for whoever asked, by whatever way the reason came."""
    for words in ("it is mine", "no, because it is mine"):
        before = len(stage.surface.posted())
        call = await stage.ask()
        if words.startswith("no"):
            await stage.surface.answer("ann", call, words)
        else:
            room = stage.surface
            await room.press("ann", call, Verb.REJECT)
            window = await room.server.wait_view(room.people["ann"], say("window.title.why"))
            await room.server.submit(room.people["ann"], window, {"reason": words})
            await room.settle()

        assert Status.REJECTED == await stage.status(call)
        assert 2 == len(stage.surface.posted()) - before


@pytest.mark.parametrize("who", ["sam", "uma"])
async def test_bystanders_get_one_private_word(stage: SlackStage, minutes: Minutes, who: str) -> None:
    """Of five replies, a minute apart, the first gets an answer that only its author sees, and the others none.

    Sam is a stranger. Uma asked, and may not approve her own request.
    """
    call = await stage.ask()
    for _ in range(5):
        await stage.surface.answer(who, call, "yes")
        minutes.pass_()

    assert Status.PENDING == await stage.status(call)
    assert 1 == len(stage.surface.posted())
    assert 1 == private(stage, who)


@pytest.mark.parametrize("who", ["sam", "uma"])
async def test_a_bystanders_other_ways_count_as_the_same_word(stage: SlackStage, minutes: Minutes, who: str) -> None:
    """A press, Details, a command and a reaction get no second word."""
    call = await stage.ask()
    await stage.surface.answer(who, call, "yes")
    for verb in (Verb.APPROVE, Verb.REJECT, Verb.APPROVE):
        minutes.pass_()
        await stage.surface.press(who, call, verb)
    minutes.pass_()
    await stage.surface.command(who, f"approve {call.short}")
    minutes.pass_()
    await stage.surface.react(who, call, "👍")

    assert 1 == len(stage.surface.posted())
    assert 1 == private(stage, who)


async def test_an_approvers_unclear_replies_write_nothing_into_the_channel(stage: SlackStage, minutes: Minutes) -> None:
    """Each is answered where only the approver sees it."""
    call = await stage.ask()
    for _ in range(3):
        await stage.surface.answer("ann", call, "maybe later")
        minutes.pass_()

    assert 1 == len(stage.surface.posted())
    assert 3 == private(stage, "ann")
