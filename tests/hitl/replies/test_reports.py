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


@pytest.mark.parametrize(
    "text",
    [
        "they are okay with this",
        "they're certain",
        "those are fine with it",
        "everyone is happy with it",
        "everybody's good with that",
        "the others are happy to proceed",
        "both of them are fine with that",
        "semuanya setuju",
        "semua sudah setuju sekali",
        "모두 찬성합니다",
    ],
)
def test_the_consent_of_others_is_no_answer(text: str) -> None:
    """It reports what other people think, and the person who writes decides nothing."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize(
    "text",
    [
        "the plan was approved",
        "the command was accepted",
        "I gave my ok",
        "gave permission",
        "já autorizamos",
        "nós já aprovamos a mudança",
        "我们已经批准了",
        "我已同意",
        "전에 동의해요",
    ],
)
def test_an_earlier_yes_is_no_answer(text: str) -> None:
    """What was approved before, by whomever, may be another request."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["questo va confermato", "tutto va autorizzato", "va approvato"])
def test_what_has_to_be_approved_is_no_answer(text: str) -> None:
    """The Italian verb "andare" with a participle says that something must be done."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["this may be live", "it may be out", "es geht so", "so so", "se poate", "এটা ভালো হবে"])
def test_a_guess_is_no_answer(text: str) -> None:
    """It says what may be, how something will be, or that it is middling."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize(
    "text", ["lösche die Anfrage", "bitte nimm die Anfrage weg", "beende den Vorgang", "entferne diese Anfrage sofort"]
)
def test_an_order_to_remove_the_request_approves_nothing(text: str) -> None:
    """It speaks of the request itself, and not of what the request would delete."""
    assert _read(text).verdict is not Meaning.APPROVE
