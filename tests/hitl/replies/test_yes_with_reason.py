"""A yes with a reason, where a reason is demanded."""

from __future__ import annotations

import pytest

from hitl.replies import Meaning, Reading, is_reason, reasoned_yes


@pytest.mark.parametrize(
    ("text", "reason", "target"),
    [
        ("approve K7Q2MX because it was announced", "it was announced", "K7Q2MX"),
        ("yes because the release is planned", "the release is planned", None),
        ("Go ahead, because\nAda agreed to it", "Ada agreed to it", None),
    ],
)
def test_a_yes_and_its_reason(text: str, reason: str, target: str | None) -> None:
    """What stands before "because" is a whole yes, what stands behind it is kept as it was written."""
    assert Reading(Meaning.APPROVE, reason, target) == reasoned_yes(text)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "yes because",
        "maybe because it was announced",
        "no because it was announced",
        "yes because only in staging",
        "yes because it is fine if the tests pass",
        "yes because why not?",
        "yes because Bob said no",
        "yes because it is planned, but wait",
        "yes because I guess so",
    ],
)
def test_anything_less_is_none(text: str) -> None:
    """No reason, no whole yes, or a condition, a question, a hedge or a no anywhere: nothing is approved."""
    assert reasoned_yes(text) is None


@pytest.mark.parametrize("text", ["the disk is full", "ticket 4411", "Needed for the release.", "yes", "因为磁盘已满"])
def test_what_completes_a_yes(text: str) -> None:
    """Words that nobody knows are what reasons are made of."""
    assert is_reason(text)


@pytest.mark.parametrize(
    "text",
    ["wait", "hold on, let me check", "what does it do?", "not sure yet", "only in staging", "no", "bitte warten"],
)
def test_what_completes_none(text: str) -> None:
    """Who says so thinks again."""
    assert not is_reason(text)
