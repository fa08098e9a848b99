"""The buttons of a question on Slack: one for each option, or one that opens a window for words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import CHOICES, Call, Status, Verb
from hitl.cards.wording import say

if TYPE_CHECKING:
    from tests.scenarios.slack.surface import SlackStage


async def stored(stage: SlackStage, call: Call) -> Call:
    """The question as it is now."""
    found = await stage.store.get(call.ref)
    assert found is not None
    return found


async def test_a_button_for_each_option(stage: SlackStage) -> None:
    """It has the option as its label, and answers with it; the card then has no buttons but Details."""
    call = await stage.question("Which stage?", "staging", "production")
    labels = list(stage.surface.message(call).labels)
    await stage.surface.press("ann", call, CHOICES[1])
    now = await stored(stage, call)

    assert ["staging", "production"] == labels[:2]
    assert (Status.SUCCEEDED, "production") == (now.status, now.output)
    assert "production" in stage.surface.message(call).shown.text
    assert "staging" not in stage.surface.message(call).labels


async def test_a_window_takes_words(stage: SlackStage) -> None:
    """Any words: a question, a condition or a no is an answer, too."""
    room = stage.surface
    call = await stage.question("What shall the branch be called?")
    await room.press("ann", call, Verb.APPROVE)
    window = await room.server.wait_view(room.people["ann"], say("window.title.answer"))
    await room.server.submit(room.people["ann"], window, {"reason": "no, why a branch?"})
    await room.settle()

    assert "no, why a branch?" == (await stored(stage, call)).output


async def test_nobody_is_asked_why_they_decline(stage: SlackStage) -> None:
    """No window opens."""
    call = await stage.question("Which stage?", "staging", "production")
    await stage.surface.press("ann", call, Verb.REJECT)

    assert Status.REJECTED is await stage.status(call)
    assert not stage.surface.server.world.views
