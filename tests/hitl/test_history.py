"""The record told: each line is of one kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hitl.call import Call, Decision, Event
from hitl.history import EVENT_TYPES, MOST, counted
from hitl.testing import a_call

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize("event", Event)
def test_every_event_is_of_one_kind(event: Event) -> None:
    """A search for a kind neither misses a line nor finds one twice."""
    assert 1 == sum(event in kind for kind in EVENT_TYPES.values())


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (Event.CREDENTIAL_MADE, "hitl_service"),
        (Event.CREDENTIAL_REVOKED, "hitl_service"),
        (Event.NOT_SHOWN, "hitl_delivery"),
        (Event.UNCLEAR, "hitl_reply"),
    ],
)
def test_a_token_or_a_failed_post_is_no_reply(event: Event, kind: str) -> None:
    """Only what a person did with a card is one."""
    assert event in EVENT_TYPES[kind]


def ended(tool: str, decision: Decision, ran_s: float | None = None) -> Call:
    """A request of a tool that was decided at once; with `ran_s` its run ended so many seconds later."""
    finished = None if ran_s is None else NOW + timedelta(seconds=ran_s)
    return a_call(NOW, tool=tool, decision=decision, decided_at=NOW, finished_at=finished)


def test_a_tool_that_is_asked_for_rarely_is_in_the_lists_of_the_worst() -> None:
    """However many other tools there are: the short lists are by denials, by silence and by time, not by requests."""
    usual = [ended(f"tool{number}", Decision.APPROVED, 1) for number in range(25) for _ in range(9)]
    rare = [
        *(ended("drop", Decision.DENIED), ended("drop", Decision.REJECTED), ended("drop", Decision.APPROVED)),
        *(
            ended("page", Decision.EXPIRED),
            ended("page", Decision.UNDELIVERABLE),
            ended("build", Decision.APPROVED, 90),
        ),
    ]
    told = counted([*usual, *rare])

    assert [{"tool": "drop", "count": 2, "requests": 3, "rate": 0.6667}] == told["most_denied"]
    assert [{"tool": "page", "count": 2, "requests": 2, "rate": 1.0}] == told["most_expired"]
    assert {"tool": "build", "p50": 90.0, "p95": 90.0} == told["slowest"][0]
    assert MOST == len(told["slowest"])
    assert {"denied": 0.3333, "rejected": 0.3333, "approved": 0.3333} == told["by_tool"]["drop"]["rates"]
