"""What the tests' own look at sentences sees."""

from __future__ import annotations

import pytest

from hitl.outcomes import Refusal, Told, fact
from hitl.wording import say, sentence
from tests.sentences import says


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
