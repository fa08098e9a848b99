"""Cards stay true: on every end, where they were deleted, and where Slack refuses, fails or asks for a pause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hitl.model import Status, Verb
from hitl.testing import ScriptedExecutor
from tests.scenarios.ends import ENDS
from tests.wire.slack import DropAnswer, Garbage, Refuse, Reset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.model import Call, Lease, Ran, ToolInfo
    from tests.scenarios.slack.surface import SlackStage
    from tests.wire.slack.faults import Fault

FAULTS: dict[str, Fault] = {
    "rate limit": Refuse("ratelimited", status=429, retry_after=1),
    "server error": Refuse("internal_error", status=500),
    "by name": Refuse("fatal_error"),
    "reset": Reset(),
    "garbage": Garbage(),
}


async def posted(stage: SlackStage, call: Call) -> None:
    """Until the card is there, however often it must be tried; time goes by meanwhile."""
    async with asyncio.timeout(10):
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
    assert end.says in card.shown.text
    assert () == card.labels
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

    assert "was decided already" in late or "is over: time was up" in late
    assert ".." not in late
    assert "not on the list" in stranger
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


async def test_a_card_whose_answer_was_lost_is_adopted(stage: SlackStage) -> None:
    """A press on either copy counts, and the one that was pressed tells the truth."""
    await stage.surface.server.fail("chat.postMessage", DropAnswer())
    call = await stage.submit()
    await posted(stage, call)
    await stage.surface.settle()
    lost, *_ = stage.surface.cards(call)
    await stage.surface.pressed("ann", lost, Verb.APPROVE)
    await stage.surface.settle()

    assert Status.SUCCEEDED == await stage.status(call)
    assert "approved by" in stage.surface.cards(call)[0].shown.text


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

    Also where Slack fails just then.
    """
    slow = stage.executor = Slow(stage.executor.tools)
    await stage.again()
    await stage.surface.server.fail("chat.postMessage", DropAnswer())
    call = await stage.submit()
    await posted(stage, call)
    lost, _ = stage.surface.cards(call)
    await stage.surface.pressed("ann", lost, Verb.APPROVE)
    await shows(stage, call, "running")
    await stage.surface.server.fail("chat.update", Refuse("fatal_error"), times=2)
    slow.go.set()
    await shows(stage, call, "done, approved by")

    assert Status.SUCCEEDED == await stage.status(call)
    assert 1 == len(stage.ran())


async def shows(stage: SlackStage, call: Call, text: str) -> None:
    """Until both cards say so."""
    async with asyncio.timeout(10):
        while not all(text in card.shown.text for card in stage.surface.cards(call)):
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


@pytest.mark.parametrize("error", ["missing_scope", "cant_update_message", "message_not_found"])
async def test_where_a_card_cannot_be_edited_its_outcome_is_said(stage: SlackStage, error: str) -> None:
    """The decision holds."""
    call = await stage.ask()
    await stage.surface.server.fail("chat.update", Refuse(error), times=9)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert Status.SUCCEEDED == await stage.status(call)
    assert any(f"{call.short}: done, approved by" in one.shown.text for one in stage.surface.posted())


async def test_a_card_that_was_deleted_is_decided_all_the_same(stage: SlackStage) -> None:
    """By a press that was on its way."""
    call = await stage.ask()
    card = stage.surface.message(call)
    await stage.surface.server.delete(stage.surface.people["ann"], card)
    await stage.surface.pressed("ann", card, Verb.APPROVE)
    await stage.surface.settle()

    assert Status.SUCCEEDED == await stage.status(call)
    assert any(f"{call.short}: done, approved by" in one.shown.text for one in stage.surface.posted())


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
