"""Labelled cases from other approval systems, held against ours.

They lie outside of this repository, where SAYSO_CORPORA says. A row that advises `match` must come out as it says; one
that advises `diverge` or `decide` must come out as docs/decisions/vectors.md says, which is always the safe way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hitl.call import Action, Call, Claim, Ran, ReplyKind, Result, Risk, Runs, State, Status, Verb
from hitl.cards.data import view
from hitl.errors import IllegalTransition, TooManyPending
from hitl.gate.response import Came
from hitl.lifecycle import TABLE, Trigger, advance
from hitl.limits import Limits
from hitl.proof.canonical import canonical, digest_of
from hitl.testing import a_call
from tests.hitl.world import ANN, NOON, READ, SAM, UMA, WRITE, World, ask, code, reply, verdict

ROOT = Path(__file__).parents[2]
CORPORA = ROOT / os.environ.get("SAYSO_CORPORA", "../shared")
Row = dict[str, Any]


def rows(name: str) -> list[Any]:
    """The rows of one corpus, by their ids; none where it isn't there."""
    path = CORPORA / "vectors" / f"{name}.jsonl"
    if not path.is_file():
        return []
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, path.read_text().splitlines())]


NAMES = (
    "lifecycle_seed5",
    "transitions_seed5",
    "gate_seed2",
    "expiry_seed2",
    "expiry_seed5",
    "replay_seed4",
    "prompts_seed2",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_corpus_is_here(name: str) -> None:
    """In CI it must be; elsewhere its absence is said."""
    if not rows(name) and os.environ.get("CI") != "true":
        pytest.skip(f"no corpus {name} in {CORPORA}: set SAYSO_CORPORA to the folder that holds it")

    assert rows(name)


class Replay:
    """Events of several calls by their own ids, each call with its own life; what is illegal is refused and kept."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self.tools: dict[str, str] = {}
        self.refused: list[str] = []
        self.latest = ""

    def take(self, event: Row) -> None:
        """Let one event happen to the call that it is about, or to none."""
        name, number = event["event"], event.get("id")
        if name in {"EXECUTION_COMPLETED", "EXECUTION_FAILED"}:
            number = self._running(event.get("tool"))
        if name in {"REQUEST_CONFIRMATION", "EXECUTION_STARTED"} and number and number not in self.calls:
            self.calls[number] = a_call(NOON, state=State.IDLE, version=0)
            self.tools[number] = event.get("tool", "")
        for ours in self._events(name, number):
            self._advance(name, number, *ours)

    def _events(self, name: str, number: str | None) -> list[tuple[Trigger, Result | None]]:
        """Our events for one of theirs."""
        if name == "RESET":
            return [(Trigger.RESET, None)]
        if name == "EXECUTION_STARTED" and number and self.calls[number].decision is None:
            return [(Trigger.ALLOW, None), (Trigger.CLAIM, None)]
        ours: dict[str, list[tuple[Trigger, Result | None]]] = {
            "REQUEST_CONFIRMATION": [(Trigger.REQUEST_CONFIRMATION, None)],
            "USER_APPROVED": [(Trigger.APPROVE, None), (Trigger.CLAIM, None)],
            "USER_REJECTED": [(Trigger.REJECT, None)],
            "CONFIRMATION_EXPIRED": [(Trigger.EXPIRE, None)],
            "EXECUTION_STARTED": [(Trigger.CLAIM, None)],
            "EXECUTION_COMPLETED": [(Trigger.COMPLETE, Result.SUCCEEDED)],
            "EXECUTION_FAILED": [(Trigger.FAIL, Result.FAILED)],
        }
        return ours[name]

    def _advance(self, name: str, number: str | None, event: Trigger, result: Result | None) -> None:
        """One event of ours, or a refusal."""
        number = self.latest if event is Trigger.RESET else number
        call = self.calls.get(number or "")
        try:
            moved = advance(call, event, result=result) if call else None
        except IllegalTransition:
            moved = None
        if moved is None or number is None:
            self.refused.append(name)
            return
        claimed = Claim("runner", "0" * 64, NOON) if event is Trigger.CLAIM else moved.claim
        error = "failed" if event is Trigger.FAIL else moved.error
        self.calls[number] = moved.evolve(claim=claimed, error=error)
        self.latest = number

    def _running(self, tool: str | None) -> str | None:
        """The first call that runs, of that tool if one is named."""
        running = (n for n, call in self.calls.items() if call.state is State.EXECUTING)
        return next((n for n in running if tool in {None, self.tools[n]}), None)

    def state(self) -> State:
        """One state for all: who waits first, then what runs, then how the latest ended."""
        states = {call.state for call in self.calls.values()}
        for state in (State.AWAITING, State.EXECUTING):
            if state in states:
                return state
        return self.calls[self.latest].state if self.latest else State.IDLE

    def items(self) -> list[Row]:
        """What was asked and isn't done, in the corpus' words."""
        shown = {Status.RUNNING: "approved", Status.PENDING: "pending"}
        asked = [(n, call) for n, call in self.calls.items() if call.status not in {Status.SUCCEEDED, Status.FAILED}]
        return [{"id": n, "status": shown.get(call.status, call.status.value)} for n, call in asked]

    def error(self) -> str | None:
        """The error of what people look at now."""
        return self.calls[self.latest].error if self.latest else None

    def done(self) -> int:
        """How many ran to their end."""
        return sum(call.result is Result.SUCCEEDED for call in self.calls.values())


@pytest.mark.parametrize("row", rows("lifecycle_seed5"))
def test_a_life(row: Row) -> None:
    """The same trail of states and the same items; or, where theirs is unsafe, another and a safe one."""
    replay = Replay()
    trail = [replay.state()]
    for event in row["events"]:
        before = dict(replay.calls)
        replay.take(event)
        trail.append(replay.state())
        _check_safe(event, before, replay.calls)
    told = row["upstream"]
    ours = (trail, replay.items(), replay.done(), bool(replay.error()))
    theirs = (told["status_trail"], told["items"], told["history"], bool(told["error"]))

    if row["advice"] == "match":
        assert theirs == ours
    else:
        assert replay.refused or theirs != ours or row["advice"] == "decide"


def _check_safe(event: Row, before: dict[str, Call], after: dict[str, Call]) -> None:
    """Only one call moved; what was over stayed over; nothing runs but by a yes to what waited, or by policy."""
    moved = [number for number, call in after.items() if before.get(number) != call]
    over = [number for number in moved if number in before and before[number].ended and before[number].decision]
    started = [
        n for n in moved if after[n].state is State.EXECUTING and n in before and before[n].state is State.AWAITING
    ]

    assert len(moved) <= 1
    assert [] == [number for number in over if event["event"] != "RESET"]
    assert not started or (event["event"], [event["id"]]) == ("USER_APPROVED", started)


@pytest.mark.parametrize("row", rows("transitions_seed5"))
def test_a_step(row: Row) -> None:
    """A way from one state to another is there, or not; staying where one is needs a fact that is used up by it."""
    ways = [guard for source, _, to, guard in TABLE if (source, to) == (row["source"], row["target"])]
    open_ways = [guard for guard in ways if guard is None or row["source"] != row["target"]]

    assert (row["allowed"] and row["advice"] == "match") is bool(open_ways)


@pytest.mark.parametrize("row", rows("expiry_seed2"))
async def test_an_age(world: World, row: Row) -> None:
    """At the timeout it is over, whatever others say of that moment; before it, it isn't."""
    world.rules.set(WRITE, timeout_s=row["timeout_s"])
    call = await world.ask()
    world.clock.advance(row["age_s"])
    expired = code(await world.press(call)) == "CONF_EXPIRED"

    assert (row["age_s"] >= row["timeout_s"]) is expired
    assert (expired == row["expired"]) is (row["advice"] == "match")


@pytest.mark.parametrize("row", rows("expiry_seed5"))
async def test_a_time_left(world: World, row: Row) -> None:
    """Whether it can still be approved, whether the clock ends it, and that it stays to be looked at."""
    call = await world.ask()
    if row["status"] == "approved":
        await world.press(call)
    if row["status"] == "expired":
        world.clock.advance(300)
        await world.gate.settle(call)
    left = timedelta(milliseconds=row["expires_minus_now_ms"])
    if row["status"] == "expired":
        await world.forge(call, deadline=world.clock.now() + left)
    else:
        world.clock.advance((call.deadline - left - world.clock.now()).total_seconds())
    settled = await world.gate.settle(await world.now(call))
    answer = await world.press(call)
    ours = {
        "valid": answer.came is Came.APPROVED,
        "detected_expired": settled is not None and settled.status is Status.EXPIRED,
        "kept_by_filter": await world.store.get(call.ref) is not None,
    }

    assert row["upstream"] == ours


async def allowed(world: World, row: Row) -> None:
    """What the policy allows runs unasked."""
    assert row["upstream"]["decision"] == "auto_approved"
    assert Status.RUNNING is (await world.ask(READ)).status


async def critical_allowed(world: World, _row: Row) -> None:
    """A critical call is asked about, even where a rule would let it pass."""
    world.rules.verdicts[READ] = verdict(Action.ALLOW, Risk.CRITICAL)

    assert Status.PENDING is (await world.ask(READ)).status


async def denied(world: World, row: Row) -> None:
    """A no with a reason is kept with both."""
    call = await world.ask("drop")
    await world.press(call, verb=Verb.REJECT, reason=row["upstream"]["reason"])
    stored = await world.now(call)

    assert (Status.REJECTED, row["upstream"]["reason"], ANN) == (stored.status, stored.reason, stored.decided_by)


async def silence(world: World, row: Row) -> None:
    """Time runs out: nothing is left waiting, nothing ran."""
    call = await world.ask()
    world.clock.advance(300)
    await world.gate.settle(call)

    assert Status.EXPIRED is (await world.now(call)).status
    assert row["upstream"]["left"] == len(await world.store.pending())


async def too_late(world: World, _row: Row) -> None:
    """A yes after the time isn't taken, and changes nothing of how it ended."""
    call = await world.ask()
    world.clock.advance(301)
    answer = await world.press(call)

    assert "CONF_EXPIRED" == code(answer)
    assert Status.EXPIRED is (await world.now(call)).status


async def no_then_yes(world: World, _row: Row) -> None:
    """The first answer stands, for everybody alike."""
    call = await world.ask()
    await world.press(call, verb=Verb.REJECT)

    assert "ALREADY_DECIDED" == code(await world.press(call))
    assert Status.REJECTED is (await world.now(call)).status


async def nameless(world: World, _row: Row) -> None:
    """Somebody without an identity isn't on any list."""
    call = await world.ask()

    assert "NOT_APPROVER" == code(await world.press(call, ""))


async def a_surfaces_yes(world: World, row: Row) -> None:
    """What a surface brings as a yes of somebody listed is one."""
    assert row["upstream"]["decision"] == "approved"
    assert Came.APPROVED is (await world.press(await world.ask())).came


async def a_surfaces_nothing(world: World, row: Row) -> None:
    """A surface that brings nothing, or no verb, has brought no yes."""
    call = await world.ask()
    (answer,) = await world.gate.decide(reply(kind=ReplyKind.BUTTON, target=call.ref))

    assert row["upstream"]["decision"] == "denied"
    assert "HITL_001" == code(answer)
    assert [] == world.executor.ran


async def a_surfaces_true(world: World, row: Row) -> None:
    """The word for a truth value isn't a person's yes."""
    call = await world.ask()
    answer = await world.type("return True", target=call.ref)

    assert row["upstream"]["decision"] == "denied"
    assert (Came.UNCLEAR, Status.PENDING) == (answer.came, (await world.now(call)).status)


async def thrice(_world: World, _row: Row) -> None:
    """Each names the one before, and there is an end to how many may wait."""
    world = World(limits=Limits(open_per_requester=3))
    asked = [await world.gate.submit(ask()) for _ in range(3)]

    assert [None, asked[0].call.short, asked[0].call.short] == [submitted.same_as for submitted in asked]
    with pytest.raises(TooManyPending):
        await world.ask()


async def somebody_else(world: World, _row: Row) -> None:
    """A button that is whole in the hands of somebody who isn't listed."""
    call = await world.ask()

    assert "NOT_APPROVER" == code(await world.press(call, SAM))


async def a_failed_run_again(world: World, _row: Row) -> None:
    """A yes is used up by its run, however that ended."""
    call = await world.ask()
    answer = await world.press(call)
    assert answer.lease is not None
    world.executor.outcome = Ran(Result.FAILED, error="it threw")
    await world.gate.finish_own(answer.lease, await world.executor.run(answer.lease, limit_s=30))
    again = await world.press(call)

    assert ("ALREADY_DECIDED", None, 1) == (code(again), again.lease, len(world.executor.ran))


async def changed_arguments(world: World, _row: Row) -> None:
    """What was changed behind us isn't run."""
    call = await world.ask()
    await world.forge(call, args=b'{"path":"other"}')

    assert "TAMPERED" == code(await world.press(call))


async def moved_time(world: World, _row: Row) -> None:
    """Nor what was given more time."""
    call = await world.ask()
    await world.forge(call, created_at=NOON + timedelta(hours=1), deadline=NOON + timedelta(hours=2))

    assert "TAMPERED" == code(await world.press(call))


async def just_in_time(world: World, _row: Row) -> None:
    """A millisecond before the deadline it runs."""
    call = await world.ask()
    world.clock.advance(300 - 0.001)

    assert Came.APPROVED is (await world.press(call)).came


async def on_the_dot(world: World, _row: Row) -> None:
    """At the deadline it doesn't."""
    call = await world.ask()
    world.clock.advance(300)

    assert "CONF_EXPIRED" == code(await world.press(call))


async def other_order(world: World, _row: Row) -> None:
    """Another order of keys is the same call, the same digest."""
    call = await world.ask(args={"a": 1, "b": 2})
    respelled = canonical(json.loads('{"b": 2, "a": 1}'))

    assert call.args == respelled
    assert call.digest == digest_of(
        respelled,
        tools=call.tools,
        tool=call.tool,
        executor=call.executor,
        definition=call.definition,
        cwd=call.cwd,
        preconditions=call.preconditions,
    )


async def enter_alone(world: World, _row: Row) -> None:
    """`n` is a no, an empty line is nothing: the call waits on."""
    one, other = await world.ask(), await world.ask(args={})
    no = await world.type("n", target=one.ref)
    nothing = await world.type("", target=other.ref)

    assert (Came.REJECTED, Came.UNCLEAR) == (no.came, nothing.came)
    assert Status.PENDING is (await world.now(other)).status


async def as_data(world: World, _row: Row) -> None:
    """A waiting call as data holds what a program needs to show it."""
    shown = view(await world.ask(runs=Runs.CALLER))

    assert ("pending", "medium", WRITE, UMA) == (shown["status"], shown["risk"], shown["tool"], shown["requester"])
    assert {"ref", "args", "created_at", "expires_at", "message"} <= set(shown)


CASES: dict[str, Callable[[World, Row], Awaitable[None]]] = {
    "G112": allowed,
    "G113": allowed,
    "G115": critical_allowed,
    "G117": denied,
    "G118": silence,
    "G119": too_late,
    "G123": no_then_yes,
    "G125": nameless,
    "G127": a_surfaces_yes,
    "G128": a_surfaces_nothing,
    "G130": a_surfaces_true,
    "G135": too_late,
    "G137": thrice,
    "A02": somebody_else,
    "A05": a_failed_run_again,
    "A09": changed_arguments,
    "A11": moved_time,
    "A12": just_in_time,
    "A13": on_the_dot,
    "A17": other_order,
    "P245": enter_alone,
    "P247": as_data,
}


@pytest.mark.parametrize("row", [*rows("gate_seed2"), *rows("replay_seed4"), *rows("prompts_seed2")])
async def test_a_case(world: World, row: Row) -> None:
    """Each case of these corpora is played on our gate; one that we don't know yet fails, so that it is looked at."""
    assert row["id"] in CASES
    await CASES[row["id"]](world, row)


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_is_written_down(name: str) -> None:
    """Whoever wonders why we differ finds each row that we don't match in the decision page."""
    page = (ROOT / "docs" / "decisions" / "vectors.md").read_text()
    chosen = [param.values[0]["id"] for param in rows(name) if param.values[0]["advice"] != "match"]

    assert [] == [number for number in chosen if f" {number} " not in page.replace(",", " ").replace("|", " ")]
