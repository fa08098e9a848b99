"""A statement with a tag behind it asks, also without a question mark."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    "text",
    [
        "this is fine, right",
        "that's ok right",
        "looks good, correct",
        "ok to ship right",
        "das passt, oder",
        "das ist ok, richtig",
        "c'est bon, hein",
        "c'est ok, vrai",
        "está bien, cierto",
        "todo correcto, verdad",
        "va bene, giusto",
        "è tutto a posto, vero",
        "está tudo certo, né",
        "dat is goed, toch",
        "jest ok, prawda",
        "je to v pořádku, viď",
        "està bé, oi",
        "totul e bine, nu",
        "minden rendben, ugye",
        "всё верно, правда",
        "все добре, так",
        "добре, нали",
        "הכל בסדר, נכון",
        "كله تمام، صح",
        "tamam, değil mi",
        "好，对吧",
    ],
)
def test_a_tag_behind_a_statement_asks(text: str) -> None:
    """The person wants to hear whether it is so, and hasn't decided."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "yes, right",
        "yes, that's right",
        "sí, cierto",
        "tak, prawda",
        "да, верно",
        "sim, certo",
        "sì, giusto",
        "ja, richtig",
    ],
)
def test_the_same_word_behind_a_yes_confirms(text: str) -> None:
    """A word that asks behind a statement agrees behind a plain yes."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["it works now", "this works again", "everything works already"])
def test_a_report_that_it_works_is_no_answer(text: str) -> None:
    """The sentence "that works" accepts a proposal; "it works now" tells of a test."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
