"""The service was down for a while; the agent and the clients of people reach it again at the same address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from tests.scenarios.across_a_restart import *  # noqa: F403 - the scenarios are what is wanted
from tests.scenarios.across_a_restart import restart

if TYPE_CHECKING:
    from tests.scenarios.http.surface import HttpStage


async def test_an_agent_waits_through_it(stage: HttpStage) -> None:
    """An agent that waited before it hears of a decision after it, and runs each approved call once."""
    calls = [await stage.ask(args={"path": path}) for path in "abc"]
    await stage.surface.press("ann", calls[0], Verb.APPROVE)
    await restart(stage)
    await stage.surface.press("ann", calls[1], Verb.REJECT)
    await restart(stage)
    await stage.surface.press("bob", calls[2], Verb.APPROVE)

    statuses = [await stage.status(call) for call in calls]
    assert [Status.SUCCEEDED, Status.REJECTED, Status.SUCCEEDED] == statuses
    assert [{"path": "a"}, {"path": "c"}] == stage.ran()


async def test_tokens_work_as_before(stage: HttpStage) -> None:
    """A token that was made before it says the same of its holder after it."""
    before = [(await client.get("/v1/me")).json() for client in stage.surface.clients.values()]
    await restart(stage)

    assert before == [(await client.get("/v1/me")).json() for client in stage.surface.clients.values()]
