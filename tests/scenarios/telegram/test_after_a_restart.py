"""The service was down for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from tests.scenarios.across_a_restart import *  # noqa: F403 - the scenarios are what is wanted
from tests.scenarios.across_a_restart import restart
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage


async def test_what_happened_meanwhile_is_made_up_for(stage: TelegramStage) -> None:
    """Presses, replies and commands that Telegram kept, in their order."""
    calls = [await stage.ask(args={"path": name}) for name in "abc"]
    group = stage.surface
    await stage.halt()
    await group.server.press(group.people["ann"], group.message(calls[0]), "Approve")
    await group.server.say(group.people["bob"], group.room, "no", reply_to=group.message(calls[1]))
    await group.server.say(group.people["ann"], group.room, f"/approve {calls[2].short}")
    await stage.start()
    await group.settle()

    statuses = [await stage.status(call) for call in calls]
    assert [Status.SUCCEEDED, Status.REJECTED, Status.SUCCEEDED] == statuses


async def test_who_pressed_in_vain_is_told_to_press_again(stage: TelegramStage) -> None:
    """Telegram drops a press after 150 seconds: the open card says so, and the next press counts."""
    call = await stage.ask()
    group = stage.surface
    await stage.halt()
    await group.server.press(group.people["ann"], group.message(call), "Approve")
    await group.server.advance(151)
    await stage.start()
    await group.settle()

    assert Status.PENDING == await stage.status(call)
    assert says(group.message(call).text, "card.refreshed")
    assert 3 == len(group.message(call).labels)
    await group.press("ann", call, Verb.APPROVE)
    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_card_that_was_deleted_meanwhile_is_posted_anew(stage: TelegramStage) -> None:
    """So that it can be answered; a press on the new one is known for the card's."""
    call = await stage.ask()
    group = stage.surface
    await stage.halt()
    await group.server.delete(group.message(call))
    await stage.start()
    await group.settle()
    await group.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert says(group.message(call).text, "by.approved")
    assert () == group.message(call).labels


async def test_an_edited_card_names_people_as_before(stage: TelegramStage) -> None:
    """Names aren't stored: who asked and who may approve are looked up again before the first edit."""
    call = await stage.ask()
    before = stage.surface.message(call).text
    await restart(stage)
    after = stage.surface.message(call).text

    assert before != after
    assert before.splitlines()[0] == after.splitlines()[0]
    assert next(line for line in before.splitlines() if "Ann" in line) in after
