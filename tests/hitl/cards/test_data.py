"""A call as data for programs: everything they may know, and no secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl.call import Call, Claim, Decision, Result, Runs, State, Verb
from hitl.cards.data import full_view, view
from hitl.cards.wording import say
from hitl.proof.chain import verify
from hitl.testing import a_call
from tests.hitl.world import ANN, CLAIM, NOON, READ, SECRET, UMA, World

TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
EVERYWHERE: dict[str, Any] = {
    "args": json.dumps({"text": TOKEN, "deep": [{"password": "hunter2hunter2"}]}).encode(),
    "sentence": f"sends {TOKEN}",
    "preview": f"+{TOKEN}",
    "note": TOKEN,
    "output": f"said {TOKEN}",
    "error": f"failed on {TOKEN}",
    "reason": f"it holds {TOKEN}",
}


def is_json(value: Any) -> bool:
    """Whether it survives being written and read."""
    return bool(json.loads(json.dumps(value)) == value)


@pytest.mark.parametrize(
    "state",
    [
        {"state": State.AWAITING},
        {"state": State.IDLE, "decision": Decision.REJECTED},
        {"state": State.IDLE, "decision": Decision.UNDELIVERABLE},
        {"state": State.ERROR, "decision": Decision.APPROVED, "result": Result.FAILED},
    ],
)
def test_secrets_in_a_call_are_masked(state: dict[str, Any]) -> None:
    """Wherever one was written, no view shows it, whatever became of the call."""
    call = a_call(NOON, **(EVERYWHERE | state))
    text = json.dumps(full_view(call, []))

    assert TOKEN[4:] not in text
    assert "hunter2" not in text
    assert "[masked" in text


async def test_secrets_in_the_record_are_masked(world: World) -> None:
    """Also what a person wrote into a reason; the stored record keeps its hashes."""
    call = await world.ask(args={"text": TOKEN}, note=TOKEN)
    await world.press(call, verb=Verb.REJECT, reason=f"holds {TOKEN}")
    history = list(await world.store.history(call.ref))
    shown = full_view(await world.now(call), history)

    assert TOKEN[4:] not in json.dumps(shown)
    assert verify(world.store.keys, history) is None
    assert [line.hash for line in history] == [row["hash"] for row in shown["record"]]
    assert ["asked", "rejected"] == [row["event"] for row in shown["record"]]


async def test_nothing_that_opens_a_door_is_shown(world: World) -> None:
    """No seal, no claim and no idempotency key appears, before and after a run."""
    call = await world.ask(READ, runs=Runs.CALLER, key="idempotency-key")
    lease = await world.gate.claim(call.ref, "cli", CLAIM)
    for shown_call in (call, lease.call):
        history = list(await world.store.history(call.ref))
        text = json.dumps(full_view(shown_call, history))
        seals = (shown_call.row_mac, shown_call.decision_mac, CLAIM, SECRET, "idempotency-key")

        assert [] == [seal for seal in seals if seal is not None and (seal in text or seal[3:] in text)]


async def test_it_is_json(world: World) -> None:
    """Plain types only; times are ISO 8601 in UTC, or null."""
    call = await world.ask(args={"n": [1, 2.5, None, True], "text": "é"})
    before = view(call)
    await world.press(call)
    after = view(await world.now(call))

    assert is_json(before)
    assert is_json(after)
    assert ("2026-11-27T12:05:00+00:00", None) == (before["expires_at"], before["decided_at"])
    assert ("pending", "running", ANN) == (before["status"], after["status"], after["decided_by"])
    assert ({"n": [1, 2.5, None, True], "text": "é"}, UMA) == (before["args"], before["requester"])


def test_it_tells_people_and_agents_apart() -> None:
    """`outcome` is for people, `message` for the agent."""
    call = a_call(NOON, state=State.IDLE, decision=Decision.EXPIRED, decided_by="service")
    shown = view(call)

    assert say("outcome.expired") == shown["outcome"]
    assert say("agent.expired", short=call.short) == shown["message"]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({"state": State.ERROR, "decision": Decision.APPROVED, "result": Result.TIMED_OUT}, "EXEC_TIMEOUT"),
        ({"state": State.ERROR, "decision": Decision.APPROVED, "result": Result.UNKNOWN}, "OUTCOME_UNKNOWN"),
        ({"state": State.IDLE, "decision": Decision.EXPIRED}, "CONF_EXPIRED"),
        ({"state": State.IDLE, "decision": Decision.DENIED}, "CALL_DENIED"),
        ({"state": State.IDLE, "decision": Decision.REJECTED}, None),
        ({"state": State.COMPLETED, "decision": Decision.APPROVED, "result": Result.SUCCEEDED}, None),
        ({"state": State.AWAITING}, None),
    ],
)
def test_an_end_that_is_an_error_has_its_code(state: dict[str, Any], code: str | None) -> None:
    """A program finds a timeout, a lost run, an expiry and a denial by the code that the error tree gives them."""
    assert code == view(a_call(NOON, **state))["code"]


def test_the_stored_arguments_stay() -> None:
    """Masking is for the view; the call keeps its bytes."""
    call: Call = a_call(NOON, **EVERYWHERE, claim=Claim("o", CLAIM, NOON))
    view(call)

    assert TOKEN.encode() in call.args
