"""The service killed on the way of a press on Slack, and started again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hitl.cards.wording import say
from hitl.proof.chain import verify
from simulators.slack import SlackServer
from tests.acceptance.installation import until
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.slack import Message
    from tests.acceptance.installation import Installation

pytestmark = pytest.mark.long

RUN = "run echo ran >> out.txt"
LABEL = say("button.approve")
SETTINGS = """
requesters = ["slack:{team}/{ann}"]
approvers = ["slack:{team}/{ann}"]

[conversations."slack:{team}/{ann}"]
self_approval = "high"

[slack]
api = "{api}"
pace = 0
connections = 1
"""
#: The message that asks is the first event, the card's own echo the second, the press the third. What was recorded is
#: decided by the next start; a press that wasn't is one that Slack shows as failed, and the person presses again.
POINTS = {"events.received:3": True, "events.recorded:3": False, "intake.handling:3": False, "gate.finished": False}


@pytest.mark.parametrize("point", POINTS)
async def test_a_death_on_the_way_runs_nothing_twice(install: Callable[..., Installation], point: str) -> None:
    """One call, one run, one card that tells the truth."""
    async with SlackServer() as server:
        app, ann = await server.app(socket_mode=True), await server.user("Ann")
        settings = SETTINGS.format(team=app.team_id, ann=ann.id, api=server.api_url)
        tokens = {"SAYSO_SLACK__BOT_TOKEN": app.bot_token, "SAYSO_SLACK__APP_TOKEN": app.app_token}
        service = install(settings=settings, environment=tokens)
        try:
            await asyncio.to_thread(service.start, dies_at=point)
            await server.wait_connected(app, timeout=PATIENCE_S)
            await server.say(ann, app, RUN)
            room = await server.direct(ann, app)
            card = await server.wait_message(room, button=LABEL, timeout=PATIENCE_S)
            await server.wait_drained(PATIENCE_S)
            await server.press(ann, card, LABEL)
            assert -9 == await asyncio.to_thread(service.wait)
            await asyncio.to_thread(service.start)
            await server.wait_connected(app, timeout=PATIENCE_S)
            if POINTS[point]:
                await server.press(ann, card, LABEL)
            done = say("end.sign.done")
            await server.wait_message(room, done, edits=1, timeout=PATIENCE_S)
            await asyncio.to_thread(until, lambda: over(service), "the end of the run")
            check(service, [one for one in room.messages.values() if one.labels or one.history])
        finally:
            await asyncio.to_thread(service.close)


def over(service: Installation) -> bool:
    """Whether the call's run has ended."""
    with service.database() as database:
        (left,) = database.execute("select count(*) from calls where finished_at is null").fetchone()
    return not left


def check(service: Installation, cards: list[Message]) -> None:
    """What must be true afterwards."""
    with service.database() as database:
        calls = database.execute("select decision, result from calls").fetchall()

    assert [("approved", "succeeded")] == [tuple(call) for call in calls]
    assert 1 == len(service.lines())
    assert 1 == len(cards)
    assert {None} == {verify(service.keys, chain) for chain in service.chains().values()}
