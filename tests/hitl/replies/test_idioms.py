"""Idioms whose words say something else than the idiom."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    "text", ["tabi ya", "ist klar", "ja, is klar", "oui, enfin", "כן בטח", "neden olmasın", "suuure", "riiight"]
)
def test_an_idiom_of_doubt_or_mockery_is_no_answer(text: str) -> None:
    """A yes is part of its words."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "von wegen",
        "et puis quoi encore",
        "מה פתאום",
        "да нет конечно",
        "jeszcze czego",
        "拉倒吧",
        "よろしくない",
        "하면 안 돼",
        "còn khuya",
        "đâu có được",
    ],
)
def test_an_idiom_of_refusal_rejects(text: str) -> None:
    """No plain no is part of its words."""
    assert Meaning.REJECT is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["dehogynem", "ok lah", "neden olmasın, yap"])
def test_an_idiom_of_consent_approves(text: str) -> None:
    """The words "of course" in Hungarian hold a no, and "why not" in Turkish does too."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["no, it's good", "לא, אין בעיה", "không, không sao", "nggak, gapapa", "nej det er fint"]
)
def test_a_no_that_denies_a_problem_is_no_answer(text: str) -> None:
    """It may mean "no, go ahead" and "no, thanks"."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


def test_a_czech_fault_that_is_a_polish_hedge_is_unclear() -> None:
    """The word "chyba" is "mistake" in Czech, and "probably" in Polish."""
    assert Meaning.UNCLEAR is verdict(read("chyba")).verdict
    assert Meaning.REJECT is verdict(read("to je chyba")).verdict
