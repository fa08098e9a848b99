"""The figures are what their names say."""

import pytest

from hitl.replies import Meaning, Reading
from hitl.replies.scoring import score

YES, NO, NEITHER = (Reading(verdict) for verdict in Meaning)


def test_a_yes_that_nothing_allows_is_a_false_approve() -> None:
    """On a rejection it is a flip as well."""
    figures = score([{"text": "x", "label": "reject"}, {"text": "y", "label": "unclear"}], [YES, YES])

    assert (2, 2, 1) == (figures["false_approve"], figures["of"], figures["flip"])


def test_rows_with_several_right_answers_count_for_no_rate() -> None:
    """They can still be answered falsely."""
    figures = score([{"text": "x", "label": "unclear", "also_ok": ["reject"]}], [NO])

    assert (None, 0) == (figures["unclear_kept_pct"], figures["false_approve"])


def test_rates_are_percent_of_the_strict_rows() -> None:
    """Two of three are 66.67 %."""
    rows = [{"text": "x", "label": "approve"}] * 3

    assert 66.67 == score(rows, [YES, YES, NEITHER])["approve_recall_pct"]


def test_a_reason_counts_apart_from_case_blanks_and_final_stop() -> None:
    """What is compared is the words."""
    rows = [{"text": "x", "label": "reject", "reason": "too  Risky."}]

    assert 100 == score(rows, [Reading(Meaning.REJECT, reason="Too risky")])["reason_pct"]


def test_rows_and_answers_must_be_equally_many() -> None:
    """A missing answer is an error, never a miss that nobody sees."""
    with pytest.raises(ValueError, match="zip"):
        score([{"text": "x", "label": "approve"}], [])
