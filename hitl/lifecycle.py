"""The life of a call, as one table. Nothing else may change a state.

Two rules. Everything that affects the state of a call lives here: the states, the events, which event leads
where, and under which facts. And this file doesn't know why an event happened: who may approve, whether it is in
time, whether seals hold is the gate's business, which asks here only what an event would make of the call.

The table is run by `transitions`: one machine a process, without a registered model, which would cost 12 to 28 KB each,
and without automatic `to_STATE()` methods, which pass every guard. `advance` fires the trigger on a small subject with
the facts of one call. The README's diagram is drawn from the same machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from transitions import EventData, Machine, MachineError, Transition
from transitions import State as Place

from hitl.call import Call, Decision, Result, State
from hitl.errors import IllegalTransition

if TYPE_CHECKING:
    from collections.abc import Mapping


class Trigger(StrEnum):
    """What can happen to a call."""

    REQUEST_CONFIRMATION = "request_confirmation"
    ALLOW = "allow"
    DENY = "deny"
    APPROVE = "approve"
    REJECT = "reject"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    UNDELIVERABLE = "undeliverable"
    CLAIM = "claim"
    LAPSE = "lapse"
    COMPLETE = "complete"
    FAIL = "fail"
    REFUSE = "refuse"
    AMEND = "amend"
    RESET = "reset"


@dataclass(slots=True)
class Subject:
    """What the guards look at. `transitions` writes its `state`; the rest are facts of the call and the trigger."""

    state: str
    decision: Decision | None = None
    claimed: bool = False
    started: bool = False
    result: Result | None = None

    def undecided(self) -> bool:
        """Nothing was decided yet."""
        return self.decision is None

    def decided(self) -> bool:
        """The asking is over."""
        return self.decision is not None

    def unclaimed(self) -> bool:
        """Nobody holds the lease."""
        return not self.claimed

    def is_claimed(self) -> bool:
        """Somebody holds the lease."""
        return self.claimed

    def not_started(self) -> bool:
        """The tool has done nothing yet."""
        return not self.started

    def open_outcome(self) -> bool:
        """What the tool did isn't known for sure."""
        return self.result in {Result.TIMED_OUT, Result.UNKNOWN}


#: from, trigger, to, guard. Every row of the table; what isn't here is illegal.
TABLE: tuple[tuple[State, Trigger, State, str | None], ...] = (
    (State.IDLE, Trigger.REQUEST_CONFIRMATION, State.AWAITING, "undecided"),
    (State.IDLE, Trigger.ALLOW, State.EXECUTING, "undecided"),
    (State.IDLE, Trigger.DENY, State.IDLE, "undecided"),
    (State.AWAITING, Trigger.APPROVE, State.EXECUTING, None),
    (State.AWAITING, Trigger.REJECT, State.IDLE, None),
    (State.AWAITING, Trigger.EXPIRE, State.IDLE, None),
    (State.AWAITING, Trigger.WITHDRAW, State.IDLE, None),
    (State.AWAITING, Trigger.UNDELIVERABLE, State.IDLE, None),
    (State.AWAITING, Trigger.DENY, State.IDLE, None),
    (State.EXECUTING, Trigger.CLAIM, State.EXECUTING, "unclaimed"),
    (State.EXECUTING, Trigger.LAPSE, State.ERROR, "unclaimed"),
    (State.EXECUTING, Trigger.COMPLETE, State.COMPLETED, "is_claimed"),
    (State.EXECUTING, Trigger.FAIL, State.ERROR, "is_claimed"),
    (State.EXECUTING, Trigger.REFUSE, State.ERROR, "not_started"),
    (State.ERROR, Trigger.AMEND, State.ERROR, "open_outcome"),
    (State.COMPLETED, Trigger.RESET, State.IDLE, None),
    (State.ERROR, Trigger.RESET, State.IDLE, None),
    (State.IDLE, Trigger.RESET, State.IDLE, "decided"),
)

_STATES: Mapping[str, State] = {state.value: state for state in State}
_DECISIONS: Mapping[Trigger, Decision] = {
    Trigger.ALLOW: Decision.ALLOWED,
    Trigger.DENY: Decision.DENIED,
    Trigger.APPROVE: Decision.APPROVED,
    Trigger.REJECT: Decision.REJECTED,
    Trigger.EXPIRE: Decision.EXPIRED,
    Trigger.WITHDRAW: Decision.WITHDRAWN,
    Trigger.UNDELIVERABLE: Decision.UNDELIVERABLE,
}

#: Which results a trigger may set; one that isn't here sets none.
RESULTS: Mapping[Trigger, frozenset[Result]] = {
    Trigger.COMPLETE: frozenset({Result.SUCCEEDED, Result.RELEASED}),
    Trigger.FAIL: frozenset({Result.FAILED, Result.TIMED_OUT, Result.UNKNOWN}),
    Trigger.REFUSE: frozenset({Result.REFUSED}),
    Trigger.LAPSE: frozenset({Result.LAPSED}),
    Trigger.AMEND: frozenset({Result.SUCCEEDED, Result.FAILED, Result.TIMED_OUT}),
}


def machine_config() -> dict[str, Any]:
    """The arguments for a `transitions` machine of the table; also what the diagram is drawn from."""
    return {
        "model": None,
        "states": [state.value for state in State],
        "initial": State.IDLE.value,
        "transitions": [
            {"trigger": event.value, "source": source.value, "dest": dest.value, "conditions": guard or []}
            for source, event, dest, guard in TABLE
        ],
        "auto_transitions": False,
    }


class _State(Place):
    """A state without callbacks: `transitions` would look for some, and log that, when a state is left and entered."""

    def enter(self, event_data: EventData) -> None:
        """Do nothing."""

    def exit(self, event_data: EventData) -> None:
        """Do nothing."""


class _Transition(Transition):
    """A transition without callbacks: its guards, then the change of state, both as `transitions` does them."""

    def execute(self, event_data: EventData) -> bool:
        """Return whether the guards hold. If they do, the subject has its new state."""
        if not self._eval_conditions(event_data):
            return False
        self._change_state(event_data)
        return True


class _Machine(Machine):
    """The machine of the table, which holds no callbacks. Looking for them took 40 % of a trigger."""

    state_cls = _State
    transition_cls = _Transition


MACHINE = _Machine(**machine_config())


def destination(subject: Subject, trigger: Trigger) -> State | None:
    """Where the trigger leads, or None where the table has no row for it or its guard doesn't hold.

    The subject is moved there.
    """
    try:
        moved = MACHINE.events[trigger.value].trigger(subject)
    except MachineError:
        return None
    return _STATES[subject.state] if moved else None


def advance(
    call: Call, trigger: Trigger, *, result: Result | None = None, started: bool | None = None, **told: Any
) -> Call:
    """The call after the trigger, its version one higher, with what is `told` beside it: who, when and why.

    `result` is how the run ended, for triggers that end one. `started` says whether the tool may have done
    something; by default a claimed call's may have. Raises IllegalTransition, naming both states, for anything
    that the table doesn't hold; the call given stays as it was.
    """
    claimed = call.claim is not None
    subject = Subject(call.state.value, call.decision, claimed, claimed if started is None else started, call.result)
    state = destination(subject, trigger)
    wanted = RESULTS.get(trigger)
    if state is None or (wanted is None) != (result is None) or (wanted and result not in wanted):
        raise IllegalTransition(_explain(call, trigger, result))
    return call.evolve(
        state=state,
        version=call.version + 1,
        decision=_DECISIONS.get(trigger, call.decision),
        result=result or call.result,
        archived=call.archived or trigger is Trigger.RESET,
        **told,
    )


def _explain(call: Call, trigger: Trigger, result: Result | None) -> str:
    targets = sorted({dest.value for _, name, dest, _ in TABLE if name is trigger})
    wanted = f"{trigger.value} ({result})" if result else trigger.value
    return (
        f"{wanted} would lead to {' or '.join(targets)}, but call {call.short} is {call.state.value},"
        f" {call.result or call.decision or 'not decided'}. Nothing was changed."
    )


def diagram() -> str:
    """The table as a Mermaid state diagram, drawn by `transitions` itself."""
    from transitions.extensions import GraphMachine  # noqa: PLC0415 - drawing is rare and its import is slow

    blank = SimpleNamespace()
    config = machine_config() | {"model": blank, "graph_engine": "mermaid", "show_conditions": True}
    GraphMachine(**config)
    drawn: str = blank.get_graph().draw(None)
    kept = (line for line in drawn.splitlines() if "-->" in line or "direction" in line)
    return "\n".join(["stateDiagram-v2", *(f"  {line.strip()}" for line in kept)]) + "\n"
