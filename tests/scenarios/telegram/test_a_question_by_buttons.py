"""The buttons of a question on Telegram: one for each option, or one that opens a reply field for words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import CHOICES, Call, Status, Verb
from hitl.cards.wording import say

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage


async def stored(stage: TelegramStage, call: Call) -> Call:
    """The question as it is now."""
    found = await stage.store.get(call.ref)
    assert found is not None
    return found


async def test_a_button_for_each_option(stage: TelegramStage) -> None:
    """It answers with its option, and the card shows who answered what."""
    call = await stage.question("Which stage?", "staging", "production")
    await stage.surface.press("bob", call, CHOICES[0])
    now = await stored(stage, call)

    assert (Status.SUCCEEDED, "staging") == (now.status, now.output)
    assert "staging" in stage.surface.message(call).text


async def test_a_reply_field_takes_any_words_of_that_person(stage: TelegramStage) -> None:
    """Words that would decide no call: a question, a condition or a no is an answer here."""
    group = stage.surface
    call = await stage.question("What shall the branch be called?")
    await group.press("ann", call, Verb.APPROVE)
    prompt = await group.server.wait_message(group.room, say("answer.question.prompt", short=call.short))
    await group.server.say(group.people["ann"], group.room, "no, why a branch?", reply_to=prompt)
    await group.settle()

    assert "no, why a branch?" == (await stored(stage, call)).output


async def test_a_stranger_presses_in_vain(stage: TelegramStage) -> None:
    """The buttons are for those who may answer."""
    call = await stage.question("Which stage?", "staging", "production")
    await stage.surface.press("sam", call, CHOICES[0])

    assert Status.PENDING is await stage.status(call)
