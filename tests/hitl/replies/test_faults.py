"""A reply that only names the fault of a request rejects it, and is its own reason."""

import pytest

from hitl.replies import Meaning, read, verdict

_WRONG = {
    "bg": "грешна сума",
    "ca": "compte equivocat",
    "de": "falsches Konto",
    "en": "the wrong recipient",
    "es": "importe incorrecto",
    "fa": "مبلغ اشتباهه",
    "fr": "mauvais destinataire",
    "he": "סכום שגוי",
    "hi": "गलत रकम",
    "id": "jumlahnya salah",
    "it": "conto sbagliato",
    "ko": "서버가 틀려요",
    "nl": "verkeerd bedrag",
    "pt": "valor errado",
    "zh": "金额错了",
}


@pytest.mark.parametrize("language", _WRONG)
def test_a_wrong_thing_is_a_reason_to_reject(language: str) -> None:
    """The reply needs no other no."""
    said = verdict(read(_WRONG[language], language=language))

    assert (Meaning.REJECT, _WRONG[language]) == (said.verdict, said.reason)


@pytest.mark.parametrize("text", ["yes, wrong account", "sí, importe incorrecto", "ja, falsches Konto"])
def test_a_yes_beside_a_fault_is_unclear(text: str) -> None:
    """Nobody approves a fault."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
