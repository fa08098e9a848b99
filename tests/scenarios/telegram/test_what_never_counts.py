"""What comes from nobody, from elsewhere, or from a time before: refused, told, and on record."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Refusal
from hitl.proof.keyring import ButtonData
from hitl.records import replace
from hitl.testing import ScriptedExecutor
from simulators.telegram.state import CHANNEL_BOT
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.call import Ask, Call, Preparation
    from tests.scenarios.telegram.surface import TelegramStage


async def forwarded(stage: TelegramStage, _: Call) -> None:
    """Ann forwards an old "yes" of hers to the bot, in private."""
    group = stage.surface
    private = await group.server.private(group.people["ann"], group.bot.id)
    old = await group.server.say(group.people["ann"], group.room, "yes")
    await group.server.forward(group.people["ann"], old, private)


async def edited(stage: TelegramStage, call: Call) -> None:
    """Ann's "hm" under the card becomes a "yes"."""
    group = stage.surface
    said = await group.server.say(group.people["ann"], group.room, "hm", reply_to=group.message(call))
    await group.settle()
    await group.server.edit(group.people["ann"], said, "yes")


async def anonymous(stage: TelegramStage, call: Call) -> None:
    """An administrator who hides answers the card."""
    group = stage.surface
    await group.server.promote(group.room, group.people["ann"], anonymous=True)
    await group.server.say(group.people["ann"], group.room, "yes", reply_to=group.message(call), anonymous=True)


async def anonymous_command(stage: TelegramStage, call: Call) -> None:
    """An administrator who hides names the card."""
    group = stage.surface
    await group.server.promote(group.room, group.people["ann"], anonymous=True)
    await group.server.say(group.people["ann"], group.room, f"/approve {call.short}", anonymous=True)


async def in_a_channels_name(stage: TelegramStage, call: Call) -> None:
    """Somebody speaks as a channel."""
    group = stage.surface
    card = group.message(call)
    channel = await group.server.channel("News", members=[group.people["ann"]])
    group.server.platform.post(group.room, CHANNEL_BOT, sender_chat=channel.id, text="yes", reply_to=card.id)


@pytest.mark.parametrize(
    ("act", "what"),
    [
        (forwarded, "chat.forwarded"),
        (edited, "chat.edited"),
        (anonymous, "chat.anonymous"),
        (anonymous_command, "chat.anonymous"),
        (in_a_channels_name, "chat.channel"),
    ],
)
async def test_it_is_told_and_on_record(
    stage: TelegramStage, act: Callable[[TelegramStage, Call], Awaitable[None]], what: str
) -> None:
    """Ann may decide, but not like that."""
    call = await stage.ask()
    await act(stage, call)
    await stage.surface.settle()
    lines = [line.event for ref in (call.ref, "") for line in await stage.store.history(ref)]
    told = [html.unescape(sent.params["text"]) for sent in await stage.surface.server.calls("sendMessage")][1:]

    assert Status.PENDING == await stage.status(call)
    assert "barred" in lines
    assert saying(told, what)


@pytest.mark.parametrize("words", ["yes", "no because of me", "@{me} list", "/approve {short}"])
async def test_a_bots_word_is_on_record_and_not_answered(stage: TelegramStage, words: str) -> None:
    """A bot's reply to the card, its ref or its command gets no answer, because two bots would never stop."""
    call = await stage.ask()
    group = stage.surface
    other = await group.server.bot("other_bot")
    await group.server.add_bot(group.room, other.user)
    text = words.format(me=group.bot.user.username, short=call.short)
    before = await group.server.calls("sendMessage")
    await group.server.say(other.user, group.room, text, reply_to=group.message(call))
    await group.settle()

    assert Status.PENDING == await stage.status(call)
    assert "barred" == (await stage.events(call))[-1]
    assert before == await group.server.calls("sendMessage")


async def test_a_press_by_nobody_is_refused(stage: TelegramStage) -> None:
    """An anonymous administrator's press names the group, not a person."""
    call = await stage.ask()
    group = stage.surface
    press = await group.server.press(group.people["ann"], group.message(call), "Approve", anonymous=True)
    answer = await group.server.wait_answer(press)

    assert (True, say("chat.bot")) == (answer.show_alert, answer.text)
    assert Status.PENDING == await stage.status(call)


@pytest.mark.parametrize("data", ["", "x", "A" * 46, "A" * 64, "yes", "☃"])
async def test_made_up_data_is_refused(stage: TelegramStage, data: str) -> None:
    """Clients send what they like; the person is told in private, and it is on record."""
    call = await stage.ask()
    group = stage.surface
    press = await group.server.press(group.people["ann"], group.message(call), data=data)
    answer = await group.server.wait_answer(press)
    await group.settle()

    assert (True, say(Refusal.BUTTON)) == (answer.show_alert, answer.text)
    assert "forged" == (await stage.events(call))[-1]
    assert Status.PENDING == await stage.status(call)


@pytest.mark.parametrize("changed", [{"verb": Verb.APPROVE}, {"mac": bytes(16)}])
async def test_a_button_that_we_did_not_make_is_refused(stage: TelegramStage, changed: dict[str, Any]) -> None:
    """A press on the right card that names the right call decides nothing if its data isn't as we made it.

    An approver's client that turns a Reject button into an Approve button gets no approval.
    """
    call = await stage.ask()
    group = stage.surface
    forged = replace(ButtonData.unpack(group.data(call, Verb.REJECT)), **changed).pack()
    press = await group.server.press(group.people["ann"], group.message(call), data=forged)

    assert says((await group.server.wait_answer(press)).text, "chat.forged")
    assert "forged" == (await stage.events(call))[-1]
    assert Status.PENDING == await stage.status(call)


async def test_another_cards_data_is_refused(stage: TelegramStage) -> None:
    """Who presses one card decides that one, whatever the client sends."""
    seen, other = await stage.ask(args={"path": "a"}), await stage.ask(args={"path": "b"})
    group = stage.surface
    data = group.data(other, Verb.APPROVE)
    press = await group.server.press(group.people["ann"], group.message(seen), data=data)

    assert say("chat.forged") == (await group.server.wait_answer(press)).text
    assert [Status.PENDING] * 2 == [await stage.status(seen), await stage.status(other)]


async def test_a_button_of_another_chat_is_refused(stage: TelegramStage) -> None:
    """Data is bound to the chat that its card was posted to."""
    call = await stage.ask()
    group = stage.surface
    private = await group.server.private(group.people["ann"], group.bot.id)
    await group.server.say(group.people["ann"], private, "/help")
    elsewhere = await group.server.wait_message(private, "/whoami")
    press = await group.server.press(group.people["ann"], elsewhere, data=group.data(call, Verb.APPROVE), chat=private)

    assert say("chat.forged") == (await group.server.wait_answer(press)).text
    assert Status.PENDING == await stage.status(call)


async def test_a_call_is_decided_where_it_is_asked_about(stage: TelegramStage) -> None:
    """A command in a private chat doesn't decide a call of the group."""
    call = await stage.ask()
    group = stage.surface
    private = await group.server.private(group.people["ann"], group.bot.id)
    await group.server.say(group.people["ann"], private, f"/approve {call.short}")
    told = await group.server.wait_message(private, call.short)

    assert say(Refusal.PLACE, short=call.short) == told.text
    assert Status.PENDING == await stage.status(call)


async def test_a_press_without_its_message_names_no_chat(stage: TelegramStage) -> None:
    """Telegram may leave the message out; then nothing shows that the card is this chat's."""
    call = await stage.ask()
    group = stage.surface
    press = await group.server.press(group.people["ann"], group.message(call), "Approve", shape="inline")

    assert say("chat.forged") == (await group.server.wait_answer(press)).text
    assert Status.PENDING == await stage.status(call)


async def test_a_card_too_old_to_be_seen_can_still_be_pressed(stage: TelegramStage) -> None:
    """Telegram says no more of it than its number; that is enough."""
    call = await stage.ask()
    group = stage.surface
    await group.server.press(group.people["ann"], group.message(call), "Approve", shape="inaccessible")
    await group.settle()

    assert Status.SUCCEEDED == await stage.status(call)


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
async def test_a_press_on_what_is_over_is_told_so(stage: TelegramStage, verb: Verb) -> None:
    """Once, with who was first."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    await stage.surface.press("bob", call, verb)
    answers = await stage.surface.server.calls("answerCallbackQuery")

    assert 2 == len(answers)
    by = stage.service.gate.names.of(stage.surface.identities["ann"])
    outcome = say("outcome.succeeded", how=say("outcome.how.approved"), by=by)
    assert says(answers[-1].params["text"], Refusal.DECIDED, short=call.short, outcome=outcome)


async def test_a_stranger_gets_no_public_answer(stage: TelegramStage) -> None:
    """Replies to a card are on record. The group hears nothing of it, and who never wrote to the bot can't be told."""
    call = await stage.ask()
    for _ in range(5):
        await stage.surface.answer("sam", call, "yes")

    assert [] == saying(stage.surface.heard("sam"), Refusal.STRANGER)
    assert ["refused"] * 5 == (await stage.events(call))[-5:]


async def test_a_reaction_taken_back_decides_nothing(stage: TelegramStage) -> None:
    """Nor does one on another message, or one that is no yes or no."""
    call = await stage.ask()
    group = stage.surface
    card = group.message(call)
    await group.server.react(group.people["ann"], card, "🤔")
    await group.server.react(group.people["ann"], card, remove=True)
    await group.server.say(group.people["ann"], group.room, f"@{group.bot.user.username} hello")
    await group.settle()
    await group.server.react(group.people["ann"], group.posted()[-1], "👍")
    await group.settle()

    assert Status.PENDING == await stage.status(call)


async def test_a_reaction_by_nobody_decides_nothing(stage: TelegramStage) -> None:
    """An administrator who hides can't be told from another."""
    call = await stage.ask()
    group = stage.surface
    await group.server.promote(group.room, group.people["ann"], anonymous=True)
    await group.server.react(group.people["ann"], group.message(call), "👍", anonymous=True)
    await group.settle()

    assert Status.PENDING == await stage.status(call)
    assert "barred" == (await stage.events(call))[-1]


@pytest.mark.parametrize("text", ["yes", "yes do it", "ok", "👍"])
async def test_a_yes_that_was_meant_for_somebody_else_decides_nothing(stage: TelegramStage, text: str) -> None:
    """Ann answers Bob, or the room, while a card is open; she is asked at most once whether it was meant."""
    call = await stage.ask()
    group = stage.surface
    asked = await group.server.say(group.people["bob"], group.room, "Lunch?")
    await group.server.say(group.people["ann"], group.room, text, reply_to=asked)
    await group.server.say(group.people["ann"], group.room, text)
    await group.settle()

    assert Status.PENDING == await stage.status(call)
    assert len(group.posted()) <= 2


async def test_a_command_for_another_bot_is_not_ours(stage: TelegramStage) -> None:
    """Nor is it answered."""
    call = await stage.ask()
    group = stage.surface
    await group.server.say(group.people["ann"], group.room, f"/approve@other_bot {call.short}")
    await group.settle()

    assert Status.PENDING == await stage.status(call)
    assert 1 == len(group.posted())


async def test_a_list_of_calls_is_no_card(stage: TelegramStage) -> None:
    """A yes to a message that names two calls points to neither."""
    calls = [await stage.ask(args={"path": name}) for name in ("a", "b")]
    group = stage.surface
    await group.server.say(group.people["ann"], group.room, f"/pending@{group.bot.user.username}")
    listed = await group.server.wait_message(group.room, calls[0].short, after=group.message(calls[1]).id)
    await group.server.say(group.people["ann"], group.room, "yes", reply_to=listed)
    await group.settle()

    assert all(call.short in listed.text for call in calls)
    assert [Status.PENDING] * 2 == [await stage.status(call) for call in calls]


class Missing(ScriptedExecutor):
    """A workspace in which nothing lies."""

    async def prepare(self, ask: Ask) -> Preparation:
        """Says so, in the words of whoever asked."""
        raise InvalidConfirmation(say("path.absent", path=ask.args["path"]))


@pytest.mark.parametrize("path", ["{short}", "#{short}", "a/{short}.txt", "see:{short}"])
async def test_a_ref_in_an_askers_words_that_we_repeat_points_to_nothing(stage: TelegramStage, path: str) -> None:
    """Uma asks for a file that has the name of her waiting call: a yes to our answer is none to the call."""
    call = await stage.ask()
    group = stage.surface
    stage.service.gate.executor = Missing(stage.executor.tools)
    await group.say("uma", f"delete {path.format(short=call.short)}")
    repeated = await group.server.wait_message(group.room, say("path.absent", path=path.format(short=call.short)))
    await group.server.say(group.people["ann"], group.room, "ok", reply_to=repeated)
    await group.settle()

    assert call.short in repeated.text
    assert Status.PENDING == await stage.status(call)


async def test_a_ref_that_a_stranger_asks_for_points_to_nothing(stage: TelegramStage) -> None:
    """Sam may not see the call, and is told that there is none: a yes to that is none to the call."""
    call = await stage.ask()
    group = stage.surface
    await group.server.say(group.people["sam"], group.room, f"/show@{group.bot.user.username} {call.short}")
    await group.settle()
    told = group.posted()[-1]
    await group.server.say(group.people["ann"], group.room, "ok", reply_to=told)
    await group.settle()

    assert call.short in told.text
    assert Status.PENDING == await stage.status(call)
