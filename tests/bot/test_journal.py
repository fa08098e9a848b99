"""What the log tells of requests."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from bot.journal import Journal
from hitl.call import Decision, Result, State
from tests.hitl.world import World

if TYPE_CHECKING:
    from hitl.call import Call


def steps(caplog: pytest.LogCaptureFixture, *calls: Call) -> list[tuple[str, Any]]:
    """What is logged while a call changes so: each event with what it came to."""
    caplog.set_level(logging.INFO, logger="bot.journal")
    journal = Journal()
    for call in calls:
        journal.changed(call)
    facts = [(record.msg, record.args) for record in caplog.records if isinstance(record.args, Mapping)]
    return [(event, told.get("decision") or told.get("result") or told["by"]) for event, told in facts]


async def test_each_step_of_a_request_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """Asked, decided, ended: each once, however often the call changes in between."""
    asked = await World().ask()
    decided = asked.evolve(version=2, state=State.EXECUTING, decision=Decision.APPROVED, decided_by="ann")
    ended = decided.evolve(version=4, state=State.COMPLETED, result=Result.SUCCEEDED)

    assert [
        ("request.asked", asked.requester),
        ("request.decided", "approved"),
        ("request.ended", "succeeded"),
    ] == steps(caplog, asked, asked.evolve(version=2), decided, decided.evolve(version=3), ended, ended)


async def test_a_request_of_an_earlier_process_is_not_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    """After a restart the decision alone is new."""
    asked = await World().ask()
    decided = asked.evolve(version=2, state=State.IDLE, decision=Decision.REJECTED, decided_by="ann")

    assert [("request.decided", "rejected")] == steps(caplog, decided)


async def test_no_line_holds_what_may_be_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Arguments, notes, reasons and output stay on record alone."""
    asked = await World().ask(args={"path": "hidden-1"}, note="hidden-2")
    told = asked.evolve(
        version=3,
        state=State.COMPLETED,
        decision=Decision.APPROVED,
        decided_by="ann",
        reason="hidden-3",
        result=Result.SUCCEEDED,
        output="hidden-4",
    )
    steps(caplog, asked, told)

    assert "hidden" not in " ".join(str(record.args) for record in caplog.records)
