"""Agent frameworks behind the gate, each with its own scripted model, against a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import ALONE, Installation, until
from tests.acceptance.making import Maker, install, maker
from tests.thirdparty.turns import FRAMEWORKS, Framework, Made, Turn

__all__ = ["install", "maker"]
pytestmark = [
    pytest.mark.thirdparty,
    pytest.mark.filterwarnings("default"),  # Others' code warns as it likes.
]

POLICY = """
version: 1
forbid:
  - {id: never, tool: pay, when: [{key: amount, op: gt, value: 1000}], message: Too much.}
rules:
  - {id: look, tool: look, action: allow}
  - {id: brief, tool: pay, when: [{key: amount, op: eq, value: 5}], action: approve, timeout_s: 5}
"""
PAY = Made("pay", {"amount": 42})


@pytest.fixture(scope="module")
def running(maker: Maker) -> Iterator[Installation]:
    """A running service with the policy above."""
    with maker.batch() as make:
        yield started(make)


def started(make: Callable[..., Installation]) -> Installation:
    """A service of its own with the policy above."""
    made = make(settings=f'policy = "shop"\npolicies = ["policies"]\n{ALONE}')
    (made.root / "policies").mkdir()
    (made.root / "policies" / "shop.yaml").write_text(POLICY)
    made.start()
    return made


@pytest.fixture(params=sorted(FRAMEWORKS))
def framework(request: pytest.FixtureRequest) -> Framework:
    """Each framework."""
    return FRAMEWORKS[request.param]


@pytest.fixture
def turn(running: Installation, tmp_path: Path) -> Turn:
    """A turn that is to come."""
    return Turn(running.socket, tmp_path)


async def decided(service: Installation, *answers: tuple[int, str, str | None]) -> dict[int, dict[str, Any]]:
    """Answer calls of `pay` as they come up, by amount; return what people saw of each."""
    seen = {}
    for amount, verb, reason in answers:

        def call(amount: int = amount) -> dict[str, Any] | None:
            return next((c for c in service.call("pending")["calls"] if c["args"].get("amount") == amount), None)

        seen[amount] = await asyncio.to_thread(until, call, f"a call for {amount}")
        service.call("decide", target=seen[amount]["ref"], verb=verb, reason=reason)
    return seen


async def test_what_the_policy_allows_runs_without_people(turn: Turn, framework: Framework) -> None:
    """And the model hears what the tool said."""
    await framework.begin(turn, [Made("look", {})])

    assert ([("look", None)], {"c1": "a room"}) == (turn.ran, turn.told)


async def test_an_approved_call_runs_as_people_saw_it(running: Installation, turn: Turn, framework: Framework) -> None:
    """Once; the record holds what came of it."""
    seen, _ = await asyncio.gather(decided(running, (42, "approve", None)), framework.begin(turn, [PAY]))

    assert ([("pay", 42)], {"c1": "paid 42 (none)"}) == (turn.ran, turn.told)
    call = running.call("show", target=seen[42]["ref"])["call"]
    assert ("succeeded", "paid 42 (none)") == (call["status"], call["output"])


async def test_a_rejected_call_does_not_run_and_the_model_hears_why(
    running: Installation, turn: Turn, framework: Framework
) -> None:
    """In the person's words."""
    await asyncio.gather(decided(running, (42, "reject", "not on a Friday")), framework.begin(turn, [PAY]))

    assert [] == turn.ran
    assert "not on a Friday" in turn.told["c1"]


async def test_a_denied_call_does_not_run(turn: Turn, framework: Framework) -> None:
    """The model hears the policy's words."""
    await framework.begin(turn, [Made("pay", {"amount": 5000})])

    assert [] == turn.ran
    assert "Too much" in turn.told["c1"]


async def test_a_call_that_nobody_answers_does_not_run(turn: Turn, framework: Framework) -> None:
    """After the policy's five seconds."""
    await framework.begin(turn, [Made("pay", {"amount": 5})])

    assert [] == turn.ran
    assert turn.told["c1"]


@pytest.mark.parametrize("parks", [False, True], ids=["waits", "parks"])
async def test_nothing_runs_while_the_service_is_away(tmp_path: Path, framework: Framework, *, parks: bool) -> None:
    """The model hears that nothing ran, and the turn goes on."""
    turn = Turn(tmp_path / "nowhere.sock", tmp_path, patience_s=0, parks=parks)
    turn.socket.touch()
    await framework.begin(turn, [PAY, Made("look", {}, "c2")])

    assert [] == turn.ran
    assert {"c1", "c2"} == turn.told.keys()


async def test_two_calls_of_one_turn_are_decided_alone(running: Installation, turn: Turn, framework: Framework) -> None:
    """One runs, the other doesn't, and each is told what came of it."""
    people = decided(running, (2, "reject", "not that one"), (1, "approve", None))
    await asyncio.gather(people, framework.begin(turn, [Made("pay", {"amount": 1}), Made("pay", {"amount": 2}, "c2")]))

    assert [("pay", 1)] == turn.ran
    assert "paid 1" in turn.told["c1"]
    assert "not that one" in turn.told["c2"]


async def test_people_see_what_coercion_makes_of_the_arguments(
    running: Installation, turn: Turn, framework: Framework
) -> None:
    """A model wrote `"42"` where the tool takes a number: people see 42, or the model is told to write it so."""
    made = framework.begin(turn, [Made("pay", {"amount": "42"})])
    if framework is FRAMEWORKS["openai-agents"]:
        await made
        assert [] == turn.ran
        assert turn.told["c1"]
        return
    seen, _ = await asyncio.gather(decided(running, (42, "approve", None)), made)

    assert [("pay", 42)] == turn.ran
    assert 42 == seen[42]["args"]["amount"]


async def test_a_turn_that_stopped_goes_on_after_a_restart_of_both(
    install: Callable[..., Installation], tmp_path: Path, framework: Framework
) -> None:
    """Going on decides nothing: before people have answered it stops again. Then what was approved runs once."""
    service = started(install)
    turn = Turn(service.socket, tmp_path, parks=True)
    await framework.begin(turn, [PAY, Made("pay", {"amount": 7}, "c2")])
    assert (True, []) == (turn.stopped, turn.ran)

    service.kill()
    service.start()
    await framework.go_on(turn)
    assert (True, []) == (turn.stopped, turn.ran)

    await decided(service, (42, "approve", None), (7, "reject", "too little"))
    await framework.go_on(turn)

    assert (False, [("pay", 42)]) == (turn.stopped, turn.ran)
    assert "paid 42" in turn.told["c1"]
    assert "too little" in turn.told["c2"]
    with service.database() as database:
        assert (2,) == database.execute("SELECT count(*) FROM calls").fetchone()
