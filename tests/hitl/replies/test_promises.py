"""Words that hold a yes and speak of another time, of the speaker's own work, or only report."""

import pytest

from hitl.replies import Meaning, read, verdict


def _reads(text: str) -> Meaning:
    return verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["this would be acceptable", "it would be allowed", "they'd be ok", "it'll be alright"]
)
def test_a_condition_or_a_forecast_is_no_answer(text: str) -> None:
    """What would be fine, or will be, says nothing of what should be done now."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["yes, it would be acceptable", "sure, it'll be alright", "that would be correct"])
def test_a_forecast_beside_a_yes_changes_nothing(text: str) -> None:
    """The yes beside it counts. "That would be correct" agrees politely with the question."""
    assert _reads(text) is Meaning.APPROVE


@pytest.mark.parametrize("text", ["no, it would be acceptable", "nope, I will sign off on it"])
def test_a_no_with_a_forecast_that_holds_a_yes_is_unclear(text: str) -> None:
    """The two contradict each other."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["I will launch it", "we will publish", "we'll submit this", "we could release it"])
def test_a_promise_to_do_it_oneself_is_no_answer(text: str) -> None:
    """Whoever does it without us doesn't allow us to do it, with "will" spelled out or not."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["I will authorize it", "we'll consent", "I'll say yes to it", "I'll agree"])
def test_a_promise_to_approve_is_no_answer(text: str) -> None:
    """The approval is still to come."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["I'll approve", "I will allow it", "okay, I'll accept it", "go on, yes"])
def test_a_promise_that_is_an_approval_in_itself_counts(text: str) -> None:
    """People approve with these very words, or say yes beside them."""
    assert _reads(text) is Meaning.APPROVE


@pytest.mark.parametrize("text", ["is confirmed", "migration approved", "release was approved", "go on", "both fine"])
def test_a_report_of_an_approval_is_no_answer(text: str) -> None:
    """It may tell of somebody else's approval, or of another request."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["허용 아님", "예예 아님", "실행, 아님", "그래요아님", "아님 허가"])
def test_korean_is_not_undoes_a_yes(text: str) -> None:
    """The word "아님" negates the word before it, with a blank or a comma between them or without."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize(
    "text", ["許可そうです", "オッケーだそうです", "異議なしそう", "良さそうだね", "賛成だそうです"]
)
def test_japanese_hearsay_is_no_answer(text: str) -> None:
    """The word "そう" behind another says what others say, or how it looks."""
    assert _reads(text) is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["そうです", "はい、そうです", "そうしてください"])
def test_japanese_so_on_its_own_agrees(text: str) -> None:
    """The word "そう" means "that is so" if no word stands before it that it could doubt."""
    assert _reads(text) is Meaning.APPROVE


@pytest.mark.parametrize("text", ["well, ship it", "well yes"])
def test_well_is_no_contraction(text: str) -> None:
    """The word "well" opens a yes. Only an apostrophe makes it "we will"."""
    assert _reads(text) is Meaning.APPROVE


@pytest.mark.parametrize("text", ["we'll ship it", "We\u2019ll go ahead"])
def test_we_will_is_read_with_either_apostrophe(text: str) -> None:
    """Keyboards write the typewriter's apostrophe or the curly one."""
    assert _reads(text) is Meaning.UNCLEAR
