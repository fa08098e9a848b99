"""Why: asked in a window after a no, and before a yes that needs one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Action, Risk, Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from simulators.slack import Refuse
from tests.hitl.world import verdict
from tests.scenarios.harness import saying

if TYPE_CHECKING:
    from hitl.call import Call
    from tests.scenarios.slack.surface import SlackStage

WHY = "it is the only copy"
WINDOW = say("window.title.why")


def demand(stage: SlackStage, tool: str = "delete_file", risk: Risk = Risk.HIGH) -> None:
    """From now on a yes to this tool needs a reason."""
    stage.rules.verdicts[tool] = verdict(Action.APPROVE, risk, require_reason=True)


async def give(stage: SlackStage, who: str, text: str = WHY) -> None:
    """Fill in the window in front of that person."""
    room = stage.surface
    window = await room.server.wait_view(room.people[who], WINDOW)
    await room.server.submit(room.people[who], window, {"reason": text})
    await room.settle()


async def reason(stage: SlackStage, call: Call) -> str | None:
    """What is on record."""
    stored = await stage.store.get(call.ref)
    assert stored is not None
    return stored.reason


async def test_a_no_counts_before_it_is_explained(stage: SlackStage) -> None:
    """At once, and the explanation reaches the card and whoever asked."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)
    at_once = await stage.status(call)
    await give(stage, "ann")

    assert Status.REJECTED == at_once
    assert WHY == await reason(stage, call)
    assert WHY in stage.surface.message(call).shown.text
    posted = [one.shown.text for one in stage.surface.posted()]
    assert saying(posted, "agent.rejected.reason", short=call.short, reason=WHY)


async def test_a_window_that_is_closed_leaves_it_at_that(stage: SlackStage) -> None:
    """The no stands, without a reason."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)
    window = await stage.surface.server.wait_view(stage.surface.people["ann"], WINDOW)
    await stage.surface.server.close(stage.surface.people["ann"], window)
    await stage.surface.settle()

    assert Status.REJECTED == await stage.status(call)
    assert await reason(stage, call) is None


async def test_after_a_minute_it_is_too_late(stage: SlackStage) -> None:
    """Who still sends it is told so."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)
    await stage.wait(61)
    await give(stage, "ann")

    assert "" == await reason(stage, call)
    assert saying(stage.surface.whispers("ann"), Refusal.REASON_LATE, short=call.short)


async def test_a_yes_that_needs_one_waits_for_it(stage: SlackStage) -> None:
    """It commits only with the reason."""
    demand(stage)
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    between = await stage.status(call)
    await give(stage, "ann", "no risk at all")

    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]
    assert "no risk at all" == await reason(stage, call)


async def test_a_critical_one_is_confirmed_as_well(stage: SlackStage) -> None:
    """A reason is no second yes. With the second press it isn't asked for again."""
    demand(stage, "delete_files", Risk.CRITICAL)
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.press("ann", call, Verb.APPROVE)
    await give(stage, "ann")
    once = await stage.status(call)
    await stage.wait(2)
    await stage.surface.press("ann", call, Verb.APPROVE)

    assert [Status.PENDING, Status.SUCCEEDED] == [once, await stage.status(call)]


async def test_a_reason_after_somebody_elses_decision_is_told_so(stage: SlackStage) -> None:
    """It changes nothing."""
    demand(stage)
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    await stage.surface.press("bob", call, Verb.REJECT)
    await give(stage, "ann")

    assert Status.REJECTED == await stage.status(call)
    assert saying(stage.surface.whispers("ann"), Refusal.DECIDED, short=call.short)


async def test_where_no_window_opens_a_command_takes_it(stage: SlackStage) -> None:
    """The three seconds for a window may be over; then they are told what to write."""
    call = await stage.ask()
    await stage.surface.server.fail("views.open", Refuse("expired_trigger_id"))
    await stage.surface.press("ann", call, Verb.REJECT)
    told = stage.surface.whispers("ann")
    await stage.surface.command("ann", f"reject {call.short} {WHY}")

    assert saying(told, "window.why.reject.by_command", short=call.short)
    assert WHY == await reason(stage, call)


async def test_a_yes_takes_it_by_command_too(stage: SlackStage) -> None:
    """`/sayso approve REF REASON`."""
    demand(stage)
    call = await stage.ask()
    await stage.surface.command("ann", f"approve {call.short}")
    between = await stage.status(call)
    await stage.surface.command("ann", f"approve {call.short} because {WHY}")

    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]
    assert WHY == await reason(stage, call)
