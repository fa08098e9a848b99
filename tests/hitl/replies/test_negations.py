"""A yes with a negation on it approves in no language, whichever phrase of the language it negates."""

import pytest

from hitl.replies import Verdict, data, lexicon, read, verdict

#: Language -> what negates before a phrase, and what negates or asks behind one.
_NEGATIONS: dict[str, tuple[str, str]] = {
    "ar": ("لا|ليس|لن|لم|مش", "لا"),
    "bg": ("не|няма", "не"),
    "bn": ("না|নয়", "না|নয়"),
    "ca": ("no|mai", "no"),
    "cs": ("ne|nikdy", "ne"),
    "da": ("ikke|nej|aldrig", "ikke"),
    "de": ("nicht|nein|kein|nie", "nicht"),
    "el": ("όχι|δεν|μην|ποτέ", "όχι|μη"),
    "en": ("not|no|dont|never|cant|i dont", "not|no|never"),
    "es": ("no|nunca|ni", "no"),
    "fa": ("نه|نباید", "نه|نکن"),
    "fi": ("ei|en|älä", "ei|en"),
    "fr": ("ne|pas|non|jamais", "pas|non"),
    "he": ("לא|אל", "לא"),
    "hi": ("नहीं|मत|nahi|mat", "नहीं|मत|nahi|mat"),
    "hu": ("nem|ne|soha", "nem|ne"),
    "id": ("tidak|jangan|bukan|belum|nggak", "tidak|jangan"),
    "it": ("non|no|mai", "no|mai"),
    "ja": ("いいえ|いや", "ない|ません|ないで|ないでください"),
    "ko": ("안|아니|못", "지 마|지 않아요|안 해"),
    "mr": ("नाही|नको", "नाही|नको|नका"),
    "nl": ("niet|nee|geen", "niet"),
    "pl": ("nie|nigdy", "nie"),
    "pt": ("não|nunca|nem", "não"),
    "ro": ("nu|niciodată", "nu"),
    "ru": ("не|нет|ни", "не|нет"),
    "sv": ("inte|nej|aldrig", "inte"),
    "th": ("ไม่|อย่า|ยังไม่", "ไม่|ไหม|หรือ"),
    "tr": ("hayır|değil|yok", "değil|hayır"),
    "uk": ("не|ні", "ні|не"),
    "vi": ("không|đừng|chưa|chẳng", "không|chưa"),
    "zh": ("不|没|别|未|勿", "不|吗|么|没|不行"),
}
_SPACELESS = frozenset({"ja", "th", "zh"})


def _plain_yes(code: str) -> set[str]:
    """Give the phrases under `= yes` that hold no notation."""
    section, found = "", set[str]()
    for line in data.lines(f"{code}.txt"):
        section = line if line.startswith("= ") else section
        if section == "= yes" and line != section:
            found |= {phrase.strip() for phrase in line.split(",")}
    return {phrase for phrase in found if phrase and set("()[]<>|").isdisjoint(phrase)}


def _negated(code: str) -> list[str]:
    before, behind = (words.split("|") for words in _NEGATIONS[code])
    gap = "" if code in _SPACELESS else " "
    phrases = sorted(_plain_yes(code))
    return [no + gap + yes for no in before for yes in phrases] + [yes + gap + no for no in behind for yes in phrases]


def test_every_language_is_negated() -> None:
    """None is left out."""
    assert lexicon.all_codes() == set(_NEGATIONS)


@pytest.mark.parametrize("code", sorted(_NEGATIONS))
def test_a_negated_yes_never_approves(code: str) -> None:
    """Whether or not the conversation's language is known."""
    texts = _negated(code)
    approved = [
        text
        for text in texts
        for language in (None, code)
        if verdict(read(text, language=language)).verdict is Verdict.APPROVE
    ]

    assert len(texts) > 50
    assert [] == approved
