"""An agent that is spoken to in a thread asks there, and is answered there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.outcomes import Refusal, Told
from simulators.slack import Refuse
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from simulators.slack import Message
    from tests.scenarios.slack.surface import SlackStage


async def waiting(stage: SlackStage) -> list[Call]:
    """The calls that wait, oldest first."""
    return list(await stage.store.pending())


async def asked(stage: SlackStage, text: str) -> tuple[Message, Call]:
    """Uma mentions the app in the channel; her message, and the call that came of it."""
    room = stage.surface
    said = await room.server.mention(room.people["uma"], room.room, text)
    await room.settle()
    return said, (await waiting(stage))[-1]


async def test_a_mention_begins_a_thread(stage: SlackStage) -> None:
    """The card stands below it, names those who may answer, and whoever asked hears there how it ended."""
    room = stage.surface
    said, call = await asked(stage, "delete notes.txt")
    card = room.first(call)
    await room.server.say(room.people["ann"], room.room, "yes", thread=said)
    await room.settle()

    assert said.ts == card.thread_ts
    assert {room.people["ann"].id, room.people["bob"].id} == {mark.target for mark in card.shown.of("user")}
    assert Status.SUCCEEDED == await stage.status(call)
    assert says(room.message(call).shown.text, "end.done.do")


async def test_the_agent_is_spoken_with_there_without_its_name(stage: SlackStage) -> None:
    """What it can't use is others' talk, and is left alone."""
    room = stage.surface
    said, call = await asked(stage, "delete notes.txt")
    await room.press("ann", call, Verb.REJECT)
    before = len(room.heard("uma"))
    await room.server.say(room.people["uma"], room.room, "what a day", thread=said)
    await room.settle()
    quiet = len(room.heard("uma"))
    await room.server.say(room.people["uma"], room.room, "delete other.txt", thread=said)
    await room.settle()
    (second,) = await waiting(stage)

    assert before == quiet
    assert said.ts == room.message(second).thread_ts


async def test_what_is_said_where_it_was_never_mentioned_is_not_for_it(stage: SlackStage) -> None:
    """In the channel, and in other people's threads."""
    room = stage.surface
    await room.write("uma", "delete notes.txt")
    await room.server.say(room.people["uma"], room.room, "delete notes.txt")
    await room.settle()

    assert [] == await waiting(stage)
    assert [] == room.posted()


async def test_a_stranger_runs_nothing(stage: SlackStage) -> None:
    """Not even what the policy allows; they are told alone."""
    await stage.surface.say("sam", "list")

    assert [] == stage.ran()
    assert [] == stage.surface.posted()
    assert saying(stage.surface.whispers("sam"), Refusal.REQUESTER, who=stage.surface.identities["sam"])


async def test_with_two_cards_a_yes_asks_which(stage: SlackStage) -> None:
    """It names both."""
    calls = [await stage.ask(args={"path": name}) for name in ("a", "b")]
    await stage.surface.write("ann", "yes")
    (told,) = stage.surface.whispers("ann")

    assert [Status.PENDING] * 2 == [await stage.status(call) for call in calls]
    assert all(call.short in told for call in calls)


async def test_a_yes_to_somebody_elses_question_decides_nothing(stage: SlackStage) -> None:
    """The latest message of anyone else must be the card, or ours about it."""
    call = await stage.ask()
    await stage.surface.write("bob", "Shall we have lunch?")
    await stage.surface.write("ann", "yes")
    between = await stage.status(call)
    await stage.surface.write("ann", f"yes {call.short}")

    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]
    assert saying(stage.surface.whispers("ann"), Told.POINT, short=call.short)


async def test_ones_own_words_between_do_not_matter(stage: SlackStage) -> None:
    """Who thinks aloud below the card still answers it."""
    call = await stage.ask()
    await stage.surface.write("ann", "hm, let me look")
    await stage.surface.write("ann", "yes")

    assert Status.SUCCEEDED == await stage.status(call)


async def test_talk_below_a_card_is_asked_about_once_a_minute(stage: SlackStage) -> None:
    """Each person, for each card."""
    call = await stage.ask()
    for text in ("who wrote this?", "I did, last week", "ah well"):
        await stage.surface.write("ann", text)

    assert 1 == len(stage.surface.whispers("ann"))
    assert Status.PENDING == await stage.status(call)


async def test_after_a_restart_slack_tells_who_wrote_last(stage: SlackStage) -> None:
    """Right below the card a bare yes counts; it is asked once, not at every word."""
    call = await stage.ask()
    await stage.again()
    await stage.surface.write("ann", "hm, let me look")
    await stage.surface.write("ann", "yes")

    assert Status.SUCCEEDED == await stage.status(call)
    replies = await stage.surface.server.calls("conversations.replies")
    # The other calls, without `inclusive`, fetch what was missed.
    assert 1 == len([one for one in replies if "inclusive" in one.params])


@pytest.mark.parametrize("refused", ["missing_scope", "thread_not_found", "ratelimited"])
async def test_where_slack_does_not_tell_a_yes_is_asked_back(stage: SlackStage, refused: str) -> None:
    """Once more with the call's name it counts."""
    call = await stage.ask()
    await stage.again()
    await stage.surface.server.fail("conversations.replies", Refuse(refused), times=9)
    await stage.surface.write("ann", "yes")
    between = await stage.status(call)
    await stage.surface.write("ann", f"yes {call.short}")

    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]


@pytest.mark.parametrize("between", ["somebody", "a bot", "us", "many"])
async def test_what_was_written_while_we_were_down_stands_between(stage: SlackStage, between: str) -> None:
    """Slack may never deliver it, but keeps it: somebody's talk, ours about something else, or more than we look at."""
    room = stage.surface
    call = await stage.ask()
    await room.settle()
    await stage.halt()
    said = {"somebody": room.people["bob"].id, "a bot": "UOTHER", "us": room.app.user_id, "many": room.people["ann"].id}
    for _ in range(201 if between == "many" else 1):
        room.server.platform.post(room.room, said[between], "Shall we have lunch?", thread_ts=room.root.ts)
    for delivery in room.server.platform.deliveries:
        delivery.state = "failed" if delivery.state == "waiting" else delivery.state
    await stage.start()
    await room.write("ann", "yes")

    assert Status.PENDING == await stage.status(call)


async def test_after_a_restart_the_agent_is_still_spoken_with_where_a_call_waits(stage: SlackStage) -> None:
    """Without its name."""
    said, _ = await asked(stage, "delete notes.txt")
    await stage.again()
    await stage.surface.server.say(stage.surface.people["uma"], stage.surface.room, "delete other.txt", thread=said)
    await stage.surface.settle()

    assert 2 == len(await waiting(stage))


async def test_the_first_press_after_a_restart_counts(stage: SlackStage) -> None:
    """On the card of before."""
    call = await stage.ask()
    await stage.again()
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert says(stage.surface.message(call).shown.text, "by.approved")


async def test_in_private_the_app_need_not_be_named(stage: SlackStage) -> None:
    """A conversation is named as the person is; with their own yes switched on, it counts there."""
    room = stage.surface
    uma = room.identities["uma"]
    await stage.again(approvers=(uma, room.identities["ann"]))
    await room.server.say(room.people["uma"], room.app, "delete notes.txt")
    await room.settle()
    (call,) = await waiting(stage)
    await room.server.say(room.people["uma"], room.app, "yes")
    await room.settle()

    assert uma == call.origin
    assert Status.PENDING == await stage.status(call)
    assert saying(room.whispers("uma"), Refusal.OWN, short=call.short)
