"""Which call a reply names, and several answers in one message."""

import pytest

from hitl.replies import Reading, Verdict, read, verdict

YES, NO = Verdict.APPROVE, Verdict.REJECT


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("yes 3F2A9C", "3F2A9C"),
        ("3F2A9C yes", "3F2A9C"),
        ("approve #2", "2"),
        ("/approve K7Q2MX", "K7Q2MX"),
        ("go ahead with K7Q2MX please", "K7Q2MX"),
        ("approve run_42", "run_42"),
        ("approve 0197c9b1-7d7e-7c3a-b1a5-0d2f3c4b5a69", "0197c9b1-7d7e-7c3a-b1a5-0d2f3c4b5a69"),
        ("approve all", "all"),
        ("yes", None),
    ],
)
def test_an_approval_names_its_call(text: str, target: str | None) -> None:
    """By short ref, number, whole ref, or "all"."""
    assert Reading(YES, target=target) == verdict(read(text))


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ("/reject K7Q2MX too risky", "K7Q2MX", "too risky"),
        ("reject confirm_123", "confirm_123", None),
        ("no K7Q2MX: wrong account", "K7Q2MX", "wrong account"),
        ("reject #2 because it is late", "2", "it is late"),
        ("reject all", "all", None),
    ],
)
def test_a_rejection_names_its_call(text: str, target: str, reason: str | None) -> None:
    """A ref never changes the sign, whatever words it holds."""
    assert Reading(NO, target=target, reason=reason) == verdict(read(text))


def test_each_answer_keeps_its_own_target_and_reason() -> None:
    """Several answers come as several readings, in their order."""
    assert [Reading(YES, target="1"), Reading(NO, target="2", reason="prod")] == read("yes 1, no 2 because prod")


def test_several_answers_are_not_one() -> None:
    """Taken as one message they decide nothing."""
    assert Reading(Verdict.UNCLEAR, why="two answers") == verdict(read("approve 3F2A9C, reject K7Q2MX"))


def test_a_known_ref_of_letters_only_is_a_ref() -> None:
    """A word is taken for a ref only if such a call is open."""
    assert "ABCDEF" == verdict(read("yes ABCDEF", known_refs=["ABCDEF"])).target
    assert Verdict.UNCLEAR is verdict(read("yes ABCDEF")).verdict


@pytest.mark.parametrize("text", ["yes 500", "yes 10am", "approve 50%", "yes $40", "yes 2nd", "yes 10k"])
def test_amounts_and_times_are_no_targets(text: str) -> None:
    """They change what is asked for, so nothing is approved."""
    assert Verdict.UNCLEAR is verdict(read(text)).verdict
