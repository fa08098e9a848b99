"""The table that moves a call, over all that can be true of one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from hitl.call import Call, Claim, Decision, Result, State
from hitl.errors import IllegalTransition
from hitl.lifecycle import MACHINE, RESULTS, TABLE, Subject, Trigger, advance, destination, diagram
from hitl.testing import a_call
from tests.hitl.world import NOON

README = Path(__file__).parents[2] / "README.md"
CLAIM = Claim("somebody", "0" * 64, NOON + timedelta(minutes=1))

#: Which fact each row of the table asks for, said once more here in the words of the table.
HOLDS: dict[str | None, Callable[[Subject], bool]] = {
    None: lambda _: True,
    "undecided": lambda subject: subject.decision is None,
    "decided": lambda subject: subject.decision is not None,
    "unclaimed": lambda subject: not subject.claimed,
    "is_claimed": lambda subject: subject.claimed,
    "not_started": lambda subject: not subject.started,
    "open_outcome": lambda subject: subject.result in {Result.TIMED_OUT, Result.UNKNOWN},
}
SETS = {
    Trigger.ALLOW: Decision.ALLOWED,
    Trigger.DENY: Decision.DENIED,
    Trigger.APPROVE: Decision.APPROVED,
    Trigger.REJECT: Decision.REJECTED,
    Trigger.EXPIRE: Decision.EXPIRED,
    Trigger.WITHDRAW: Decision.WITHDRAWN,
    Trigger.UNDELIVERABLE: Decision.UNDELIVERABLE,
}
FACTS = [
    {"decision": decision, "claimed": claimed, "started": started, "result": result}
    for decision, claimed, started, result in itertools.product(
        (None, Decision.APPROVED, Decision.REJECTED),
        (False, True),
        (False, True),
        (None, *Result),
    )
]
EVERY = [(state, event) for state in State for event in Trigger]


#: The table as people agreed on it; the code's own must say the same.
AGREED = """
    idle undecided                  request_confirmation  awaiting_confirmation
    idle undecided                  allow                 executing
    idle undecided                  deny                  idle
    awaiting_confirmation           approve               executing
    awaiting_confirmation           reject                idle
    awaiting_confirmation           expire                idle
    awaiting_confirmation           withdraw              idle
    awaiting_confirmation           undeliverable         idle
    awaiting_confirmation           deny                  idle
    executing unclaimed             claim                 executing
    executing unclaimed             lapse                 error
    executing is_claimed            complete              completed
    executing is_claimed            fail                  error
    executing not_started           refuse                error
    error open_outcome              amend                 error
    completed                       reset                 idle
    error                           reset                 idle
    idle decided                    reset                 idle
"""


def test_the_table_is_the_one_that_was_agreed() -> None:
    """No row was added, dropped or bent."""
    agreed = [line.split() for line in AGREED.strip().splitlines()]
    ours = [[source, *([guard] if guard else []), event, to] for source, event, to, guard in TABLE]

    assert sorted(agreed) == sorted(ours)


def expected(subject: Subject, event: Trigger) -> State | None:
    """Where the table leads, read row by row."""
    rows = (row for row in TABLE if (row[0], row[1]) == (subject.state, event))
    return next((to for _, _, to, guard in rows if HOLDS[guard](subject)), None)


def a_call_with(subject: Subject) -> Call:
    """A call of which these facts are true."""
    return a_call(
        NOON,
        state=State(subject.state),
        version=7,
        decision=subject.decision,
        claim=CLAIM if subject.claimed else None,
        result=subject.result,
    )


@pytest.mark.parametrize(("state", "event"), EVERY)
def test_an_event_leads_where_the_table_says(state: State, event: Trigger) -> None:
    """For every state, event and fact: a row of the table is followed, and sets what the event decides or ends."""
    for facts in FACTS:
        subject = Subject(state.value, **facts)
        to = expected(subject, event)
        if to is None:
            continue
        call = a_call_with(subject)
        for result in RESULTS.get(event, [None]):
            moved = advance(call, event, result=result, started=subject.started)

            assert (to, 8) == (moved.state, moved.version)
            assert SETS.get(event, call.decision) == moved.decision
            assert (result or call.result) == moved.result


@pytest.mark.parametrize(("state", "event"), EVERY)
def test_what_the_table_does_not_hold_is_illegal(state: State, event: Trigger) -> None:
    """For every state, event and fact without a row: the error names both states, and the call stays as it was."""
    targets = {to.value for _, name, to, _ in TABLE if name is event}
    for facts in FACTS:
        subject = Subject(state.value, **facts)
        if expected(subject, event) is not None:
            continue
        call = a_call_with(subject)
        before = asdict(call)
        result = next(iter(RESULTS.get(event, [None])))

        with pytest.raises(IllegalTransition) as refused:
            advance(call, event, result=result, started=subject.started)

        assert state.value in refused.value.message
        assert all(target in refused.value.message for target in targets)
        assert before == asdict(call)


@pytest.mark.parametrize(("state", "event"), EVERY)
def test_the_machine_moves_the_subject_or_leaves_it(state: State, event: Trigger) -> None:
    """Its own methods are never asked twice: where it went is where it is."""
    for facts in FACTS:
        subject = Subject(state.value, **facts)
        to = destination(subject, event)

        assert (to or state) == subject.state


def test_the_machine_has_every_event_and_state_of_ours_and_no_other() -> None:
    """There is no `to_STATE` back door, and nothing beside the table."""
    assert {event.value for event in Trigger} == set(MACHINE.events)
    assert {state.value for state in State} == set(MACHINE.states)
    assert [] == [name for name in dir(MACHINE) if name.startswith("to_")]
    assert [] == MACHINE.models


def test_every_state_can_be_left_or_is_where_a_call_may_rest() -> None:
    """No row starts or ends outside the five states, and only people or the clock end a waiting call."""
    from_waiting = {event for source, event, _, _ in TABLE if source is State.AWAITING}

    assert set(State) == {state for source, _, to, _ in TABLE for state in (source, to)}
    assert from_waiting == set(SETS) - {Trigger.ALLOW}


@pytest.mark.parametrize("event", Trigger)
def test_only_reset_archives(event: Trigger) -> None:
    """Archiving is what a reset does, and nothing else; it changes neither decision nor result."""
    sources = [(source, guard) for source, name, _, guard in TABLE if name is event]
    for source, _ in sources:
        for facts in FACTS:
            subject = Subject(source.value, **facts)
            if expected(subject, event) is None:
                continue
            call = a_call_with(subject)
            moved = advance(call, event, result=next(iter(RESULTS.get(event, [None]))), started=subject.started)

            assert (event is Trigger.RESET) == moved.archived


@pytest.mark.parametrize(
    ("event", "result"),
    [(event, result) for event in Trigger for result in (None, *Result) if result not in RESULTS.get(event, {None})],
)
def test_an_event_sets_only_its_own_results(event: Trigger, result: Result | None) -> None:
    """A run that ended must say how, in a way that fits its event; other events end no run."""
    source, _, _, guard = next(row for row in TABLE if row[1] is event)
    facts: dict[str, Any] = next(facts for facts in FACTS if HOLDS[guard](Subject(source.value, **facts)))
    call = a_call_with(Subject(source.value, **facts))

    with pytest.raises(IllegalTransition):
        advance(call, event, result=result, started=facts["started"])


def test_a_claimed_call_may_have_started() -> None:
    """Without word from its executor, a claimed call can't be called refused: the tool may have done something."""
    call = a_call(NOON, state=State.EXECUTING, decision=Decision.APPROVED, claim=CLAIM)

    with pytest.raises(IllegalTransition):
        advance(call, Trigger.REFUSE, result=Result.REFUSED)


def test_the_diagram_is_the_same_each_time() -> None:
    """It is drawn from the table alone."""
    assert diagram() == diagram()
    assert "stateDiagram-v2" == diagram().splitlines()[0]


@pytest.mark.parametrize(("source", "event", "to", "guard"), TABLE)
def test_the_diagram_shows_every_row(source: State, event: Trigger, to: State, guard: str | None) -> None:
    """Each row of the table is an arrow, with its guard beside its event."""
    label = f"{event.value} [{guard}]" if guard else event.value
    arrows = [line for line in diagram().splitlines() if line.strip().startswith(f"{source} --> {to}:")]

    assert any(label in line.partition(": ")[2].split(" | ") for line in arrows)


def test_the_readme_shows_the_diagram() -> None:
    """What the README draws is what the table says."""
    text = README.read_text()
    drawn = text.partition("<!-- lifecycle -->")[2].partition("<!-- /lifecycle -->")[0].strip()

    assert f"```mermaid\n{diagram()}```" == drawn
