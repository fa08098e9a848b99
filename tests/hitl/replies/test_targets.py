"""Which call a reply names, and several answers in one message."""

import pytest

from hitl.outcomes import Doubt
from hitl.replies import Meaning, Reading, read, unclear, verdict

YES, NO = Meaning.APPROVE, Meaning.REJECT


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("yes 3F2A9C", "3F2A9C"),
        ("3F2A9C yes", "3F2A9C"),
        ("approve #K7Q2MX", "K7Q2MX"),
        ("/approve K7Q2MX", "K7Q2MX"),
        ("go ahead with K7Q2MX please", "K7Q2MX"),
        ("approve confirm_42", "confirm_42"),
        ("approve 0197c9b1-7d7e-7c3a-b1a5-0d2f3c4b5a69", "0197c9b1-7d7e-7c3a-b1a5-0d2f3c4b5a69"),
        ("approve all", "all"),
        ("yes", None),
    ],
)
def test_an_approval_names_its_call(text: str, target: str | None) -> None:
    """An approval names its call by short ref, whole ref, an id of a format that we read, or "all"."""
    assert Reading(YES, target=target) == verdict(read(text))


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ("/reject K7Q2MX too risky", "K7Q2MX", "too risky"),
        ("reject confirm_123", "confirm_123", None),
        ("no K7Q2MX: wrong account", "K7Q2MX", "wrong account"),
        ("reject #K7Q2MX because it is late", "K7Q2MX", "it is late"),
        ("reject all", "all", None),
    ],
)
def test_a_rejection_names_its_call(text: str, target: str, reason: str | None) -> None:
    """A ref never changes the sign, whatever words it holds."""
    assert Reading(NO, target=target, reason=reason) == verdict(read(text))


def test_each_answer_keeps_its_own_target_and_reason() -> None:
    """Several answers come as several readings, in their order."""
    answers = [Reading(YES, target="K7Q2MX"), Reading(NO, target="3F2A9C", reason="prod")]

    assert answers == read("yes K7Q2MX, no 3F2A9C because prod")


def test_a_list_of_refs_and_answers_gives_each_ref_its_answer() -> None:
    """A colon joins a ref with the answer after it."""
    answers = [Reading(YES, target="K7Q2MX"), Reading(NO, target="3F2A9C", reason="prod")]

    assert answers == read("K7Q2MX: yes\n3F2A9C: no, prod")


def test_a_ref_without_an_answer_takes_the_answer_before_it() -> None:
    """A list may follow the answer."""
    assert [Reading(YES, target="K7Q2MX"), Reading(YES, target="3F2A9C")] == read("yes K7Q2MX, 3F2A9C")


@pytest.mark.parametrize("text", ["K7Q2MX yes, 3F2A9C", "K7Q2MX: yes\n3F2A9C", "K7Q2MX: yes, 3F2A9C:"])
def test_a_ref_whose_answer_is_still_to_come_is_unclear(text: str) -> None:
    """A person who sent the message too early has answered for the first call, and not for the second one."""
    assert [Meaning.UNCLEAR] == [reading.verdict for reading in read(text)]


def test_several_answers_are_not_one() -> None:
    """Taken as one message they decide nothing."""
    assert unclear(Doubt.TWO) == verdict(read("approve 3F2A9C, reject K7Q2MX"))


def test_a_known_ref_of_letters_only_is_a_ref() -> None:
    """A word is taken for a ref only if such a call is open."""
    assert "ABCDEF" == verdict(read("yes ABCDEF", known_refs=["ABCDEF"])).target
    assert Meaning.UNCLEAR is verdict(read("yes ABCDEF")).verdict


@pytest.mark.parametrize("text", ["yes 500", "yes 10am", "approve 50%", "yes $40", "yes 2nd", "yes 10k"])
def test_amounts_and_times_are_no_targets(text: str) -> None:
    """They change what is asked for, so nothing is approved."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    ["yes 1", "#2", "1 yes", "approve #3", "reject #2", "reject 7", "ok 12", "yes number 4", "approve 1, reject 2"],
)
def test_cards_have_no_numbers(text: str) -> None:
    """A number names no call, so an answer with one is unclear."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "yes @7pm", "go ahead @lunch", "ok @test", "approve @ada", "yes at_noon", "approve once_green", "ok no_delete",
        "yes after5", "approve 3weeks", "do it v3", "yes n0pe", "approve l4ter", "ok K7Q2", "yes K7Q2MXX",
    ],
)  # fmt: skip
def test_what_follows_a_yes_is_a_ref_or_makes_it_unclear(text: str) -> None:
    """A mention, a time, a place or a word with a digit behind a yes is no target."""
    reading = verdict(read(text))

    assert (Meaning.UNCLEAR, None) == (reading.verdict, reading.target)


@pytest.mark.parametrize("ref", ["123456", "AFTER5", "ABCDEF"])
def test_an_open_ref_counts_whatever_it_looks_like(ref: str) -> None:
    """A word that would be a number or a time names a call if such a call is open."""
    assert Reading(YES, target=ref) == verdict(read(f"yes {ref}", known_refs=[ref, "K7Q2MX"]))


@pytest.mark.parametrize("text", ["approve all", "/approve all"])
def test_all_is_unclear_while_one_call_is_open(text: str) -> None:
    """A yes to all speaks of several requests, so it approves nothing while a single one is open."""
    assert Meaning.UNCLEAR is verdict(read(text, known_refs=["K7Q2MX"])).verdict
    assert Reading(YES, target="all") == verdict(read(text, known_refs=["K7Q2MX", "3F2A9C"]))


def test_a_command_for_all_needs_several_open_calls() -> None:
    """`/approve all` is unclear where nothing tells that several calls are open."""
    assert Meaning.UNCLEAR is verdict(read("/approve all")).verdict


@pytest.mark.parametrize(
    "text",
    [
        "not at all",
        "nope, not at all",
        "pas du tout",
        "아닙니다",
        "안 됩니다",
        "싫습니다",
        "거절합니다",
        "반대합니다",
        "lascia tutto com'è",
        "annule tout ça",
    ],
)
def test_a_part_of_a_longer_no_names_no_calls(text: str) -> None:
    """A word for all calls inside a phrase that says no ("not at all") or inside another word speaks of no calls."""
    assert Reading(NO) == verdict(read(text))


@pytest.mark.parametrize(
    "text", ["cancel everything", "no to all", "reject them all", "annule tout", "no to everything"]
)
def test_all_behind_a_no_names_every_call(text: str) -> None:
    """The words before "all" are a no by themselves."""
    assert Reading(NO, target="all") == verdict(read(text))


@pytest.mark.parametrize("text", ["yes to both", "yes, to both", "no to both"])
def test_both_means_every_open_call(text: str) -> None:
    """An answer for two calls names no single one."""
    assert "all" == verdict(read(text)).target
