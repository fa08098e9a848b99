"""Every end of a call, as those see it who wait over HTTP: the agent, and each client that shows its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Reply, ReplyKind, Status, Verb
from hitl.cards.card import outcome_for_agent
from hitl.outcomes import Refusal
from tests.scenarios.ends import ENDS
from tests.scenarios.http.surface import ELSEWHERE
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from tests.scenarios.http.surface import HttpStage

#: The service doesn't look at the tools of a call that its caller runs itself.
CALLERS = [way for way in ENDS if way != "changed"]


@pytest.mark.parametrize("way", CALLERS)
async def test_the_card_and_the_agent_are_told_how_it_ended(stage: HttpStage, way: str) -> None:
    """The card holds the outcome and offers no decision; the agent's last answer is the sentence of that end."""
    call, end = await stage.ask(), ENDS[way]
    await end.act(stage, call)

    assert end.status == await stage.status(call)
    assert end.is_on(stage.surface.message(call).text)
    assert () == stage.surface.message(call).labels
    assert outcome_for_agent(await stored(stage, call)) == stage.last("uma")


@pytest.mark.parametrize("way", CALLERS)
async def test_a_decision_after_the_end_changes_nothing(stage: HttpStage, way: str) -> None:
    """An approver is told what it came to; for an unlisted approver's token there is still no such call."""
    call = await stage.ask()
    await ENDS[way].act(stage, call)
    status = await stage.status(call)
    for who in ("ann", "sam"):
        await stage.surface.press(who, call, Verb.APPROVE)

    assert any(says(stage.last("ann"), refusal, short=call.short) for refusal in (Refusal.DECIDED, Refusal.EXPIRED))
    assert says(stage.last("sam"), Refusal.UNKNOWN_NAME)
    assert status == await stage.status(call)


@pytest.mark.parametrize("way", CALLERS)
async def test_the_harombe_result_tells_the_same_end(stage: HttpStage, way: str) -> None:
    """`approved_by` is set only when somebody's yes let the call run; the agent's sentence is the same."""
    call = await stage.ask()
    await ENDS[way].act(stage, call)
    status = await stage.status(call)
    told = (await stage.surface.clients["uma"].get(f"/hitl/result/{call.ref}")).json()
    ended = await stored(stage, call)

    assert (call.ref, outcome_for_agent(ended)) == (told["approval_id"], told["message"])
    assert (told["approved_by"] is not None) == (told["status"] == "approved")
    assert (told["status"] == "approved") == (
        status in {Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT, Status.UNKNOWN}
    )


async def test_a_reason_that_follows_a_button_elsewhere_reaches_the_agent(stage: HttpStage) -> None:
    """A rejection by a button in a chat comes at once, without a reason; the reason comes when it is given."""
    call = await stage.ask(routes=[ELSEWHERE])
    await elsewhere(stage, call, None)
    between = list(stage.surface.heard("uma"))
    await elsewhere(stage, call, "it is the only copy")

    assert says(between[-1], "agent.rejected.asked", short=call.short)
    assert [*between, outcome_for_agent(await stored(stage, call))] == stage.surface.heard("uma")
    assert says(stage.last("uma"), "agent.rejected.reason", reason="it is the only copy")


async def test_no_reason_within_its_time_is_told_too(stage: HttpStage) -> None:
    """An agent that waits for the reason of a rejection waits a minute at most."""
    call = await stage.ask(routes=[ELSEWHERE])
    await elsewhere(stage, call, None)
    await stage.wait(60)

    assert says(stage.last("uma"), "agent.rejected.no_reason", short=call.short)


async def test_a_decision_without_a_reason_needs_none(stage: HttpStage) -> None:
    """Who rejects over HTTP said all that they wanted to: nobody waits for a reason."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)

    assert Status.REJECTED == await stage.status(call)
    assert [outcome_for_agent(await stored(stage, call))] == stage.surface.heard("uma")
    assert not (await stored(stage, call)).awaits_reason


async def stored(stage: HttpStage, call: Call) -> Call:
    """The call as it is now."""
    now = await stage.store.get(call.ref)
    assert now is not None
    return now


async def elsewhere(stage: HttpStage, call: Call, reason: str | None) -> None:
    """Ann presses Reject in a chat, or gives the reason of her rejection there."""
    kind = ReplyKind.BUTTON if reason is None else ReplyKind.COMMAND
    who = stage.surface.identities["ann"]
    reply = Reply(who, "telegram", ELSEWHERE, kind, verb=Verb.REJECT, target=call.ref, reason=reason)
    await stage.service.decide(reply)
    await stage.surface.settle()
