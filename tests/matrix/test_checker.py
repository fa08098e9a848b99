"""The checker on small databases and logs made by hand: each kind of fault is found, and a clean history is clean."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.matrix.checker import check, gather

CHECKER = Path(__file__).with_name("checker.py")
#: A deadline in microseconds, and an act in good time before it in seconds.
DEADLINE, EARLY = 1_000_000_000, 100.0
TABLES = """
create table calls (ref, args, state, decision, decided_at, decided_by, deadline, claim_owner);
create table votes (ref, principal, approve, at);
create table inbox (body, handled_at);
create table audit (event, data);
"""


def call(**changed: Any) -> dict[str, Any]:
    """An approved call that ran."""
    usual = {"ref": "r1", "args": b'{"command":"pay chat1 42"}', "state": "completed", "decision": "approved"}
    decided = {"decided_at": DEADLINE - 1, "decided_by": "bob", "deadline": DEADLINE, "claim_owner": "service"}
    return usual | decided | changed


def vote(**changed: Any) -> dict[str, Any]:
    """Bob's yes."""
    return {"ref": "r1", "principal": "bob", "approve": 1, "at": DEADLINE - 1} | changed


def act(**changed: Any) -> dict[str, Any]:
    """Bob's press, which the platform was answered for."""
    usual = {"mark": "chat1", "by": "bob", "verb": "approve", "at": EARLY, "trace": "query-7", "answered": True}
    return usual | {"decided": False, "told": True, "calm": False} | changed


def ask(**changed: Any) -> dict[str, Any]:
    """Ann's request."""
    return {"mark": "chat1", "amount": 42, "recorded": True, "exits": []} | changed


#: The card of the call is message 5 of chat -4.
SHOWN = {"event": "shown", "data": '{"message": "-4:5", "route": "telegram:-4"}'}


def reply(to: int, **changed: Any) -> dict[str, Any]:
    """Bob's words, as a reply to a message of that number in chat -4."""
    message = {"text": "yes", "reply_to_message": {"message_id": to, "chat": {"id": -4}}}
    body = json.dumps({"trace": "query-7", "message": message}).encode()
    return {"body": body, "handled_at": 1} | changed


@dataclass
class Left:
    """What a world left behind, clean unless changed."""

    calls: list[Mapping[str, Any]] = field(default_factory=lambda: [call()])
    votes: list[Mapping[str, Any]] = field(default_factory=lambda: [vote()])
    inbox: list[Mapping[str, Any]] = field(default_factory=lambda: [{"body": b'{"data": "query-7"}', "handled_at": 1}])
    audit: list[Mapping[str, Any]] = field(default_factory=lambda: [SHOWN])
    runs: list[str] = field(default_factory=lambda: ["chat1 r1 42"])
    asks: list[Mapping[str, Any]] = field(default_factory=lambda: [ask()])
    acts: list[Mapping[str, Any]] = field(default_factory=lambda: [act()])

    def write(self, folder: Path) -> None:
        """As a world leaves it."""
        database = sqlite3.connect(folder / "sayso.db")
        database.executescript(TABLES)
        tables = (("calls", self.calls), ("votes", self.votes), ("inbox", self.inbox), ("audit", self.audit))
        for table, rows in tables:
            for row in rows:
                places = ", ".join("?" for _ in row)
                insert = f"insert into {table} ({', '.join(row)}) values ({places})"  # noqa: S608 - ours
                database.execute(insert, tuple(row.values()))
        database.commit()
        (folder / "runs.log").write_text("".join(f"{run}\n" for run in self.runs))
        (folder / "history.json").write_text(json.dumps({"asks": self.asks, "acts": self.acts}))


@pytest.fixture
def kinds(tmp_path: Path) -> Callable[[Left], set[str]]:
    """The kinds of faults that the checker finds."""

    def found(left: Left) -> set[str]:
        left.write(tmp_path)
        return {kind for kind, _ in check(gather(tmp_path))}

    return found


def test_a_clean_history_is_clean(kinds: Callable[[Left], set[str]]) -> None:
    """One request, one press, one run."""
    assert set() == kinds(Left())


@pytest.mark.parametrize(("left", "kinds_found"), [(Left(), set()), (Left(acts=[]), {"unapproved"})])
def test_the_checker_needs_nothing_of_the_service(left: Left, kinds_found: set[str], tmp_path: Path) -> None:
    """The checker runs as a program in isolated mode without installed packages, and prints what it found."""
    left.write(tmp_path)
    done = subprocess.run([sys.executable, "-I", "-S", CHECKER, tmp_path], capture_output=True, check=True)

    assert kinds_found == {kind for kind, _ in json.loads(done.stdout)}


REJECTED = call(decision="rejected", state="idle", claim_owner=None)
EXPIRED = call(decision="expired", decided_by="service", state="idle", claim_owner=None)
OPEN = call(decision=None, decided_by=None, state="awaiting_confirmation", claim_owner=None)
FAULTS = {
    "a call's tool was started twice": ("double", Left(runs=["chat1 r1 42"] * 2)),
    "a request became two calls": ("double", Left(calls=[call(), call(ref="r2")], votes=[vote(), vote(ref="r2")])),
    "a rejected call ran": ("unapproved", Left(calls=[REJECTED], acts=[act(verb="reject")], votes=[])),
    "an expired call ran": ("unapproved", Left(calls=[EXPIRED], acts=[], votes=[])),
    "an undecided call ran": ("unapproved", Left(calls=[OPEN | {"state": "idle"}], acts=[], votes=[])),
    "a call ran without a claim": ("unapproved", Left(calls=[call(claim_owner=None)])),
    "a run is of no call": ("unapproved", Left(runs=["chat1 r9 42"])),
    "a run had other arguments": ("unapproved", Left(runs=["chat1 r1 43"])),
    "a call had other arguments than its request": (
        "unapproved",
        Left(calls=[call(args=b'{"command":"pay chat1 43"}')], runs=["chat1 r1 43"]),
    ),
    "nobody pressed": ("unapproved", Left(acts=[])),
    "somebody else pressed": ("unapproved", Left(acts=[act(by="cy")])),
    "the approver pressed reject": ("unapproved", Left(acts=[act(verb="reject")])),
    "an approval has no vote": ("unapproved", Left(votes=[])),
    "an acknowledged press isn't in the inbox": ("lost", Left(inbox=[])),
    "an acknowledged press is unhandled": ("lost", Left(inbox=[{"body": b"query-7", "handled_at": None}])),
    "an acknowledged press came to nothing": ("lost", Left(calls=[OPEN | {"state": "idle"}], votes=[], runs=[])),
    "a call expired that was decided in time": ("lost", Left(calls=[EXPIRED], votes=[], runs=[])),
    "a reported decision isn't the one": ("lost", Left(calls=[REJECTED], votes=[], runs=[], acts=[act(decided=True)])),
    "an acknowledged request has no call": ("lost", Left(calls=[], votes=[], runs=[], acts=[])),
    "`sayso ask` told of another end": ("lost", Left(asks=[ask(exits=[10])])),
    "an approval came at the deadline": ("late", Left(calls=[call(decided_at=DEADLINE)])),
    "a vote came at the deadline": ("late", Left(votes=[vote(at=DEADLINE)])),
    "a press got no answer": ("dead", Left(acts=[act(), act(calm=True, told=False)])),
    "a call is open in the end": ("dead", Left(calls=[OPEN], votes=[], runs=[], acts=[])),
}


def test_a_reply_to_a_card_that_was_not_recorded_is_asked_back(kinds: Callable[[Left], set[str]]) -> None:
    """The service died between sending the card and recording its number: the reply names no call. Nothing is lost."""
    assert set() == kinds(Left(calls=[OPEN], votes=[], runs=[], inbox=[reply(4)]))


def test_a_reply_to_a_recorded_card_that_came_to_nothing_is_lost(kinds: Callable[[Left], set[str]]) -> None:
    """The reply named a call, and the call is open in the end."""
    assert {"lost", "dead"} == kinds(Left(calls=[OPEN], votes=[], runs=[], inbox=[reply(5)]))


@pytest.mark.parametrize("what", FAULTS)
def test_each_fault_is_found(what: str, kinds: Callable[[Left], set[str]]) -> None:
    """A history with one fault is reported with that kind."""
    kind, left = FAULTS[what]

    assert kind in kinds(left)


def test_a_late_press_may_come_to_nothing(kinds: Callable[[Left], set[str]]) -> None:
    """A press just before the deadline whose call expired while the service was dead is no lost decision."""
    late = act(at=DEADLINE / 1_000_000 - 1)

    assert set() == kinds(Left(calls=[EXPIRED], votes=[], runs=[], acts=[late]))


def test_two_answers_may_race(kinds: Callable[[Left], set[str]]) -> None:
    """Of two acknowledged answers one wins; the other isn't lost."""
    assert set() == kinds(Left(acts=[act(), act(by="cy", verb="reject")]))
