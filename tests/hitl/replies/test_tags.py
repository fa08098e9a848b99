"""A yes with words behind it that ask for a confirmation, without a question mark."""

import pytest

from hitl.replies import Meaning, read, verdict
from hitl.replies.model import Reading


def _read(text: str, language: str | None = None) -> Reading:
    return verdict(read(text, language=language))


@pytest.mark.parametrize(
    "text",
    [
        "de acuerdo, verdad",
        "perfecto, adelante, cierto",
        "autorizzato... vero",
        "confermato, giusto",
        "autorizado, certo",
        "d'accord, pas vrai",
        "مقبول صح",
        "동의 맞지",
        "selvä, vai",
        "подтверждено, правда",
        "дозволено, вірно",
        "בסדר, נכון",
        "confirmed, right",
        "go ahead, yeah",
        "ship it, right",
        "great, right",
    ],
)
def test_a_yes_with_a_tag_asks_back(text: str) -> None:
    """Whoever ends a yes with "right" wants to hear whether it is right."""
    assert _read(text).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("language", ["es", "pt", "it", None])
def test_a_tag_of_one_language_is_asked_back_where_another_knows_it_as_a_yes(language: str | None) -> None:
    """In Italian "certo" agrees, in Portuguese and Spanish it asks; only an Italian conversation settles it."""
    wanted = Meaning.APPROVE if language == "it" else Meaning.UNCLEAR
    assert _read("ok certo", language).verdict is wanted


@pytest.mark.parametrize(
    "text",
    [
        "sí, es verdad",
        "да, верно",
        "כן, נכון",
        "ναι, σωστά",
        "yes, right",
        "ok, that's right",
        "certo",
        "맞지",
        "네 맞아요",
    ],
)
def test_words_that_strengthen_a_plain_yes_are_no_tag(text: str) -> None:
    """They agree with the question: a tag that is the end of a longer phrase, and "right" behind a plain "yes"."""
    assert _read(text).verdict is Meaning.APPROVE


def test_a_tag_needs_a_yes_before_it() -> None:
    """Without one, the words are read as what they are."""
    assert _read("no, vero").verdict is not Meaning.APPROVE
    assert _read("sbagliato, vero").verdict is not Meaning.APPROVE


@pytest.mark.parametrize(
    "text",
    ["approve, right", "confirm it, correct", "send them, eh", "go, right", "freigeben, richtig", "lösch sie, korrekt"],
)
def test_right_behind_an_order_asks_for_a_confirmation(text: str) -> None:
    """Behind "yes", the same word strengthens the yes. Behind an order it may ask: "approve it, right?"."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict


@pytest.mark.parametrize("behind", ["", " 🙂", " 👍", "! 🙏", " K7Q2MX", " #K7Q2MX"])
@pytest.mark.parametrize("text", ["ok, vero", "vale, verdad", "yes please confirm that", "yes you can approve it"])
def test_signs_and_refs_behind_the_last_word_change_nothing(text: str, behind: str) -> None:
    """A tag and a phrase that is no answer stay what they are if an emoji or a ref follows them."""
    assert Meaning.APPROVE is not verdict(read(text + behind)).verdict
