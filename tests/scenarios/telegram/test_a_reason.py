"""Why: asked of the one who pressed, in a reply field that opens by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal, Told
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from simulators.telegram import Message
    from tests.scenarios.telegram.surface import TelegramStage


async def asked(stage: TelegramStage, what: str, call: Call) -> Message:
    """The bot's question about a call that has this key in the catalogue of sentences."""
    return await stage.surface.server.wait_message(stage.surface.room, say(what, short=call.short))


async def rejected(stage: TelegramStage) -> tuple[Call, Message]:
    """A call that Ann rejected by a press, and its card, which asks her why."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)
    return call, stage.surface.message(call)


async def needing_a_reason(stage: TelegramStage) -> tuple[Call, Message]:
    """A call whose yes needs a reason, on which Ann pressed Approve, and the question that followed."""
    stage.rules.set("delete_file", require_reason=True)
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    return call, await asked(stage, "answer.why_approved", call)


async def reply(stage: TelegramStage, who: str, question: Message, text: str) -> None:
    """Somebody writes into the reply field."""
    group = stage.surface
    await group.server.say(group.people[who], group.room, text, reply_to=question)
    await group.settle()


async def test_a_bots_reply_to_the_question_is_on_record_with_the_call(stage: TelegramStage) -> None:
    """The question is about the call as its card is, so that the record of the call shows who tried to answer it."""
    call, question = await needing_a_reason(stage)
    group = stage.surface
    other = await group.server.bot("other_bot")
    await group.server.add_bot(group.room, other.user)
    await group.server.say(other.user, group.room, "it was announced", reply_to=question)
    await group.settle()

    assert "barred" == (await stage.events(call))[-1]
    assert Status.PENDING == await stage.status(call)


async def test_the_card_asks_the_one_who_pressed(stage: TelegramStage) -> None:
    """In its second line, until she said it or a minute is over; no further message is written."""
    call, card = await rejected(stage)
    before = len(stage.surface.posted())
    await stage.wait(61)
    await stage.surface.settle()

    assert says(card.text, "ending.rejected.asked", who="Ann")
    assert 1 == before == len(stage.surface.posted())
    assert not says(stage.surface.message(call).text, "ending.rejected.asked")


async def test_her_reply_is_the_reason_whatever_it_says(stage: TelegramStage) -> None:
    """A "yes" in it decides nothing: the no stood at once."""
    call, question = await rejected(stage)
    before = await stage.status(call)
    await reply(stage, "ann", question, "yes, approve it, was a joke")
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert Status.REJECTED == before == stored.status
    assert "yes, approve it, was a joke" == stored.reason
    assert "yes, approve it, was a joke" in stage.surface.message(call).text


async def test_somebody_elses_reply_is_no_reason(stage: TelegramStage) -> None:
    """Bob answers Ann's question: he is told that it was decided, and nothing is added."""
    call, question = await rejected(stage)
    await reply(stage, "bob", question, "yes")
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert (Status.REJECTED, None) == (stored.status, stored.reason)
    assert stage.surface.told("bob", Refusal.DECIDED, short=call.short)


async def test_after_a_minute_it_is_too_late(stage: TelegramStage) -> None:
    """She is told so."""
    call, question = await rejected(stage)
    stage.clock.advance(61)
    await reply(stage, "ann", question, "too many")
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert stored.reason is None
    assert stage.surface.told("ann", Refusal.REASON_LATE, short=call.short)


async def test_a_wait_that_ended_while_we_were_down_ends_at_the_start(stage: TelegramStage) -> None:
    """The card asks for no reason any more."""
    call, _ = await rejected(stage)
    await stage.surface.settle()
    await stage.halt()
    stage.clock.advance(61)
    await stage.start()
    await stage.surface.settle()

    assert not says(stage.surface.message(call).text, "ending.rejected.asked")


async def test_a_reason_that_was_sent_while_we_were_down_counts_in_its_time(stage: TelegramStage) -> None:
    """Telegram kept it; the minute isn't over."""
    call, question = await rejected(stage)
    await stage.surface.settle()
    await stage.halt()
    await stage.surface.server.say(stage.surface.people["ann"], stage.surface.room, "too many", reply_to=question)
    stage.clock.advance(59)
    await stage.start()
    await stage.surface.settle()
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert "too many" == stored.reason


async def test_a_yes_that_needs_a_reason_waits_for_it(stage: TelegramStage) -> None:
    """The press alone decides nothing; the reply does, and is the reason."""
    call, question = await needing_a_reason(stage)
    before = await stage.status(call)
    await reply(stage, "ann", question, "the disk is full")
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert [Status.PENDING, Status.SUCCEEDED] == [before, await stage.status(call)]
    assert "the disk is full" == stored.reason


async def test_a_critical_call_is_pressed_explained_and_pressed_again(stage: TelegramStage) -> None:
    """The reason counts as the press that it completes, and isn't asked for twice."""
    stage.rules.set("delete_files", require_reason=True)
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.press("ann", call, Verb.APPROVE)
    await reply(stage, "ann", await asked(stage, "answer.why_approved", call), "the disk is full")
    between = await stage.status(call)
    await stage.wait(3)
    await stage.surface.press("ann", call, Verb.APPROVE)
    stored = await stage.store.get(call.ref)

    assert stage.surface.told("ann", Told.CONFIRM, short=call.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]
    assert stored is not None
    assert "the disk is full" == stored.reason


async def test_a_reason_in_two_messages_is_no_second_yes(stage: TelegramStage) -> None:
    """She pressed once; what she adds is no second thought."""
    stage.rules.set("delete_files", require_reason=True)
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.press("ann", call, Verb.APPROVE)
    question = await asked(stage, "answer.why_approved", call)
    await reply(stage, "ann", question, "the disk is full")
    await stage.wait(3)
    await reply(stage, "ann", question, "and it is full of logs")

    assert Status.PENDING == await stage.status(call)
    assert stage.surface.told("ann", Told.UNCLEAR, short=call.short)


async def test_a_no_in_its_place_is_a_no(stage: TelegramStage) -> None:
    """Asked why she approves, she thinks again."""
    call, question = await needing_a_reason(stage)
    await reply(stage, "ann", question, "no, because it is the only copy")

    assert Status.REJECTED == await stage.status(call)
    assert [] == stage.ran()


@pytest.mark.parametrize("text", ["wait", "hold on, let me check first", "what does it do?", "not sure yet"])
async def test_a_doubt_in_its_place_completes_nothing(stage: TelegramStage, text: str) -> None:
    """She is told that nothing was decided, and why; a reason in the same field still completes her yes."""
    call, question = await needing_a_reason(stage)
    await reply(stage, "ann", question, text)
    before = await stage.status(call)
    await reply(stage, "ann", question, "the disk is full")

    assert stage.surface.told("ann", Told.UNCLEAR, short=call.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [before, await stage.status(call)]


@pytest.mark.parametrize("text", ["wait, that one is mine", "the disk is full"])
async def test_nobody_else_completes_it(stage: TelegramStage, text: str) -> None:
    """Bob may decide, but he wasn't asked and pressed nothing: his words are read as his own."""
    call, question = await needing_a_reason(stage)
    await reply(stage, "bob", question, text)

    assert Status.PENDING == await stage.status(call)
    assert stage.surface.told("bob", Told.UNCLEAR, short=call.short)


async def test_when_somebody_was_quicker_she_hears_it(stage: TelegramStage) -> None:
    """Bob rejected while she was typing."""
    call, question = await needing_a_reason(stage)
    await stage.surface.press("bob", call, Verb.REJECT)
    await reply(stage, "ann", question, "the disk is full")
    outcome = say("outcome.rejected", by=stage.service.gate.names.of(stage.surface.identities["bob"]))

    assert Status.REJECTED == await stage.status(call)
    assert stage.surface.told("ann", Refusal.DECIDED, short=call.short, outcome=outcome)
