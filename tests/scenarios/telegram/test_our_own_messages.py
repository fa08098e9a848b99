"""Replies to messages of ours that are no cards: the id of such a message tells its call, never its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status
from hitl.outcomes import Told
from hitl.records import replace
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from simulators.telegram import Message
    from tests.scenarios.telegram.surface import TelegramStage


async def replied(stage: TelegramStage, who: str, to: Message, text: str) -> Message:
    """What the bot wrote last, when somebody had replied to a message."""
    group = stage.surface
    await group.server.say(group.people[who], group.room, text, reply_to=to)
    await group.settle()
    return group.posted()[-1]


async def whispered(stage: TelegramStage, who: str, to: Message, text: str) -> Message:
    """What the bot wrote last to that person in private, when they had replied to a message in the group."""
    group = stage.surface
    await group.server.private(group.people[who], group.bot.user)
    await group.server.say(group.people[who], group.room, text, reply_to=to)
    await group.settle()
    return group.whispered(who)[-1]


async def unclear(stage: TelegramStage, call: Call, who: str = "ann") -> Message:
    """The question that follows a reply to a card which is neither yes nor no."""
    question = await replied(stage, who, stage.surface.message(call), "hmm, what a day")
    assert says(question.text, Told.UNCLEAR, short=call.short)
    return question


async def test_a_yes_to_our_question_about_a_card_is_one_to_the_card(stage: TelegramStage) -> None:
    """In a group, too, and with other cards open."""
    call, other = await stage.ask(), await stage.ask(args={"path": "other"})
    await replied(stage, "ann", await unclear(stage, call), "yes")

    assert [Status.SUCCEEDED, Status.PENDING] == [await stage.status(call), await stage.status(other)]


async def test_a_question_is_known_after_a_restart(stage: TelegramStage) -> None:
    """Which call it is about is stored."""
    call = await stage.ask()
    question = await unclear(stage, call)
    await stage.halt()
    await stage.start()
    await replied(stage, "ann", question, "no because it is mine")

    assert Status.REJECTED == await stage.status(call)


async def test_a_critical_call_must_be_named_there_too(stage: TelegramStage) -> None:
    """A reply to a question isn't stronger than a reply to the card."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    question = await unclear(stage, call)
    await replied(stage, "ann", question, "yes")
    before = await stage.status(call)
    await replied(stage, "ann", question, f"yes {call.short}")

    assert [Status.PENDING, Status.SUCCEEDED] == [before, await stage.status(call)]


@pytest.mark.parametrize(
    "words",
    ["ok.{short}.ok", "{short}", "hm: {short}?", "{short} {short}", "yes {short} maybe", "what about #{short}"],
)
async def test_a_strangers_words_never_move_a_yes_to_another_call(stage: TelegramStage, words: str) -> None:
    """Sam names one call in a reply to the card of another. The answer is Sam's alone, so nobody can say yes to it."""
    call, named = await stage.ask(), await stage.ask(args={"path": "other"})
    said = words.format(short=named.short)
    answer = await whispered(stage, "sam", stage.surface.message(call), said)

    assert [stage.surface.message(one) for one in (call, named)] == stage.surface.posted()
    assert named.short not in answer.text
    assert said not in answer.text


async def test_a_strangers_words_are_not_repeated(stage: TelegramStage) -> None:
    """People who may decide hear which words were not understood; nobody else's words are written again."""
    call = await stage.ask()
    to_ann = await replied(stage, "ann", stage.surface.message(call), "frobnicate")
    to_sam = await whispered(stage, "sam", stage.surface.message(call), "frobnicate")

    assert [True, False] == ["frobnicate" in answer.text for answer in (to_ann, to_sam)]


async def test_a_yes_to_a_message_that_is_about_no_call_is_asked_back(stage: TelegramStage) -> None:
    """One open card isn't enough to guess."""
    call = await stage.ask()
    group = stage.surface
    await group.command("ann", "whoami")
    about_nothing = group.posted()[-1]
    answer = await replied(stage, "ann", about_nothing, "yes")
    before = await stage.status(call)
    await replied(stage, "ann", answer, "yes")

    assert [Status.PENDING, Status.SUCCEEDED] == [before, await stage.status(call)]
    assert says(answer.text, Told.POINT, short=call.short)


async def test_a_binding_that_was_changed_in_the_database_points_to_nothing(stage: TelegramStage) -> None:
    """Its MAC covers the message, the call, and who is asked."""
    call, other = await stage.ask(), await stage.ask(args={"path": "other"})
    question = await unclear(stage, call)
    message = f"{stage.surface.room.id}:{question.id}"
    bound = await stage.store.bound(message)
    assert bound is not None
    stage.store._bound[message] = replace(bound, ref=other.ref)  # noqa: SLF001 - as somebody with the database would
    await replied(stage, "ann", question, "yes")

    assert [Status.PENDING] * 2 == [await stage.status(one) for one in (call, other)]
