"""Words with a "not" or a "no" in them that report something, or speak of something else than the request."""

import pytest

from hitl.replies import Meaning, read, verdict
from hitl.replies.model import Reading


def _read(text: str) -> Reading:
    return verdict(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "the link doesn't open",
        "le lien ne s'ouvre pas",
        "la página no carga",
        "o link não abre",
        "non si apre",
        "de knop werkt niet",
        "bei mir lädt es nicht",
        "u mnie nie działa",
        "у меня не открывается",
        "у мене не працює",
        "bağlantı açılmıyor",
        "δεν ανοίγει",
        "sivu ei lataudu",
        "länken funkar inte",
        "knappen virker ikke",
        "nem nyílik meg",
        "to nefunguje",
        "nu se deschide",
        "الرابط لا يفتح",
        "הקישור לא נפתח",
    ],
)
def test_a_report_that_something_fails_is_no_answer(text: str) -> None:
    """It may speak of the card or of the person's own device."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no, no carga", "no carga"),
        ("nein, funktioniert nicht", "funktioniert nicht"),
        ("it won't load, cancel it", None),
        ("that doesn't work for me", "that doesn't work for me"),
    ],
)
def test_a_no_beside_the_report_counts(text: str, reason: str | None) -> None:
    """The report is its reason, or only stands before it. "That doesn't work" itself answers a proposal."""
    assert _read(text) == Reading(Meaning.REJECT, reason)


@pytest.mark.parametrize(
    "text",
    [
        "cancel the second one",
        "deny which one",
        "annule l'autre",
        "cancela el otro",
        "rifiuta l'altra",
        "lehne das andere ab",
        "waiting on legal",
        "can't open it",
        "no la encuentro",
        "non la trovo",
        "не вижу",
        "不是我做的",
        "我现在不在公司",
    ],
)
def test_a_no_about_something_else_is_no_answer(text: str) -> None:
    """It speaks of another call, or of what the person can't see, or isn't in charge of."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["no, no worries", "nein, gar kein Problem", "no, no pasa nada", "нет, не проблема"])
def test_no_and_no_problem_is_unclear(text: str) -> None:
    """It answers "do you mind?", so that it may agree."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["No. 1 issue", "no. 4 candidate.", "no. 9"])
def test_a_rank_or_a_number_is_no_rejection(text: str) -> None:
    """The abbreviation "No." before a number stands for "number"."""
    assert _read(text).verdict is Meaning.UNCLEAR


def test_a_count_behind_a_no_is_its_reason() -> None:
    """Several words behind the number make a sentence."""
    assert _read("No. 3 tests failed") == Reading(Meaning.REJECT, "3 tests failed")


@pytest.mark.parametrize("text", ["O.K.", "o.k. danke", "O.K., go ahead"])
def test_okay_with_stops_approves(text: str) -> None:
    """The stops are part of the word."""
    assert _read(text).verdict is Meaning.APPROVE


@pytest.mark.parametrize("text", ["e.o.k", "o.k.a.", "o.k?"])
def test_other_abbreviations_and_questions_are_unclear(text: str) -> None:
    """Only the letters O and K by themselves, without a question mark, are a yes."""
    assert _read(text).verdict is Meaning.UNCLEAR
