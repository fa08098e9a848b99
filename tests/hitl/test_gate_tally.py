"""Whether votes suffice: distinct people whose yes counts by now."""

from __future__ import annotations

import pytest

from hitl.gate.tally import tally
from hitl.model import Vote
from tests.hitl.world import ANN, BOB, NOON, SAM


def vote(principal: str, *, approve: bool = True) -> Vote:
    """One person's answer."""
    return Vote("ref", principal, approve, None, "telegram", NOON, NOON, "mac")


@pytest.mark.parametrize(
    ("votes", "need", "complete"),
    [
        ([], 1, False),
        ([vote(ANN)], 1, True),
        ([vote(ANN, approve=False)], 1, False),
        ([vote(SAM)], 1, False),
        ([vote(ANN)], 2, False),
        ([vote(ANN), vote(ANN)], 2, False),
        ([vote(ANN), vote(SAM)], 2, False),
        ([vote(ANN), vote(BOB)], 2, True),
    ],
)
def test_it_takes_so_many_people_who_may_approve(votes: list[Vote], need: int, *, complete: bool) -> None:
    """Twice the same person is one, a no is none, and Sam's vote doesn't count by now."""
    assert complete is tally(votes, {ANN, BOB}.__contains__, need).complete


def test_it_says_whose_yes_counted() -> None:
    """For the record, and for a card that waits for more."""
    assert {ANN} == tally([vote(ANN), vote(SAM), vote(BOB, approve=False)], {ANN, BOB}.__contains__).approved_by
