"""Cards where people decide: a fixed channel, each approver in private, the thread that asked, any mix."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal, Told
from hitl.people import Conversation
from simulators.slack import Refuse
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from simulators.slack import Channel, Message
    from tests.scenarios.slack.surface import SlackStage


async def routed(stage: SlackStage, *more: str) -> tuple[Call, Channel]:
    """A call whose cards go to a channel for approvals too; the call and that channel."""
    room = stage.surface
    desk = await room.server.channel("desk", members=[*room.people.values(), room.app.bot])
    place = f"slack:{room.app.team_id}/{room.room.id}"
    routes = (f"slack:{room.app.team_id}/{desk.id}", *more)
    await stage.again(conversations={place: Conversation(place, routes=routes)})
    return await stage.ask(), desk


def card_in(stage: SlackStage, channel: Channel, call: Call) -> Message:
    """The call's card there, as it is now."""
    return next(one for one in stage.surface.posted(channel) if call.short in one.shown.text)


async def test_a_thread_is_routed_as_its_channel_is(stage: SlackStage) -> None:
    """The card stands in the other channel, a yes in its own thread decides, and the origin hears of it."""
    call, desk = await routed(stage)
    room = stage.surface
    await room.server.say(room.people["ann"], desk, "yes", thread=card_in(stage, desk, call))
    await room.settle()

    assert [] == room.cards(call)
    assert Status.SUCCEEDED == await stage.status(call)
    assert [room.root.ts] == [one.thread_ts for one in room.posted() if call.short in one.shown.text]


async def test_a_yes_to_somebody_else_in_the_cards_thread_decides_nothing(stage: SlackStage) -> None:
    """There as anywhere."""
    call, desk = await routed(stage)
    room = stage.surface
    card = card_in(stage, desk, call)
    await room.server.say(room.people["bob"], desk, "Coffee?", thread=card)
    await room.server.say(room.people["ann"], desk, "yes", thread=card)
    await room.settle()

    assert Status.PENDING == await stage.status(call)
    assert saying(room.whispers("ann"), Told.POINT, short=call.short)


async def test_every_copy_ends_in_the_same_outcome(stage: SlackStage) -> None:
    """In the thread, the channel, and each approver's own conversation; the digest is the same on all."""
    call, desk = await routed(stage, "origin", "approvers")
    room = stage.surface
    private = [await room.server.direct(room.people[who], room.app) for who in ("ann", "bob")]
    places = [room.room, desk, *private]
    first = [card_in(stage, place, call).shown.text for place in places]
    await room.server.say(room.people["bob"], room.app, "yes")
    await room.settle()
    status = await stage.status(call)
    last = [card_in(stage, place, call) for place in places]

    assert Status.SUCCEEDED == status
    assert first == saying(first, "card.headline")
    assert all(says(card.shown.text, "by.approved") for card in last)
    assert [(say("button.details"),)] * 4 == [card.labels for card in last]


async def test_many_decide_at_once_on_all_copies(stage: SlackStage) -> None:
    """One wins, one run, everybody else is told."""
    call, desk = await routed(stage, "origin", "approvers")
    room = stage.surface
    private = [await room.server.direct(room.people[who], room.app) for who in ("ann", "bob")]
    cards = [card_in(stage, place, call) for place in (room.room, desk)]
    acts = [room.pressed(who, card, Verb.APPROVE) for card in cards * 4 for who in ("ann", "bob")]
    acts += [
        room.pressed(who, card_in(stage, one, call), Verb.REJECT)
        for who, one in zip(("ann", "bob"), private, strict=True)
    ]
    await asyncio.gather(*acts)
    await room.settle()
    told = [*room.whispers("ann"), *room.whispers("bob")]

    assert len(stage.ran()) <= 1
    assert 1 == len(await stage.store.votes(call.ref))
    assert len(acts) - 1 == len(saying(told, Refusal.DECIDED, short=call.short))


async def test_the_same_two_cards_in_private_ask_which(stage: SlackStage) -> None:
    """A yes there can only mean one that stands alone."""
    call, _ = await routed(stage, "approvers")
    other = await stage.ask(args={"path": "other.txt"})
    room = stage.surface
    await room.server.say(room.people["ann"], room.app, "yes")
    await room.settle()

    assert [Status.PENDING] * 2 == [await stage.status(one) for one in (call, other)]
    assert any(call.short in text and other.short in text for text in room.whispers("ann"))


async def test_what_is_told_in_private_stands_between_a_card_and_a_yes(stage: SlackStage) -> None:
    """Who can't be whispered to is answered there; after that a bare yes need not mean the card above."""
    call, desk = await routed(stage, "approvers")
    room = stage.surface
    await room.server.fail("chat.postEphemeral", Refuse("user_not_in_channel"))
    await room.server.react(room.people["ann"], card_in(stage, desk, call), "eyes")
    await room.settle()
    private = room.posted(await room.server.direct(room.people["ann"], room.app))
    await room.server.say(room.people["ann"], room.app, "yes")
    await room.settle()

    assert says(private[-1].shown.text, Told.UNCLEAR, short=call.short)
    assert Status.PENDING == await stage.status(call)


async def test_where_the_app_is_no_member_buttons_still_work(stage: SlackStage) -> None:
    """Slack lets it post in public channels; who pressed is told by the way that came with the press.

    The card says that words don't reach it there.
    """
    room = stage.surface
    desk = await room.server.channel("desk", members=list(room.people.values()))
    place = f"slack:{room.app.team_id}/{room.room.id}"
    route = f"slack:{room.app.team_id}/{desk.id}"
    await stage.again(conversations={place: Conversation(place, routes=(route,))})
    call = await stage.ask()
    card = card_in(stage, desk, call).shown.text
    await room.pressed("ann", card_in(stage, desk, call), Verb.APPROVE)
    await room.settle()

    assert Status.SUCCEEDED == await stage.status(call)
    assert say(Told.APPROVED, short=call.short) in room.whispers("ann")
    assert says(card_in(stage, desk, call).shown.text, "by.approved")
    assert says(card, "card.how.buttons")
    assert not says(card, "card.how.plain.thread")


async def test_once_it_was_invited_words_are_asked_for(stage: SlackStage) -> None:
    """As everywhere; who is a member is known for ten minutes."""
    call, desk = await routed(stage)

    assert says(card_in(stage, desk, call).shown.text, "card.how.plain.thread")
    assert 1 == sum(one.method == "conversations.info" for one in stage.surface.server.platform.calls)
    await stage.ask(args={"path": "other.txt"})
    assert 1 == sum(one.method == "conversations.info" for one in stage.surface.server.platform.calls)


async def test_where_slack_does_not_say_words_are_asked_for(stage: SlackStage) -> None:
    """The card doesn't wait for it, and it isn't asked about again for nothing."""
    await stage.surface.server.fail("conversations.info", Refuse("missing_scope"))
    call, desk = await routed(stage)

    assert says(card_in(stage, desk, call).shown.text, "card.how.plain.thread")
    await stage.ask(args={"path": "other.txt"})
    assert 1 == sum(one.method == "conversations.info" for one in stage.surface.server.platform.calls)
