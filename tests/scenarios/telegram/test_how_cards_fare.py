"""Cards stay true: on every end, in topics, after a group became a supergroup, and where they were deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Preparation, Ran, Result, Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal, Told
from hitl.proof.keyring import ButtonData
from simulators.telegram import Refuse
from tests.scenarios.ends import ENDS
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage


@pytest.mark.parametrize("way", ENDS)
async def test_the_card_tells_how_it_ended(stage: TelegramStage, way: str) -> None:
    """Wherever it was ended from: its buttons are gone; it was edited when it was decided, and when it had run."""
    call, end = await stage.ask(), ENDS[way]
    await end.act(stage, call)

    assert end.status == await stage.status(call)
    card = stage.surface.message(call)
    assert end.is_on(card.text)
    assert () == card.labels
    assert card.edits <= 2


@pytest.mark.parametrize("way", ENDS)
async def test_a_press_after_the_end_is_answered_once(stage: TelegramStage, way: str) -> None:
    """With what it came to, or that the one who pressed isn't listed; it changes nothing."""
    call = await stage.ask()
    await ENDS[way].act(stage, call)
    status = await stage.status(call)
    group = stage.surface
    known = set(group.server.platform.queries)
    for who in ("ann", "sam"):
        await group.press(who, call, Verb.APPROVE)
    answers = [query.answer for ref, query in group.server.platform.queries.items() if ref not in known]
    texts = [answer.text for answer in answers if answer is not None]

    assert 2 == len(texts)
    assert any(says(texts[0], refusal, short=call.short) for refusal in (Refusal.DECIDED, Refusal.EXPIRED))
    assert ".." not in texts[0]
    assert says(texts[1], Refusal.STRANGER, who=stage.name("sam"), short=call.short)
    assert status == await stage.status(call)


async def test_nothing_that_an_agent_wrote_is_live(stage: TelegramStage) -> None:
    """Not on the card, in its details, in a list, nor in what its tool printed: no link, no mention, no command."""
    lie = "see https://evil.example/x or README.md, ask @everybody_here, /approve_it #now boss@corp.example"
    stage.executor.outcome = Ran(Result.SUCCEEDED, lie)
    stage.executor.preparation = Preparation(f"Deletes {lie}", preview=lie, notes=(lie,))
    call = await stage.ask(args={"path": lie, lie: "x"}, note=lie)
    group = stage.surface
    await group.press("ann", call, Verb.DETAILS)
    await group.command("ann", "pending")
    await group.answer("ann", call, "yes")
    await stage.status(call)
    shown = [message.entities for message in group.posted()]
    shown += [version.entities for message in group.posted() for version in message.history]
    live = {entity.type for entities in shown for entity in entities}

    assert {"bold", "italic", "code", "pre", "date_time", "blockquote", "text_mention"} >= live
    assert 3 == sum(lie in message.text for message in group.posted())


async def test_a_card_has_three_buttons_of_46_bytes(stage: TelegramStage) -> None:
    """Approve, Reject and Details, for just this call."""
    call = await stage.ask()
    data = [str(button["callback_data"]) for button in stage.surface.message(call).buttons]

    assert [46] * 3 == [len(one.encode()) for one in data]
    assert [Verb.APPROVE, Verb.REJECT, Verb.DETAILS] == [ButtonData.unpack(one).verb for one in data]
    assert {call.ref} == {ButtonData.unpack(one).ref for one in data}


async def test_the_countdown_runs_where_it_can(stage: TelegramStage) -> None:
    """A live time where the app knows it; what others show names its zone."""
    call = await stage.ask()
    card = stage.surface.message(call)

    assert "date_time" in {entity.type for entity in card.entities}
    assert "12:05 UTC" in card.text


async def test_where_the_markup_cannot_be_read_the_card_is_plain(stage: TelegramStage) -> None:
    """With its buttons, and blocks marked line by line, so that nothing poses as a line of ours."""
    server = stage.surface.server
    await server.fail("sendMessage", Refuse(400, "Bad Request: can't parse entities: Unsupported start tag"))
    call = await stage.ask(args={"path": "x\nABC234 done"})
    card = stage.surface.message(call)

    assert [] == [entity.type for entity in card.entities if entity.type in {"pre", "bold", "italic"}]
    assert "│ x\n│ ABC234 done" in card.text
    assert 3 == len(card.labels)
    await stage.surface.press("ann", call, Verb.APPROVE)
    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_card_that_was_deleted_is_decided_all_the_same(stage: TelegramStage) -> None:
    """By a press that was on its way, and the outcome is said anew."""
    call = await stage.ask()
    group = stage.surface
    card, data = group.message(call), group.data(call, Verb.APPROVE)
    await group.server.delete(card)
    await group.server.press(group.people["ann"], card, data=data)
    await group.settle()

    assert Status.SUCCEEDED == await stage.status(call)
    assert saying((message.text for message in group.posted()), "outcome.succeeded")


async def test_a_quick_double_press_is_answered_twice_and_decides_once(stage: TelegramStage) -> None:
    """The second hears who was first; the card changes when it is decided and when it has run, no more."""
    call = await stage.ask()
    group = stage.surface
    presses = [await group.server.press(group.people["ann"], group.message(call), "Approve") for _ in range(2)]
    texts = [(await group.server.wait_answer(press)).text for press in presses]
    await group.settle()

    assert say(Told.APPROVED, short=call.short) == texts[0]
    assert says(texts[1], Refusal.DECIDED, short=call.short)
    assert 1 == len(stage.ran())
    assert group.message(call).edits <= 2


async def test_a_topics_card_stands_in_the_topic(stage: TelegramStage) -> None:
    """And is answered there; General has no number of its own."""
    group = stage.surface
    forum = await group.server.supergroup("Forum", members=group.people.values(), bots=[group.bot.user], forum=True)
    topic = await group.server.topic(forum, "Deploys")
    for place, thread in ((f"telegram:{forum.id}/{topic.id}", topic.id), (f"telegram:{forum.id}", None)):
        group.conversation, group.room = place, forum
        call = await stage.ask()
        card = group.message(call)
        await group.answer("ann", call, "yes")

        assert thread == card.thread_id
        assert Status.SUCCEEDED == await stage.status(call)
        assert {thread} == {message.thread_id for message in group.posted() if call.short in message.text}


async def test_where_the_topic_is_gone_the_card_stands_in_the_group(stage: TelegramStage) -> None:
    """Never in another chat; a press on it counts."""
    group = stage.surface
    forum = await group.server.supergroup("Forum", members=group.people.values(), bots=[group.bot.user], forum=True)
    topic = await group.server.topic(forum, "Deploys")
    await group.server.delete_topic(forum, topic)
    group.conversation, group.room = f"telegram:{forum.id}/{topic.id}", forum
    call = await stage.ask()

    assert group.message(call).thread_id is None
    await group.press("ann", call, Verb.APPROVE)
    assert Status.SUCCEEDED == await stage.status(call)


@pytest.mark.parametrize("first", ["the update", "our message"])
async def test_a_group_that_became_a_supergroup_gets_its_cards_once_more(stage: TelegramStage, first: str) -> None:
    """Once, whichever tells us first; they are answered there, and calls keep the name of their conversation."""
    group = stage.surface
    old = await group.server.group("Old", members=group.people.values(), bots=[group.bot.user])
    group.conversation, group.room = f"telegram:{old.id}", old
    calls = [await stage.ask(args={"path": name}) for name in ("a", "b")]
    if first == "our message":
        await group.server.fail("getUpdates", Refuse(500, "Internal Server Error"), times=1)
    new = await group.server.migrate(old)
    if first == "our message":
        calls.append(await stage.ask(args={"path": "c"}))
    await group.settle()
    group.room = new
    await group.press("ann", calls[0], Verb.APPROVE)
    await group.answer("bob", calls[1], "no")

    assert [Status.SUCCEEDED, Status.REJECTED] == [await stage.status(call) for call in calls[:2]]
    assert [1] * len(calls) == [len(group.cards(call)) for call in calls]


async def test_who_blocked_the_bot_ends_the_call_at_once(stage: TelegramStage) -> None:
    """Nobody can be asked: it doesn't wait for its deadline, and nothing runs. Nor does the next run for that: what
    a fallback lets run must not be one person's to bring about.
    """
    group = stage.surface
    private = await group.server.private(group.people["ann"], group.bot.id)
    await group.server.block(group.people["ann"], group.bot.id)
    group.conversation = f"telegram:{private.id}"
    call = await stage.ask()

    assert Status.UNDELIVERABLE == await stage.status(call)
    assert [] == stage.ran()
    assert stage.service.gate.reach.any(call.routes, stage.clock.now())


@pytest.mark.parametrize(("said", "lost"), [("chat not found", True), ("message is too long", False)])
async def test_what_telegram_refuses_tells_whether_the_chat_is_out_of_reach(
    stage: TelegramStage, said: str, *, lost: bool
) -> None:
    """A chat that isn't there is; a card that Telegram won't take shows nothing of the kind."""
    await stage.surface.server.fail("sendMessage", Refuse(400, f"Bad Request: {said}"), times=9)
    call = await stage.ask()
    assert Status.UNDELIVERABLE == await stage.status(call)
    reachable = stage.service.gate.reach.any(call.routes, stage.clock.now())

    assert lost is not reachable


async def test_details_that_fit_no_message_are_a_file(stage: TelegramStage) -> None:
    """Whole, and only where they are too long: counted as Telegram counts, in UTF-16 units."""
    short = await stage.ask(args={"path": "x" * 2000})
    long = await stage.ask(args={"path": "🗑" * 2500})
    for call in (short, long):
        await stage.surface.press("ann", call, Verb.DETAILS)
    files = [message.document for message in stage.surface.posted() if message.document]

    assert [f"{long.short}.txt"] == [file.name for file in files]
    assert "🗑" * 2500 in files[0].content.decode()
    assert any("x" * 2000 in text for text in stage.surface.heard("ann"))


async def test_details_that_could_not_be_shown_do_not_count_as_seen(stage: TelegramStage) -> None:
    """As in a group where bots may send no files: that is said, and a yes still wants them; a later look will do."""
    call = await stage.ask(args={"path": "🗑" * 2500})
    group = stage.surface
    refusal = Refuse(400, "Bad Request: not enough rights to send documents to the chat")
    await group.server.fail("sendDocument", refusal, times=9)
    await group.press("ann", call, Verb.DETAILS)
    await group.press("ann", call, Verb.APPROVE)
    blind = await stage.status(call)
    await group.server.heal()
    await group.press("ann", call, Verb.DETAILS)
    await group.press("ann", call, Verb.APPROVE)

    assert group.told("ann", "chat.not_shown", short=call.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [blind, await stage.status(call)]


async def test_what_happens_while_an_edit_waits_for_its_turn_is_in_it(stage: TelegramStage) -> None:
    """A group that may not be written to for a moment sees a call decided, run and done in one edit."""
    call = await stage.ask()
    group = stage.surface
    assert group.wires is not None
    group.wires.chat._delivery._pace.hold(group.room.id, 0.5)  # noqa: SLF001 - as a 429 would
    await group.press("ann", call, Verb.APPROVE)

    assert says(group.message(call).text, "by.approved")
    assert 1 == group.message(call).edits
    assert 1 == len(await group.server.calls("editMessageText"))
