"""The life of a call, as one table of states. No other code changes a state.

This file holds everything that affects the state of a call: the states, the triggers, the destination of each trigger,
and the guards. It holds nothing about the causes of a trigger: the gate checks who may approve, whether the time has
ended and whether the MACs are valid. Then the gate asks this file for the call's next state.

The library `transitions` runs the table, with one machine for each process. No call is registered as a model with that
machine, because that would cost 12 to 28 KB for each call. The machine has no automatic `to_STATE()` methods, because
they ignore every guard. `advance` fires a trigger on a small subject with the facts of one call. The README's diagram
is drawn from the same machine.
"""

from __future__ import annotations

from enum import StrEnum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from transitions import Event, EventData, Machine, Transition

from hitl.call import Call, Decision, Result, State
from hitl.errors import IllegalTransition

if TYPE_CHECKING:
    from collections.abc import Mapping


class Trigger(StrEnum):
    """The triggers of the machine. Each is an event in the life of a call."""

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


class Subject(Struct):
    """The fields of a call that the guards check, as a model for the library `transitions`.

    The library changes only `state`.
    """

    state: str
    decision: Decision | None = None
    claimed: bool = False
    started: bool = False
    result: Result | None = None

    def undecided(self) -> bool:
        """Return whether the call has no decision yet."""
        return self.decision is None

    def decided(self) -> bool:
        """Return whether the call has a decision."""
        return self.decision is not None

    def unclaimed(self) -> bool:
        """Return whether nobody has claimed the call."""
        return not self.claimed

    def is_claimed(self) -> bool:
        """Return whether somebody has claimed the call."""
        return self.claimed

    def not_started(self) -> bool:
        """Return whether the tool has done nothing yet."""
        return not self.started

    def open_outcome(self) -> bool:
        """Return whether the tool's effect is uncertain, so that a late report may still change the result."""
        return self.result in {Result.TIMED_OUT, Result.UNKNOWN}


#: The whole table. Each row holds a state, a trigger, the next state, and the method of `Subject` that guards the row.
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

#: The results that each trigger may set. A trigger without an entry here sets no result.
RESULTS: Mapping[Trigger, frozenset[Result]] = {
    Trigger.COMPLETE: frozenset({Result.SUCCEEDED, Result.RELEASED}),
    Trigger.FAIL: frozenset({Result.FAILED, Result.TIMED_OUT, Result.UNKNOWN}),
    Trigger.REFUSE: frozenset({Result.REFUSED}),
    Trigger.LAPSE: frozenset({Result.LAPSED}),
    Trigger.AMEND: frozenset({Result.SUCCEEDED, Result.FAILED, Result.TIMED_OUT}),
}


def machine_config() -> dict[str, Any]:
    """Return the arguments for a `transitions` machine of the table. `diagram` draws from the same arguments."""
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


class _Event(Event):
    """An event of the library `transitions` that only tries its transitions, without callbacks or a queue."""

    def trigger(self, model: Subject) -> bool:  # type: ignore[override]  # the machine passes no further arguments
        """Try the transitions from the model's state, one after the other. Return whether one changed the state."""
        event_data = EventData(None, self, self.machine, model, args=(), kwargs={})
        return any(transition.execute(event_data) for transition in self.transitions.get(model.state, ()))


class _Transition(Transition):
    """A transition that runs no callbacks.

    It checks the guards and changes the state with the methods of `transitions`.
    """

    def execute(self, event_data: EventData) -> bool:
        """Check the guards and, if they hold, change the subject's state. Return whether they hold."""
        holds = self._eval_conditions(event_data)
        if holds:
            event_data.machine.set_state(self.dest, event_data.model)  # type: ignore[arg-type]  # no row lacks a state
        return holds


class _Machine(Machine):
    """The machine of the table, without callbacks. Looking for callbacks took two thirds of the time of a trigger."""

    event_cls = _Event
    transition_cls = _Transition


MACHINE = _Machine(**machine_config())


def destination(subject: Subject, trigger: Trigger) -> State | None:
    """Fire the trigger on the subject, and return the subject's new state.

    Return None if the table has no row for this trigger and state, or if its guard doesn't hold.
    """
    moved = MACHINE.events[trigger].trigger(subject)
    return _STATES[subject.state] if moved else None


def advance(
    call: Call, trigger: Trigger, *, result: Result | None = None, started: bool | None = None, **told: Any
) -> Call:
    """Return the call after the trigger, in its new state. Its version is one higher.

    `result` is the result of the run, for the triggers that set one. `started` says whether the tool may have done
    something; by default it is true for a claimed call. `told` holds further fields of the call to change, such as the
    decider, the time and the reason. Raises IllegalTransition, with both states in its message, for a change that the
    table doesn't allow. The given call is never changed.
    """
    claimed = call.claim is not None
    subject = Subject(call.state, call.decision, claimed, claimed if started is None else started, call.result)
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
    """Return the table as a Mermaid state diagram, drawn by `transitions`."""
    from transitions.extensions import GraphMachine  # noqa: PLC0415 - drawing is rare and its import is slow

    blank = SimpleNamespace()
    config = machine_config() | {"model": blank, "graph_engine": "mermaid", "show_conditions": True}
    GraphMachine(**config)
    drawn: str = blank.get_graph().draw(None)
    kept = (line for line in drawn.splitlines() if "-->" in line or "direction" in line)
    return "\n".join(["stateDiagram-v2", *(f"  {line.strip()}" for line in kept)]) + "\n"
