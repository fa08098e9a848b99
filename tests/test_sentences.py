"""What the tests' own look at sentences sees."""

from __future__ import annotations

import pytest

from hitl.cards.wording import say, sentence
from hitl.errors import CallUnknown, NotApprover
from hitl.outcomes import Refusal, Told, fact
from tests.sentences import raises, says


def test_a_sentence_is_found_with_its_particulars() -> None:
    """Alone, inside a longer text, and across a line break."""
    text = sentence(fact(Refusal.STRANGER, who="local:7", short="AAAAAA"))

    assert says(text, Refusal.STRANGER)
    assert says(f"Hm. {text.replace(' ', chr(10), 3)} So.", Refusal.STRANGER, who="local:7", short="AAAAAA")


@pytest.mark.parametrize(("what", "particulars"), [(Refusal.OWN, {}), (Refusal.STRANGER, {"who": "local:8"})])
def test_another_sentence_or_other_particulars_are_not_found(what: Refusal, particulars: dict[str, str]) -> None:
    """What is looked for must be there as a whole."""
    assert not says(sentence(fact(Refusal.STRANGER, who="local:7", short="AAAAAA")), what, **particulars)


def test_a_sentence_inside_another_may_have_lost_its_full_stop() -> None:
    """As `clause` leaves it."""
    assert says(say("outcome.denied", why="so") + ", it says", "outcome.denied")


def test_a_particular_that_the_sentence_does_not_have_is_a_mistake_of_the_test() -> None:
    """It would never be looked at."""
    with pytest.raises(AssertionError, match="no such particular"):
        says("anything", Told.APPROVED, who="me")


def _refuse(why: Refusal, **particulars: object) -> None:
    """Refuse with that sentence."""
    raise NotApprover(fact(why, **particulars))


def test_an_error_is_expected_by_its_class_and_its_sentence() -> None:
    """The context manager hands out the error that it caught."""
    with raises(NotApprover, Refusal.OWN, short="AAAAAA") as caught:
        _refuse(Refusal.OWN, short="AAAAAA")

    assert fact(Refusal.OWN, short="AAAAAA") == caught.value.fact


@pytest.mark.parametrize(("what", "particulars"), [(Refusal.PLACE, {}), (Refusal.OWN, {"short": "BBBBBB"})])
def test_an_error_with_another_sentence_or_other_particulars_fails_the_test(
    what: Refusal, particulars: dict[str, str]
) -> None:
    """The failure shows the sentence that the error has."""
    with pytest.raises(AssertionError, match="AAAAAA"), raises(NotApprover, what, **particulars):
        _refuse(Refusal.OWN, short="AAAAAA")


def test_an_error_of_another_class_is_not_expected() -> None:
    """It passes through, as it does through `pytest.raises`."""
    with pytest.raises(NotApprover), raises(CallUnknown, Refusal.OWN):
        _refuse(Refusal.OWN, short="AAAAAA")
