"""A person who doesn't care, or who only says that they are there, has decided nothing."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("me vale", "es"),
        ("me vale madre", "es"),
        ("хай буде", "uk"),
        ("ας είναι", "el"),
        ("έστω", "el"),
        ("नो फर्क", "hi"),
        ("mindegy", "hu"),
        ("mi-e egal", "ro"),
        ("ihan sama", "fi"),
        ("det kvittar", "sv"),
        ("bodo amat", "id"),
        ("無所謂", "zh"),
        ("どっちでもいい", "ja"),
    ],
)
def test_indifference_is_no_answer(text: str, language: str) -> None:
    """The words leave the decision to somebody else."""
    assert Meaning.UNCLEAR is verdict(read(text, language=language)).verdict


@pytest.mark.parametrize("text", ["ja, da", "ja da", "mm hmm", "ja, bin da", "sí, aquí estoy", "да, я тут"])
def test_presence_is_no_answer(text: str) -> None:
    """The person hears us, and may decide next."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["can't approve from my phone", "I cannot approve this on my laptop"])
def test_a_person_who_is_unable_to_approve_has_not_rejected(text: str) -> None:
    """Another device may be able to."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
