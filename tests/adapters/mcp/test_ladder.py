"""How long a request waits for a person, by client and protocol, and what a client brings back."""

from __future__ import annotations

import pytest

from adapters.mcp.ladder import LEGS, WaitTimes, returning, state_of

REF = "01987654-3210-7abc-8def-0123456789ab"


@pytest.mark.parametrize("left_s", [30.0, 300.0, 400.0])
def test_rounds_together_outlast_the_time_that_a_person_has(left_s: float) -> None:
    """A client that follows ten rounds hears how its call ended, whenever that is."""
    waited = 0.0
    for leg in range(LEGS):
        waited += WaitTimes().one_request("somebody", left_s - waited, LEGS - leg)

    assert waited > left_s


@pytest.mark.parametrize(("client", "longest"), [("claude-code", 240), ("codex-mcp-client", 280), ("", 50)])
def test_no_request_waits_longer_than_its_client(client: str, longest: float) -> None:
    """Whatever time a person has, on either protocol."""
    assert longest == WaitTimes().one_request(client, 7 * 24 * 3600, LEGS) == WaitTimes().one_request(client, 60, None)


def test_the_last_round_has_no_other_behind_it() -> None:
    """So it answers with a result."""
    states = [state_of(REF, leg) for leg in range(LEGS)]

    assert [(REF, leg + 1) for leg in range(LEGS - 1)] == [returning(state) for state in states if state]
    assert states[-1] is None


@pytest.mark.parametrize("state", ["", REF, f"2.{REF}.1", f"1.{REF}.12", f"1.{REF}.1\n", f"1.{REF[1:]}.1"])
def test_anything_else_is_no_state(state: str) -> None:
    """What a client made up, or what another server gave it."""
    assert returning(state) is None
