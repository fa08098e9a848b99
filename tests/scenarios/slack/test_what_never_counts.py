"""What is no decision on Slack, whoever sent it: edits, deletions, copies, previews, bots, strangers' lookalikes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hitl.call import Event, Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from simulators.slack import Refuse
from tests.scenarios.harness import saying

if TYPE_CHECKING:
    from tests.scenarios.slack.surface import SlackStage


async def test_an_edit_is_none(stage: SlackStage) -> None:
    """Neither to a yes nor to a no."""
    call = await stage.ask()
    said = await stage.surface.write("ann", "hm")
    await stage.surface.server.edit(stage.surface.people["ann"], said, "yes")
    await stage.surface.settle()
    await stage.surface.server.delete(stage.surface.people["ann"], said)
    await stage.surface.settle()

    assert Status.PENDING == await stage.status(call)


async def test_a_changed_card_is_no_message(stage: SlackStage) -> None:
    """Previews and replies make Slack tell of it again and again; nothing is said to that."""
    call = await stage.ask()
    before = len(stage.surface.posted())
    await stage.surface.server.unfurl(stage.surface.message(call), times=10)
    await stage.surface.settle()

    assert Status.PENDING == await stage.status(call)
    assert before == len(stage.surface.posted())


async def test_a_bots_word_is_none(stage: SlackStage) -> None:
    """Sayso doesn't answer another bot, because two bots would never stop. Its message still counts as the latest."""
    call = await stage.ask()
    room = stage.surface
    other = await room.server.app("Deployer")
    await room.server.join(other.bot, room.room)
    before = len(room.heard("ann"))
    await room.server.bot_says(other, room.room, f"yes {call.short}", thread=room.root)
    await room.server.bot_says(other, room.room, f"yes {call.short}", thread=room.root, legacy=True)
    await room.settle()
    quiet = len(room.heard("ann"))
    await room.write("ann", "yes")

    assert before == quiet
    assert Status.PENDING == await stage.status(call)


async def test_a_bots_reaction_is_none(stage: SlackStage) -> None:
    """Even of one that somebody listed."""
    room = stage.surface
    other = await room.server.app("Deployer")
    await room.server.join(other.bot, room.room)
    await stage.again(approvers=(f"slack:{other.team_id}/{other.user_id}", room.identities["ann"]))
    call = await stage.ask()
    await room.server.react(other.bot, room.message(call), "+1")
    await room.settle()

    assert Status.PENDING == await stage.status(call)
    assert "barred" in await stage.events(call)


async def test_a_reaction_of_whom_slack_tells_nothing_is_none(stage: SlackStage) -> None:
    """It could be a bot's; who reacted is told so, alone, and the buttons still count."""
    call = await stage.ask()
    await stage.surface.server.fail("users.info", Refuse("missing_scope"))
    await stage.surface.react("ann", call, "+1")
    before = await stage.status(call)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert [Status.PENDING, Status.SUCCEEDED] == [before, await stage.status(call)]
    assert saying(stage.surface.whispers("ann"), "chat.unchecked")


async def test_our_own_reaction_is_none(stage: SlackStage) -> None:
    """A card may be seeded with signs."""
    call = await stage.ask()
    await stage.surface.server.react(stage.surface.app.bot, stage.surface.message(call), "+1")
    await stage.surface.settle()

    assert Status.PENDING == await stage.status(call)


@pytest.mark.parametrize("name", ["+1::skin-tone-4", "thumbsup", "white_check_mark"])
async def test_a_reaction_in_any_tone_counts(stage: SlackStage, name: str) -> None:
    """And one that is taken back takes nothing back."""
    call = await stage.ask()
    room = stage.surface
    await room.server.react(room.people["ann"], room.message(call), name)
    await room.server.react(room.people["ann"], room.message(call), name, remove=True)
    await room.settle()

    assert Status.SUCCEEDED == await stage.status(call)


async def test_taking_a_no_back_is_no_yes(stage: SlackStage) -> None:
    """Nor is a reaction to another message."""
    call = await stage.ask()
    room = stage.surface
    await room.server.react(room.people["ann"], room.root, "+1")
    await room.server.react(room.people["ann"], room.message(call), "eyes")
    await room.server.react(room.people["ann"], room.message(call), "eyes", remove=True)
    await room.settle()

    assert Status.PENDING == await stage.status(call)


async def test_a_broadcast_copy_is_none(stage: SlackStage) -> None:
    """Who also sends it to the channel is told to answer in the thread alone."""
    call = await stage.ask()
    room = stage.surface
    await room.server.say(room.people["ann"], room.room, "yes", thread=room.root, broadcast=True)
    await room.settle()

    assert Status.PENDING == await stage.status(call)
    assert saying(room.whispers("ann"), "chat.broadcast")


async def test_a_forged_value_is_none(stage: SlackStage) -> None:
    """Another card's, or anything else."""
    call = await stage.ask()
    other = await stage.ask(args={"path": "other.txt"})
    room = stage.surface
    value = next(one.value for one in room.message(other).buttons if one.action_id == "sayso:approve")
    for forged in (value, "AAAA", ""):
        await room.server.press(room.people["ann"], room.message(call), "sayso:approve", forged={"value": forged})
    await room.settle()
    refused = ["chat.forged", Refusal.BUTTON, Refusal.BUTTON]

    assert [Status.PENDING] * 2 == [await stage.status(one) for one in (call, other)]
    assert sorted(map(say, refused)) == sorted(room.whispers("ann"))


async def test_a_button_that_is_not_ours_is_no_forgery(stage: SlackStage) -> None:
    """Who presses it is told that it isn't known, and nothing on record says that anybody forged a button."""
    call = await stage.ask()
    room = stage.surface
    forged = {"action_id": "sayso:snooze", "value": "later"}
    await room.server.press(room.people["ann"], room.message(call), "sayso:approve", forged=forged)
    await room.settle()

    assert [say(Refusal.BUTTON)] == room.whispers("ann")
    assert Event.FORGED not in {line.event for line in await stage.store.history("")}
    assert "forged" not in await stage.events(call)


async def test_the_same_delivery_again_has_no_effect(stage: SlackStage) -> None:
    """However often, and whatever was decided meanwhile."""
    call = await stage.ask()
    room = stage.surface
    delivery = await room.pressed("ann", room.message(call), Verb.DETAILS)
    await room.settle()
    assert delivery is not None
    views = len(await room.server.calls("views.open"))
    await asyncio.gather(*(room.server.replay(delivery) for _ in range(5)))
    await room.settle()

    assert views == len(await room.server.calls("views.open"))


async def test_people_of_another_company_are_strangers(stage: SlackStage) -> None:
    """By words, reaction and press; unless they are listed as who they are."""
    room = stage.surface
    away = await room.server.team("Contoso")
    guest = await room.server.user("Gus", team=away)
    await room.server.join(guest, room.room)
    call = await stage.ask()
    await room.server.react(guest, room.message(call), "+1")
    await room.server.say(guest, room.room, f"yes {call.short}", thread=room.root)
    await room.server.press(guest, room.message(call), "sayso:approve")
    await room.settle()
    refused = await stage.status(call)
    await stage.again(approvers=(room.identities["ann"], f"slack:{away.id}/{guest.id}"))
    other = await stage.ask(args={"path": "other.txt"})
    await room.server.react(guest, room.message(other), "+1")
    await room.settle()

    assert Status.PENDING == refused
    assert Status.SUCCEEDED == await stage.status(other)
