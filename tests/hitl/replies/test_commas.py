"""A comma or a line break inside a phrase: people set commas as they speak, and mail programs break long lines."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("yes, this is good, for now", "en"),
        ("yes this is good\nfor now", "en"),
        ("I agree with it, fully", "en"),
        ("works great, for us", "en"),
        ("ich habe kein Problem, damit", "de"),
        ("in Ordnung, von meiner Seite", "de"),
        ("aucun problème, de mon côté", "fr"),
        ("por mi parte, adelante", "es"),
        ("ok, z mojej strony", "pl"),
        ("ok, dari saya", "id"),
        ("我这边、没问题", "zh"),
    ],
)
def test_a_yes_may_have_a_comma_or_a_line_break_inside_a_phrase(text: str, language: str) -> None:
    """The words mean the same with and without the comma."""
    assert Meaning.APPROVE is verdict(read(text, language=language)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "no, need to wait, go ahead",
        "good, right",
        "yes, they are all merged",
        "yes, if it works, for me",
        "this is good, for now, but later more",
        "it works, for them",
    ],
)
def test_a_comma_that_changes_the_meaning_is_never_left_out(text: str) -> None:
    """A no, a question, a condition or a statement beside a comma keeps its own meaning."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict


@pytest.mark.parametrize("stop", [", ", "\n", "\r\n"])
@pytest.mark.parametrize(
    "words",
    [
        ("I would", "approve"),
        ("I'd like to", "approve it"),
        ("do it", "right"),
        ("хочу", "одобрить"),
        ("saya mau", "setuju"),
        ("proszę", "zatwierdzić"),
        ("vänligen", "godkänn"),
        ("por favor", "aprobar"),
        ("נא", "לאשר"),
        ("승인", "부탁드립니다"),
    ],
)
def test_a_phrase_that_is_no_answer_stays_one_across_a_comma_or_a_line_break(words: tuple[str, str], stop: str) -> None:
    """Otherwise a line break that a mail program adds would make a yes of a wish or a request."""
    assert Meaning.APPROVE is not verdict(read(" ".join(words))).verdict
    assert Meaning.APPROVE is not verdict(read(stop.join(words))).verdict
