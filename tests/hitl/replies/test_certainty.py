"""A person who is asked "Are you sure?" answers with a yes and says that they are sure."""

import pytest

from hitl.replies import Meaning, read, verdict

_SURE = {
    "ar": ("نعم", "أنا متأكد"),
    "bg": ("да", "сигурен съм"),
    "bn": ("হ্যাঁ", "আমি নিশ্চিত"),
    "ca": ("sí", "n'estic segura"),
    "cs": ("ano", "jsem si jistá"),
    "da": ("ja", "jeg er helt sikker"),
    "de": ("ja", "bin mir sicher"),
    "el": ("ναι", "είμαι σίγουρη"),
    "es": ("sí", "estoy seguro"),
    "fa": ("بله", "مطمئنم"),
    "fi": ("kyllä", "olen varma"),
    "fr": ("oui", "j'en suis sûre"),
    "he": ("כן", "אני בטוחה"),
    "hi": ("हाँ", "मुझे यकीन है"),
    "hu": ("igen", "biztos vagyok benne"),
    "id": ("ya", "saya yakin"),
    "it": ("sì", "ne sono sicura"),
    "ja": ("はい", "本気です"),
    "ko": ("네", "확신합니다"),
    "mr": ("होय", "मला खात्री आहे"),
    "nl": ("ja", "ik weet het zeker"),
    "pl": ("tak", "jestem pewna"),
    "pt": ("sim", "tenho certeza"),
    "ro": ("da", "sunt sigur"),
    "ru": ("да", "я уверена"),
    "sv": ("ja", "jag är säker"),
    "th": ("ใช่", "ผมแน่ใจ"),
    "tr": ("evet", "eminim"),
    "uk": ("так", "я впевнений"),
    "vi": ("vâng", "tôi chắc chắn"),
}


@pytest.mark.parametrize("language", _SURE)
def test_a_yes_of_somebody_who_is_sure_approves(language: str) -> None:
    """The certainty limits nothing."""
    yes, sure = _SURE[language]

    assert Meaning.APPROVE is verdict(read(f"{yes}, {sure}", language=language)).verdict


@pytest.mark.parametrize("language", _SURE)
def test_certainty_alone_is_no_answer(language: str) -> None:
    """A person may be sure of something else."""
    assert Meaning.UNCLEAR is verdict(read(_SURE[language][1], language=language)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "bin mir nicht sicher",
        "no estoy seguro",
        "je ne suis pas sûr",
        "non sono sicuro",
        "não tenho certeza",
        "ik weet het niet zeker",
        "nie jestem pewien",
        "я не уверен",
        "emin değilim",
        "אני לא בטוח",
        "jag är inte säker",
        "δεν είμαι σίγουρος",
        "nejsem si jistý",
        "nem vagyok biztos benne",
        "en ole varma",
        "yes, I'm not sure",
        "sí, no estoy seguro",
        "はい、確かですか",
        "sí, estoy seguro de que está mal",
    ],
)
def test_doubt_is_no_answer(text: str) -> None:
    """A person who isn't sure neither approves nor rejects."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
