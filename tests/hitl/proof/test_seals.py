"""What a seal covers: everything that people were shown, or that says who may run what."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from hitl.call import Action, Call, CardTerms, Claim, Decision, Prompt, PromptKind, Result, Risk, Runs, Verdict, Vote
from hitl.proof import seals
from hitl.proof.keyring import Keyring
from hitl.records import replace
from hitl.testing import a_call
from tests.hitl.world import ANN, BOB, NOON

KEYS = Keyring([("k1", b"1" * 32)])
CALL = a_call(NOON, preconditions=(("base:a", "1"),), notes=("not confined",), routes=("telegram:1",), cwd="/srv")
FIXED = Call.__struct_fields__[: Call.__struct_fields__.index("row_mac")]
OTHER_ENUMS = {Action: Action.ALLOW, Risk: Risk.LOW, Runs: Runs.CALLER}


def sealed(call: Call) -> Call:
    """The call with the seal of its row."""
    return call.evolve(row_mac=seals.row(KEYS, call))


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if type(value) in OTHER_ENUMS:
        return OTHER_ENUMS[type(value)]
    if isinstance(value, datetime):
        return value + timedelta(microseconds=1)
    if isinstance(value, bool) or value is None:
        return {False: True, True: False, None: "x"}[value]
    if isinstance(value, tuple):
        return (*value, ("base:b", "2") if value and isinstance(value[0], tuple) else "x")
    return value + (b"x" if isinstance(value, bytes) else 1 if isinstance(value, int) else "x")


def test_a_sealed_row_holds() -> None:
    """What was sealed and not touched is accepted."""
    assert seals.row_holds(KEYS, sealed(CALL))


@pytest.mark.parametrize("name", [name for name in FIXED if name != "verdict"])
def test_every_fixed_field_is_sealed(name: str) -> None:
    """A row with any of the fields changed that never change doesn't hold."""
    changed = sealed(CALL).evolve(**{name: other(getattr(CALL, name))})

    assert not seals.row_holds(KEYS, changed)


@pytest.mark.parametrize("name", Verdict.__struct_fields__)
def test_the_verdict_is_sealed_whole(name: str) -> None:
    """What the policy said, why, and on what terms can't be changed behind people's backs."""
    value = getattr(CALL.verdict, name)
    others = {"approvers": ("x",), "card": CardTerms(undo="x")}
    changes: dict[str, Any] = {name: others[name] if name in others else other(value)}
    changed = sealed(CALL).evolve(verdict=replace(CALL.verdict, **changes))

    assert not seals.row_holds(KEYS, changed)


def test_nothing_moves_from_one_field_into_the_next() -> None:
    """A row whose parts are the same in the same order, but fall into other fields, doesn't hold."""
    shifted = sealed(CALL).evolve(
        preconditions=(), sentence="base:a", preview="1", notes=(CALL.sentence, CALL.preview, *CALL.notes)
    )
    rerouted = sealed(CALL).evolve(approvers=(*CALL.approvers, *CALL.routes), routes=())

    assert not seals.row_holds(KEYS, shifted)
    assert not seals.row_holds(KEYS, rerouted)


def test_what_changes_in_a_life_is_not_in_the_row_seal() -> None:
    """State, claim and result move on without breaking it; decision and votes have seals of their own."""
    moved = sealed(CALL).evolve(version=9, decision=Decision.APPROVED, reason="fine", output="x", archived=True)

    assert seals.row_holds(KEYS, moved)


DECIDED = CALL.evolve(decision=Decision.APPROVED, decided_by=ANN, decided_at=NOON)


@pytest.mark.parametrize(
    "change",
    [
        {"decision": Decision.ALLOWED},
        {"decided_by": BOB},
        {"decided_at": NOON + timedelta(microseconds=1)},
        {"reason": "another"},
        {"digest": "e" * 64},
        {"ref": "another"},
    ],
)
def test_a_decision_is_sealed(change: dict[str, Any]) -> None:
    """Which call, what, by whom, when: changing one breaks the seal, and so does having none."""
    whole = DECIDED.evolve(decision_mac=seals.decision(KEYS, DECIDED))

    assert seals.decision_holds(KEYS, whole)
    assert not seals.decision_holds(KEYS, whole.evolve(**change))
    assert not seals.decision_holds(KEYS, DECIDED)


def vote(principal: str = ANN, *, approve: bool = True) -> Vote:
    """A sealed vote on the call."""
    said = Vote(CALL.ref, principal, approve, None, "telegram", NOON, NOON, "")
    return replace(said, mac=seals.vote(KEYS, said, CALL.digest))


def test_votes_hold_when_each_is_whole_and_one_is_the_deciders() -> None:
    """One broken vote breaks all; without the approval of the one who is said to have decided, none is enough."""
    assert seals.votes_hold(KEYS, DECIDED, [vote(BOB, approve=False), vote(ANN)])
    assert not seals.votes_hold(KEYS, DECIDED, [vote(ANN), replace(vote(BOB), principal="telegram:9")])
    assert not seals.votes_hold(KEYS, DECIDED, [replace(vote(ANN, approve=False), approve=True)])
    assert not seals.votes_hold(KEYS, DECIDED, [vote(BOB)])
    assert not seals.votes_hold(KEYS, DECIDED, [vote(ANN, approve=False)])
    assert not seals.votes_hold(KEYS, DECIDED, [])


CLAIMED = DECIDED.evolve(claim=Claim("service:1", "a" * 64, NOON))
ENDED = CLAIMED.evolve(result=Result.FAILED, finished_at=NOON, output="x", error="exit 1")


@pytest.mark.parametrize("change", [{"owner": "service:2"}, {"secret_hash": "b" * 64}, {"until": NOON + timedelta(1)}])
def test_a_claim_is_sealed(change: dict[str, Any]) -> None:
    """Whose it is, by which secret, until when; nobody's claim needs none."""
    claim = Claim("service:1", "a" * 64, NOON, seals.claim(KEYS, CLAIMED))

    assert seals.claim_holds(KEYS, CLAIMED.evolve(claim=claim))
    assert seals.claim_holds(KEYS, DECIDED)
    assert not seals.claim_holds(KEYS, CLAIMED.evolve(claim=replace(claim, **change)))
    assert not seals.claim_holds(KEYS, CLAIMED.evolve(claim=claim, ref="another"))
    assert not seals.claim_holds(KEYS, CLAIMED)


@pytest.mark.parametrize(
    "change", [{"result": Result.SUCCEEDED}, {"finished_at": None}, {"output": None}, {"error": ""}, {"ref": "another"}]
)
def test_a_result_is_sealed(change: dict[str, Any]) -> None:
    """How it ended, when, and what was said of it; what didn't end needs none."""
    whole = ENDED.evolve(result_mac=seals.result(KEYS, ENDED))

    assert seals.result_holds(KEYS, whole)
    assert seals.result_holds(KEYS, CLAIMED)
    assert not seals.result_holds(KEYS, whole.evolve(**change))
    assert not seals.result_holds(KEYS, ENDED)


@pytest.mark.parametrize("part", ["source", "number", "order", "body", "at"])
def test_an_event_is_sealed(part: str) -> None:
    """Where it came from, as which, in which order, what it says, and when."""
    came: dict[str, Any] = {"source": "telegram", "number": "1", "order": "c", "body": b"{}", "at": NOON}
    mac = seals.event(KEYS, **came)

    assert seals.event_holds(KEYS, mac, **came)
    assert not seals.event_holds(KEYS, mac, **(came | {part: other(came[part])}))
    assert not seals.event_holds(KEYS, None, **came)


@pytest.mark.parametrize("part", ["ref", "route", "message"])
def test_a_card_is_sealed(part: str) -> None:
    """Whose it is, where, and as which message."""
    stands = {"ref": "r", "route": "telegram:1", "message": "1:2"}
    mac = seals.card(KEYS, **stands)

    assert seals.card_holds(KEYS, mac, **stands)
    assert not seals.card_holds(KEYS, mac, **(stands | {part: "x"}))


@pytest.mark.parametrize(
    "change", [{"ref": "x"}, {"principal": BOB}, {"kind": PromptKind.VIEWED}, {"at": NOON + timedelta(1)}]
)
def test_a_prompt_is_sealed(change: dict[str, Any]) -> None:
    """About which call, with whom, of which kind, since when."""
    left = Prompt("r", ANN, PromptKind.CONFIRM, NOON)
    mac = seals.prompt(KEYS, left)

    assert seals.prompt_holds(KEYS, mac, left)
    assert not seals.prompt_holds(KEYS, mac, replace(left, **change))


def test_what_is_broken_of_a_call_is_named() -> None:
    """The first part that isn't as it was sealed, in the order of a call's life."""
    whole = sealed(ENDED).evolve(claim=Claim("service:1", "a" * 64, NOON, seals.claim(KEYS, ENDED)))
    whole = whole.evolve(decision_mac=seals.decision(KEYS, whole), result_mac=seals.result(KEYS, whole))
    changes: dict[str | None, dict[str, Any]] = {
        None: {},
        "row": {"tool": "another"},
        "decision": {"decided_by": BOB},
        "claim": {"claim": Claim("service:2", "a" * 64, NOON)},
        "result": {"output": "y"},
    }

    assert list(changes) == [seals.broken(KEYS, whole.evolve(**change)) for change in changes.values()]


@pytest.mark.parametrize("change", [{"message": "-1:8"}, {"ref": "another"}, {"asks": BOB}, {"mac": ""}])
def test_a_binding_is_sealed(change: dict[str, Any]) -> None:
    """The message, the call, and whom the message asks: changing one breaks the MAC."""
    whole = seals.bound(KEYS, "-1:9", CALL.ref, ANN)

    assert seals.bound_holds(KEYS, whole)
    assert not seals.bound_holds(KEYS, replace(whole, **change))
