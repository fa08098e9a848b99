"""Cards stay true: on every end, where they were deleted, and where Slack refuses, fails or asks for a pause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.slack.messages import card_message
from adapters.slack.surface import channel_of
from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from hitl.people import Conversation
from hitl.testing import ScriptedExecutor
from simulators.slack import DropAnswer, Garbage, Refuse, Reset
from tests.patience import PATIENCE_S
from tests.scenarios.ends import ENDS
from tests.scenarios.harness import saying
from tests.sentences import says
from tests.settling import quieted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Call, Lease, Ran, ToolInfo
    from simulators.slack import Message
    from simulators.slack.faults import Fault
    from tests.scenarios.slack.surface import SlackStage

FAULTS: dict[str, Fault] = {
    "rate limit": Refuse("ratelimited", status=429, retry_after=1),
    "server error": Refuse("internal_error", status=500),
    "by name": Refuse("fatal_error"),
    "reset": Reset(),
    "garbage": Garbage(),
}


async def posted(stage: SlackStage, call: Call) -> None:
    """Until the card is there, however often it must be tried; time goes by meanwhile."""
    async with asyncio.timeout(PATIENCE_S):
        while not stage.surface.cards(call) or stage.store._outbox:  # noqa: SLF001 - the fake's own
            stage.clock.advance(0.05)
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("way", ENDS)
async def test_the_card_tells_how_it_ended(stage: SlackStage, way: str) -> None:
    """Wherever it was ended from: its buttons are gone; it was edited when it was decided, and when it had run."""
    call, end = await stage.ask(), ENDS[way]
    await end.act(stage, call)

    assert end.status == await stage.status(call)
    card = stage.surface.message(call)
    assert end.is_on(card.shown.text)
    assert say("button.approve") not in card.labels
    assert card.edits <= 2


@pytest.mark.parametrize("way", ENDS)
async def test_a_press_after_the_end_is_answered_once(stage: SlackStage, way: str) -> None:
    """Alone, with what it came to, or that the one who pressed isn't listed; it changes nothing."""
    call = await stage.ask()
    await ENDS[way].act(stage, call)
    status = await stage.status(call)
    known = {who: len(stage.surface.whispers(who)) for who in ("ann", "sam")}
    for who in known:
        await stage.surface.press(who, call, Verb.APPROVE)
    (late,), (stranger,) = (stage.surface.whispers(who)[before:] for who, before in known.items())

    assert any(says(late, refusal, short=call.short) for refusal in (Refusal.DECIDED, Refusal.EXPIRED))
    assert ".." not in late
    assert says(stranger, Refusal.STRANGER, who=stage.name("sam"), short=call.short)
    assert status == await stage.status(call)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_passing_fault_delays_a_card(stage: SlackStage, name: str) -> None:
    """It comes all the same, once."""
    await stage.surface.server.fail("chat.postMessage", FAULTS[name])
    call = await stage.submit()
    await stage.surface.server.wait_calls("chat.postMessage")
    await posted(stage, call)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.surface.cards(call))


def open_cards(stage: SlackStage, call: Call) -> list[Message]:
    """The copies of a card that can be pressed."""
    return [message for message in stage.surface.cards(call) if message.labels]


@pytest.mark.parametrize("times", [1, 2, 3, 4])
async def test_of_the_copies_of_a_card_whose_answers_were_lost_one_can_be_pressed(
    stage: SlackStage, times: int
) -> None:
    """Slack shows us our own messages: the first that we know of is the card, the others say so at once.

    With three lost answers all of the client's tries are; then the card needs no further try.
    """
    await stage.surface.server.fail("chat.postMessage", DropAnswer(), times=times)
    call = await stage.submit()
    await posted(stage, call)
    await stage.surface.settle()
    (card,) = open_cards(stage, call)
    copies = [message for message in stage.surface.cards(call) if message.ts != card.ts]
    await stage.surface.pressed("ann", card, Verb.APPROVE)
    await stage.wait(30)
    shown = [line for line in await stage.events(call) if line == "shown"]

    assert {say("card.spare", short=call.short)} == {message.shown.text for message in copies}
    assert min(times, 2) == len(copies)
    assert 1 + min(times, 2) == len(stage.surface.cards(call))
    assert Status.SUCCEEDED == await stage.status(call)
    assert says(same(stage, card).shown.text, "by.approved")
    assert 1 == len(shown)


async def test_a_card_whose_answer_was_lost_is_made_known_by_an_approver_alone(stage: SlackStage) -> None:
    """Where we don't hear what we wrote ourselves: a stranger's press says nothing of which message is our card."""
    app = stage.surface.server.world.apps[stage.surface.app.id]
    app.events = frozenset(name for name in app.events if not name.startswith("message."))
    await stage.surface.server.fail("chat.postMessage", DropAnswer(), times=1000)
    call = await stage.submit()
    lost = (await stage.surface.server.wait_for(lambda: stage.surface.cards(call), PATIENCE_S, "the card"))[0]
    await stage.surface.pressed("sam", lost, Verb.APPROVE)
    await recorded(stage, call, "refused")
    after_the_stranger = await stage.events(call)
    await stage.surface.pressed("ann", lost, Verb.APPROVE)
    await recorded(stage, call, "succeeded")

    assert "shown" not in after_the_stranger
    assert "shown" in await stage.events(call)


async def recorded(stage: SlackStage, call: Call, event: str) -> None:
    """Until the record says so; time stands still meanwhile."""
    async with asyncio.timeout(PATIENCE_S):
        while event not in await stage.events(call):  # noqa: ASYNC110 - nothing outside tells the loop
            await asyncio.sleep(0.005)


async def test_so_it_is_in_private(stage: SlackStage) -> None:
    """There the channel is the person's."""
    room = stage.surface
    ann = room.people["ann"]
    room.conversation = f"slack:{room.home}/{ann.id}"
    await room.server.fail("chat.postMessage", DropAnswer(), times=3)
    call = await stage.submit()
    await room.server.wait_calls("chat.postMessage", 3)
    await stage.wait(30)
    direct = room.server.world.direct(frozenset({ann.id, room.app.user_id}))
    copies = room.posted(direct)

    assert {room.conversation: f"{copies[0].channel_id}:{copies[0].ts}"} == await stage.store.cards(call.ref)
    assert [True, False, False] == [bool(message.labels) for message in copies]


async def test_a_copy_that_shows_up_after_the_end_shows_the_outcome(stage: SlackStage) -> None:
    """Nobody is asked by it any more."""
    room = stage.surface
    call = await stage.ask()
    card = room.first(call)
    await room.press("ann", call, Verb.REJECT)
    copy = room.server.platform.post(
        room.room, room.app.user_id, card.text, blocks=card.blocks, thread_ts=card.thread_ts, **ours(stage)
    )
    await room.settle()

    assert says(same(stage, copy).shown.text, "by.rejected")
    assert say("button.approve") not in same(stage, copy).labels


@pytest.mark.parametrize("spoilt", ["", "another channel", "another value", "no value", "another's message"])
async def test_only_a_card_of_ours_is_taken_for_one(stage: SlackStage, spoilt: str) -> None:
    """A token of another chat, one that we didn't seal, or a message that isn't ours: nothing is adopted or edited."""
    room = stage.surface
    await room.server.fail("chat.postMessage", Refuse("fatal_error"))
    call = await stage.submit()
    await room.server.wait_calls("chat.postMessage")
    blocks = card_message(call, stage.service.gate.keys, channel_of(call.origin)).blocks
    blocks[-1]["elements"][0] |= {"another value": {"value": "A" * 46}, "no value": {"value": 7}}.get(spoilt, {})
    other = await room.server.channel("other", members=[*room.people.values(), room.app.bot])
    channel = other if spoilt == "another channel" else room.room
    user, author = (room.people["sam"].id, {}) if spoilt == "another's message" else (room.app.user_id, ours(stage))
    copy = room.server.platform.post(channel, user, "A card", blocks=blocks, **author)
    await taken_in(stage)

    assert {call.routes[0]: None if spoilt else f"{channel.id}:{copy.ts}"} == await stage.store.cards(call.ref)
    assert ([call.ref], 0) == ([one.ref for one in await stage.store.pending()], channel.messages[copy.ts].edits)


async def taken_in(stage: SlackStage) -> None:
    """Until every event was handled; what is still to be sent may wait."""

    async def handled() -> bool:
        under_way = any(one.state == "waiting" for one in stage.surface.server.platform.deliveries)
        return not under_way and not await stage.store.incoming()

    await quieted(handled, None, 10)


def ours(stage: SlackStage) -> dict[str, str]:
    """Who the author of the app's messages is."""
    return {"app_id": stage.surface.app.id, "bot_id": stage.surface.app.bot_id}


def same(stage: SlackStage, message: Message) -> Message:
    """A message as it is by now."""
    return stage.surface.room.messages[message.ts]


class Slow(ScriptedExecutor):
    """Tools that take until they are let go."""

    def __init__(self, tools: Mapping[tuple[str, str], ToolInfo]) -> None:
        super().__init__(tools)
        self.go = asyncio.Event()

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """As scripted, in the end."""
        await self.go.wait()
        return await super().run(lease, limit_s=limit_s)


async def test_a_second_card_is_told_how_a_long_run_ended(stage: SlackStage) -> None:
    """The card whose answer was lost is in no outbox; pressed, it says that the tool runs, and then what came of it.

    So it is where we don't hear what we wrote ourselves. Also where Slack fails just then.
    """
    slow = stage.executor = Slow(stage.executor.tools)
    await stage.again()
    app = stage.surface.server.world.apps[stage.surface.app.id]
    app.events = frozenset(name for name in app.events if not name.startswith("message."))
    await stage.surface.server.fail("chat.postMessage", DropAnswer())
    call = await stage.submit()
    await posted(stage, call)
    lost, _ = stage.surface.cards(call)
    await stage.surface.pressed("ann", lost, Verb.APPROVE)
    await shows(stage, call, "ending.running")
    await stage.surface.server.fail("chat.update", Refuse("fatal_error"), times=2)
    slow.go.set()
    await shows(stage, call, "end.done.do")

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.ran())


async def shows(stage: SlackStage, call: Call, what: str) -> None:
    """Until both cards hold this sentence of the catalogue."""
    async with asyncio.timeout(PATIENCE_S):
        while not all(says(card.shown.text, what) for card in stage.surface.cards(call)):
            stage.clock.advance(0.05)
            await asyncio.sleep(0.005)


async def test_where_nothing_can_be_posted_it_ends_at_once(stage: SlackStage) -> None:
    """Nobody can be asked, so nothing waits and nothing runs."""
    await stage.surface.server.archive(stage.surface.room)
    call = await stage.ask()

    assert Status.UNDELIVERABLE == await stage.status(call)
    assert [] == stage.ran()


@pytest.mark.parametrize(("error", "lost"), [("is_archived", True), ("token_revoked", True), ("invalid_blocks", False)])
async def test_what_slack_refuses_tells_whether_the_place_is_out_of_reach(
    stage: SlackStage, error: str, *, lost: bool
) -> None:
    """A channel or token that is gone is; a card that Slack won't take shows nothing of the kind."""
    await stage.surface.server.fail("chat.postMessage", Refuse(error), times=9)
    call = await stage.ask()
    assert Status.UNDELIVERABLE == await stage.status(call)
    reachable = stage.service.gate.reach.any(call.routes, stage.clock.now())

    assert lost is not reachable


@pytest.mark.parametrize(("error", "lost"), [("channel_not_found", False), ("token_revoked", True)])
async def test_who_ends_the_conversation_with_us_brings_nothing_about(
    stage: SlackStage, error: str, *, lost: bool
) -> None:
    """A person's own conversation being gone lets nothing pass; that we may send nothing to anybody does."""
    room = stage.surface
    place = f"slack:{room.app.team_id}/{room.room.id}"
    await stage.again(conversations={place: Conversation(place, routes=("approvers",))})
    await room.server.fail("chat.postMessage", Refuse(error), times=9)
    call = await stage.ask()

    assert Status.UNDELIVERABLE == await stage.status(call)
    assert lost is not stage.service.gate.reach.any(call.routes, stage.clock.now())


@pytest.mark.parametrize("error", ["missing_scope", "cant_update_message", "message_not_found"])
async def test_where_a_card_cannot_be_edited_its_outcome_is_said(stage: SlackStage, error: str) -> None:
    """The decision holds."""
    call = await stage.ask()
    await stage.surface.server.fail("chat.update", Refuse(error), times=9)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert saying((one.shown.text for one in stage.surface.posted()), "outcome.succeeded")


async def test_a_card_that_was_deleted_is_decided_all_the_same(stage: SlackStage) -> None:
    """By a press that was on its way."""
    call = await stage.ask()
    card = stage.surface.message(call)
    await stage.surface.server.delete(stage.surface.people["ann"], card)
    await stage.surface.pressed("ann", card, Verb.APPROVE)
    await stage.surface.settle()

    assert Status.SUCCEEDED == await stage.status(call)
    assert saying((one.shown.text for one in stage.surface.posted()), "outcome.succeeded")


async def test_several_changes_are_few_edits(stage: SlackStage) -> None:
    """One when it was decided, at most one more when it had run."""
    call = await stage.ask()
    for who in ("ann", "bob", "ann"):
        await stage.surface.press(who, call, Verb.APPROVE)
    await stage.status(call)

    assert stage.surface.message(call).edits <= 2


async def test_nothing_of_an_argument_is_live(stage: SlackStage) -> None:
    """No mention, no link, no broadcast; what can be read is what was written."""
    text = "```end``` <https://sign.example/go|Press here> <!here> <@U0ANN> <#C0X|ops> p?a=3&b=4 &quot; &lt;"
    call = await stage.ask(args={"path": text}, note=text)
    card = stage.surface.first(call)

    assert text in card.shown.text
    assert [] == list(card.shown.of("link", "broadcast", "usergroup", "channel", "emoji"))
    assert {stage.surface.people[who].id for who in ("ann", "bob")} == {one.target for one in card.shown.of("user")}
    assert "<" not in card.text
    assert (False, False) == (card.unfurl_links, card.unfurl_media)
