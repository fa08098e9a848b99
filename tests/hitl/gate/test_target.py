"""Which call a reply means: a pure rule over where it was made, what it points to, and what its words name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.call import Call, Decision, State
from hitl.gate.response import Came
from hitl.gate.target import Scene, aim
from hitl.outcomes import Doubt, Told, fact
from hitl.records import replace
from hitl.replies import Meaning as Says
from hitl.replies import Reading, unclear
from hitl.testing import a_call
from tests.hitl.world import ANN, BOB, NOON

FIRST, SECOND = a_call(NOON), a_call(NOON)
YES, NO, UNCLEAR = Reading(Says.APPROVE), Reading(Says.REJECT), unclear(Doubt.QUESTION)
#: One card stands here, and the latest message of anyone else is about it.
RIGHT_HERE = Scene(ANN, open=(FIRST,), follows=FIRST.ref, private=True)


def ended(call: Call, by: str) -> Call:
    """The call once somebody rejected it without a reason."""
    return call.evolve(state=State.IDLE, decision=Decision.REJECTED, decided_by=by, decided_at=NOON)


@pytest.mark.parametrize("reading", [YES, NO, UNCLEAR])
def test_words_that_point_to_nothing_mean_the_only_card_that_was_talked_of_last(reading: Reading) -> None:
    """In a conversation where such words may decide."""
    assert FIRST is aim(RIGHT_HERE, reading, None)[0]


@pytest.mark.parametrize(
    "scene",
    [
        replace(RIGHT_HERE, private=False),
        replace(RIGHT_HERE, open=()),
        replace(RIGHT_HERE, open=(FIRST, SECOND)),
        replace(RIGHT_HERE, follows=None),
        replace(RIGHT_HERE, follows=SECOND.ref),
    ],
    ids=["among people", "no card", "two cards", "nobody knows what was said last", "other talk"],
)
def test_anything_else_there_and_they_mean_none(scene: Scene) -> None:
    """Each condition is needed by itself, whoever the words are for."""
    assert None is aim(scene, YES, None)[0]
    assert None is aim(replace(scene, addressed=True), NO, None)[0]


def test_who_gives_no_clear_answer_but_speaks_to_us_is_asked_about_the_only_card() -> None:
    """Whatever was said last; between people such words are their own."""
    scene = replace(RIGHT_HERE, follows=None)

    assert FIRST is aim(replace(scene, addressed=True), UNCLEAR, None)[0]
    assert (None, None) == (aim(scene, UNCLEAR, None)[0], aim(scene, UNCLEAR, None)[1].fact)


def test_a_name_in_the_words_wins_over_where_they_were_said() -> None:
    """A ref is as good as a reply to the card."""
    assert SECOND is aim(RIGHT_HERE, replace(YES, target=SECOND.short), SECOND)[0]


def test_words_that_name_another_call_than_they_answer_mean_none() -> None:
    """Nor do words that name a call, and answer a card that nobody knows."""
    answering = replace(RIGHT_HERE, aimed=FIRST.ref, answered=FIRST)
    call, answer = aim(answering, replace(YES, target=SECOND.short), SECOND)

    assert (None, fact(Told.TWO_TARGETS, target=FIRST.short)) == (call, answer.fact)
    assert None is aim(replace(answering, answered=None), replace(YES, target=SECOND.short), SECOND)[0]
    assert FIRST is aim(answering, replace(YES, target=FIRST.short), FIRST)[0]


def test_a_yes_that_points_to_none_of_several_is_told_all_their_names() -> None:
    """The oldest first."""
    _, answer = aim(replace(RIGHT_HERE, open=(FIRST, SECOND)), YES, None)

    assert (Came.WHICH, fact(Told.WHICH, shorts=f"{FIRST.short}, {SECOND.short}")) == (answer.came, answer.fact)


def test_a_yes_to_what_was_just_decided_by_somebody_else_is_about_that() -> None:
    """They hear who won; one's own decision is no news, but for a no that is said again with its reason."""
    lost, own = ended(FIRST, BOB), ended(FIRST, ANN)
    scene = replace(RIGHT_HERE, open=(), last=lost)
    explained = replace(NO, reason="it is late")

    assert lost is aim(scene, YES, None)[0]
    assert None is aim(replace(scene, last=own), YES, None)[0]
    assert own is aim(replace(scene, last=own, explainable=True), explained, None)[0]
    assert None is aim(replace(scene, last=own), explained, None)[0]


SCENES = st.builds(
    Scene,
    principal=st.sampled_from([ANN, BOB]),
    aimed=st.none(),
    answered=st.none(),
    open=st.lists(st.sampled_from([FIRST, SECOND]), unique_by=id).map(tuple),
    follows=st.sampled_from([None, FIRST.ref, SECOND.ref]),
    private=st.booleans(),
    addressed=st.booleans(),
    last=st.sampled_from([None, ended(FIRST, ANN), ended(FIRST, BOB)]),
    explainable=st.booleans(),
)


@given(SCENES, st.sampled_from([YES, NO]))
def test_wherever_it_is_said_a_bare_yes_or_no_reaches_only_the_card_right_above(scene: Scene, reading: Reading) -> None:
    """Of the calls that wait; what is over can't be decided any more."""
    call, _ = aim(scene, reading, None)

    if call is not None and not call.ended:
        assert ((call,), call.ref, True) == (scene.open, scene.follows, scene.private)
