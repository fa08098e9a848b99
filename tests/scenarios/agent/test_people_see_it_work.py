"""While the model makes an answer, people see that it works; while people are asked, they don't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulators.model import Reply
from simulators.slack import Refuse as SlackRefuse
from simulators.telegram import Refuse as TelegramRefuse
from tests.scenarios.agent.stages import FINE, deleting, planned, until

if TYPE_CHECKING:
    from tests.scenarios.agent.stages import Planned

METHODS = {"telegram": "sendChatAction", "slack": "assistant.threads.setStatus"}


def shown(plan: Planned, method: str) -> list[Any]:
    """The calls of that method."""
    surface: Any = plan.stage.surface
    return [call for call in surface.server.platform.calls if call.method == method]


@pytest.mark.parametrize("place", METHODS)
async def test_it_shows_that_it_works_until_it_answered(place: str) -> None:
    """Where the agent was spoken to. Nothing is shown any more while a card waits."""
    async with planned(place) as plan:
        plan.server.answers.clear()
        await plan.say("uma", "clean up the staging branches")

        async def seen() -> list[Any]:
            return shown(plan, METHODS[place])

        (begun, *_) = await until(seen)
        plan.says(Reply(calls=deleting("staging-1")), FINE)
        plan.server.answers.set()
        await plan.cards(1)

        if place == "slack":

            async def ended() -> bool:
                return bool(shown(plan, METHODS[place])[-1].params["status"] == "")

            await until(ended)
            assert begun.params["status"]
            assert plan.stage.surface.conversation.endswith(str(begun.params["thread_ts"]))
        else:
            assert "typing" == begun.params["action"]
        await plan.say("uma", "stop")
        await plan.idle()


@pytest.mark.parametrize("place", METHODS)
async def test_a_platform_that_refuses_costs_nothing(place: str) -> None:
    """The turn goes on, and the platform isn't asked again in it."""
    async with planned(place) as plan:
        surface: Any = plan.stage.surface
        refused = SlackRefuse("missing_scope") if place == "slack" else TelegramRefuse(400, "Bad Request")
        await surface.server.fail(METHODS[place], refused, times=99)
        plan.says(FINE)
        await plan.say("uma", "hello")
        await plan.idle()

        assert "All done." in plan.screen("uma")
