"""How much a request writes into a group: one message that tells all of it, and as little beside it as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from simulators.telegram import Refuse
from tests.scenarios.how_many_messages import test_an_expiry_is_one_message  # noqa: F401 - the scenario is what is wanted
from tests.scenarios.telegram.surface import staged
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.minutes import Minutes
    from tests.scenarios.telegram.surface import TelegramStage


@pytest.fixture
async def stage(minutes: Minutes) -> AsyncIterator[TelegramStage]:
    """A stage by that clock."""
    del minutes
    async with staged("polling") as stage:
        yield stage


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


async def test_details_are_one_message_a_card(stage: TelegramStage) -> None:
    """Everybody in the chat can read it. Later presses get a toast, and count as a look at the details."""
    call = await stage.ask("bash", {"command": "make clean " + "x" * 5000 + " && make"})
    for who in ("ann", "bob", "ann"):
        await stage.surface.press(who, call, Verb.DETAILS)
    toasts = [stage.surface.heard(who)[-1] for who in ("ann", "bob")]

    assert 2 == len(stage.surface.posted())
    assert [True, True] == [says(toast, "button.details.shown") for toast in toasts]

    await stage.surface.press("bob", call, Verb.APPROVE)
    assert Status.SUCCEEDED == await stage.status(call)


@pytest.mark.parametrize("who", ["sam", "uma"])
async def test_bystanders_get_one_private_word(stage: TelegramStage, minutes: Minutes, who: str) -> None:
    """Of five replies, a minute apart, the first gets a private answer and the others none. The group gets nothing.

    Sam is a stranger. Uma asked, and may not approve her own request.
    """
    room = stage.surface
    await room.server.private(room.people[who], room.bot.user)
    call = await stage.ask()
    for _ in range(5):
        await room.answer(who, call, "yes")
        minutes.pass_()

    assert Status.PENDING == await stage.status(call)
    assert 1 == len(room.posted())
    assert 1 == len(room.whispered(who))


async def test_a_bystanders_other_ways_count_as_the_same_word(stage: TelegramStage, minutes: Minutes) -> None:
    """A command, a reaction, unclear words and an edited message get no second word. A press gets its toast."""
    room = stage.surface
    await room.server.private(room.people["sam"], room.bot.user)
    call = await stage.ask()
    for text in ("yes", "maybe later"):
        await room.answer("sam", call, text)
        minutes.pass_()
    for command in (f"approve {call.short}", f"withdraw {call.short}"):
        await room.command("sam", command)
        minutes.pass_()
    await room.react("sam", call, "👍")
    minutes.pass_()
    said = await room.server.say(room.people["sam"], room.room, "hm", reply_to=room.message(call))
    await room.server.edit(room.people["sam"], said, "yes")
    await room.settle()
    before = len(room.heard("sam"))
    await room.press("sam", call, Verb.APPROVE)

    assert 1 == len(room.posted())
    assert 1 == len(room.whispered("sam"))
    assert 1 == len(room.heard("sam")) - before


@pytest.mark.parametrize("who", ["sam", "uma"])
async def test_a_bystander_without_a_private_chat_gets_a_sign(stage: TelegramStage, minutes: Minutes, who: str) -> None:
    """Telegram lets a bot write in private only to people who wrote to it first. The others get one reaction a card.

    The group gets no message. Sam is a stranger. Uma asked, and may not approve her own request.
    """
    call, room = await stage.ask(), stage.surface
    for _ in range(2):
        await room.answer(who, call, "yes")
        minutes.pass_()
    await room.command(who, f"approve {call.short}")

    assert Status.PENDING == await stage.status(call)
    assert 1 == len(room.posted())
    marked = [one for one in await room.server.messages(room.room) if one.reacted(room.bot.user.id)]
    assert ["yes"] == [one.text for one in marked]
    assert 1 == len(await room.server.calls("setMessageReaction"))


async def test_a_group_without_reactions_ends_nothing(stage: TelegramStage) -> None:
    """If Telegram refuses the reaction too, the bystander gets no sign, and an approver can still decide."""
    call, room = await stage.ask(), stage.surface
    await room.server.fail("setMessageReaction", Refuse(400, "Bad Request: REACTION_INVALID"))
    await room.answer("sam", call, "yes")
    await room.answer("ann", call, "yes")

    assert Status.SUCCEEDED == await stage.status(call)
    assert not any(one.reacted(room.bot.user.id) for one in await room.server.messages(room.room))


async def test_an_approvers_unclear_replies_get_one_public_question(stage: TelegramStage, minutes: Minutes) -> None:
    """The later replies are answered in private, and a clear reply still decides."""
    room = stage.surface
    await room.server.private(room.people["ann"], room.bot.user)
    call = await stage.ask()
    for _ in range(3):
        await room.answer("ann", call, "maybe later")
        minutes.pass_()

    assert 2 == len(room.posted())
    assert 2 == len(room.whispered("ann"))

    await room.answer("ann", call, "yes")
    assert Status.SUCCEEDED == await stage.status(call)
    assert 2 == len(room.posted())


async def test_an_approver_who_opened_no_private_chat_is_answered_in_the_group(
    stage: TelegramStage, minutes: Minutes
) -> None:
    """A reply of somebody who may decide is never left without an answer."""
    call = await stage.ask()
    for _ in range(3):
        await stage.surface.answer("ann", call, "maybe later")
        minutes.pass_()

    assert Status.PENDING == await stage.status(call)
    assert 1 + 3 == len(stage.surface.posted())
