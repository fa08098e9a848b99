"""What the reader reaches on the labelled corpora: floors that may rise, and a ceiling of no false yes."""

from typing import Any

import pytest

from hitl.replies import read, verdict
from hitl.replies.scoring import score
from tests.hitl.replies import corpora

#: Corpus -> the least recall of yes and of no, and the most unclear ones read as a no, all in percent.
FLOORS = {"real_dev": (96.19, 96.47, 0.3), "adversarial_dev": (98.7, 100, 0), "fresh_dev": (93, 97, 0.3)}


@pytest.fixture(scope="module", params=FLOORS)
def figures(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """A corpus's name and its figures."""
    rows = corpora.load(f"replies/{request.param}.jsonl")
    return request.param, score(rows, [verdict(read(row["text"])) for row in rows])


def test_nothing_is_approved_that_may_not_be(figures: tuple[str, dict[str, Any]]) -> None:
    """No false approval and no rejection read as one."""
    assert (0, 0) == (figures[1]["false_approve"], figures[1]["flip"])


def test_most_answers_are_understood(figures: tuple[str, dict[str, Any]]) -> None:
    """Recall of yes and of no stays above the floor."""
    name, found = figures
    approve, reject, _ = FLOORS[name]

    assert found["approve_recall_pct"] >= approve
    assert found["reject_recall_pct"] >= reject


def test_hardly_anything_unclear_is_rejected(figures: tuple[str, dict[str, Any]]) -> None:
    """The share of unclear replies that are read as a no stays below the corpus's ceiling."""
    assert figures[1]["unclear_rejected_pct"] <= FLOORS[figures[0]][2]


def test_reasons_are_given_back(figures: tuple[str, dict[str, Any]]) -> None:
    """Where the corpus says what the reason is, it is found."""
    assert (figures[1]["reason_pct"] or 100) >= 95
