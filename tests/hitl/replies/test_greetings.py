"""Greetings, fillers, "I see" and praise beside a word that means yes."""

import pytest

from hitl.replies import Meaning, data, lexicon, read, verdict
from hitl.replies.phrase_roles import UNCLEAR

#: Language -> its plainest yes.
_YES = {
    "ar": "نعم",
    "bg": "да",
    "bn": "হ্যাঁ",
    "ca": "sí",
    "cs": "ano",
    "da": "ja",
    "de": "ja",
    "el": "ναι",
    "en": "yes",
    "es": "sí",
    "fa": "بله",
    "fi": "kyllä",
    "fr": "oui",
    "he": "כן",
    "hi": "हाँ",
    "hu": "igen",
    "id": "setuju",
    "it": "sì",
    "ja": "はい",
    "ko": "네",
    "mr": "हो",
    "nl": "ja",
    "pl": "tak",
    "pt": "sim",
    "ro": "da",
    "ru": "да",
    "sv": "ja",
    "th": "ใช่",
    "tr": "evet",
    "uk": "так",
    "vi": "vâng",
    "zh": "同意",
}


def _greetings(code: str) -> list[str]:
    """Give the phrases under `= greeting` that hold no notation."""
    section, found = "", list[str]()
    for line in data.lines(f"{code}.txt"):
        section = line if line.startswith("= ") else section
        if section == "= greeting" and line != section:
            found += [phrase.strip() for phrase in line.split(",") if "(" not in phrase]
    return found


@pytest.mark.parametrize("code", sorted(_YES))
def test_a_yes_before_a_greeting_is_no_answer(code: str) -> None:
    """The words "yes, hello" answer a call by name, not a request."""
    said = [f"{_YES[code]}{joint} {hello}" for hello in _greetings(code) for joint in ("", ",")]

    assert said
    assert [] == [text for text in said if verdict(read(text)).verdict is not Meaning.UNCLEAR]
    assert [] == [text for text in said if verdict(read(text, language=code)).verdict is not Meaning.UNCLEAR]


@pytest.mark.parametrize("code", sorted(_YES))
def test_a_yes_behind_a_greeting_approves(code: str) -> None:
    """A greeting opens a reply and changes nothing of what follows."""
    said = [f"{hello}, {_YES[code]}" for hello in _greetings(code)]

    assert [] == [text for text in said if verdict(read(text, language=code)).verdict is not Meaning.APPROVE]


@pytest.mark.parametrize("code", sorted(_YES))
def test_a_greeting_alone_is_no_answer(code: str) -> None:
    """No language reads a bare greeting as a yes or a no."""
    assert [] == [text for text in _greetings(code) if verdict(read(text)).verdict is not Meaning.UNCLEAR]


def test_every_language_greets() -> None:
    """Each language file has greetings, and each language a yes to try them with."""
    assert lexicon.all_codes() == set(_YES)
    assert [] == [code for code in sorted(_YES) if not _greetings(code)]


@pytest.mark.parametrize(
    "text", ["yes, hello, go ahead", "ja hallo, mach das", "oui bonjour, allez-y", "hello team, yes, ship it"]
)
def test_a_yes_on_both_sides_of_a_greeting_approves(text: str) -> None:
    """The yes behind the greeting counts."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["hello, no", "hallo, nein", "bonjour, non", "привет, нет", "no, hello", "hej, nej"])
def test_a_no_beside_a_greeting_rejects(text: str) -> None:
    """A greeting takes nothing from a no."""
    assert Meaning.REJECT is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "ah ok",
        "oh, okay",
        "oh right then",
        "Aha, ok.",
        "fair enough",
        "yes, ah ok",
        "ach so, ok",
        "ah ja",
        "ah d'accord",
        "ah vale",
        "ah va bene",
        "ah tá",
        "ah oké",
        "jaha, ok",
        "nå ok",
        "ai okei",
        "selvä",
        "aha dobře",
        "aha, dobra",
        "а, ок",
        "принято",
        "а, добре",
        "прийнято",
        "прието",
        "α, εντάξει",
        "ha tamam",
        "ja, oké",
        "a, ok",
        "אה, אוקיי",
        "اها باشه",
        "ओह, ठीक है",
        "あ、はい",
        "아 네",
        "哦，好的",
        "อ๋อ โอเค",
        "à, vâng",
        "oh oke",
        "entendu",
        "oui, entendu",
        "siap",
        "ok, siap",
        "有道理",
        "έγινε",
        "oldu",
        "läuft",
        "passed",
        "そうですね",
        "確かに",
        "infatti",
        "jasný",
    ],
)
def test_taking_note_is_no_answer(text: str) -> None:
    """Who says "ah, ok" has understood the message; that is no consent to what it asks."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "ah ok, go ahead",
        "oh okay do it",
        "fair enough, approved",
        "oh yes",
        "ah, yes",
        "ach so, ok, mach das",
        "oh oui",
        "selvä, jatka",
        "принято, делай",
        "о да",
        "entendu, allez-y",
        "siap, lanjutkan",
        "そうですね、進めてください",
        "はい、確かに",
        "sì, infatti",
        "哦，好的，同意",
    ],
)
def test_a_yes_behind_taking_note_approves(text: str) -> None:
    """The person takes note first and consents then, or the yes is emphatic: "oh yes"."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["ah ok, no", "ah ok, nein", "oh okay then don't"])
def test_a_no_behind_taking_note_rejects(text: str) -> None:
    """Taking note takes nothing from a no."""
    assert Meaning.REJECT is verdict(read(text)).verdict


@pytest.mark.parametrize("code", sorted(lexicon.all_codes()))
def test_ok_behind_ah_takes_note_in_every_language_that_knows_both(code: str) -> None:
    """No language reads "ah ok" as consent."""
    found = lexicon.load(code).phrases.matches(["ah", "ok"], 0)

    assert not found or found[-1][0] == 1 or found[-1][1] & UNCLEAR


@pytest.mark.parametrize(
    "text",
    [
        "yes well",
        "ok, so",
        "ja nun",
        "nun ja",
        "ja, also",
        "ja nou",
        "ja dus",
        "oui bon",
        "ok, eh bien",
        "sí, pues",
        "sì, beh",
        "sim, pois",
        "ano tak",
        "da păi",
        "igen, hát",
        "joo siis",
        "d'acord, doncs",
        "да ну",
        "так ну",
        "כן נו",
        "باشه خب",
        "हाँ तो",
        "はい、では",
    ],
)
def test_a_yes_before_a_filler_is_no_answer(text: str) -> None:
    """A word that opens a sentence ends none: the person hesitates, or will write on."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "well, yes",
        "so yes, go ahead",
        "yes, so do it",
        "also ja",
        "ja, also mach das",
        "nou, akkoord",
        "bon, d'accord",
        "pues sí",
        "bueno, vale",
        "beh, sì",
        "hát, rendben",
        "ну, давай",
        "では、承認します",
        "yes, as well",
        "very well",
    ],
)
def test_a_yes_behind_a_filler_approves(text: str) -> None:
    """A filler opens a reply and changes nothing of what follows."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "absolutely fabulous",
        "really great",
        "absolut super",
        "wirklich prima",
        "absolument génial",
        "totalmente genial",
        "assolutamente fantastico",
        "realmente ótimo",
        "echt geweldig",
        "naprawdę świetnie",
        "opravdu skvěle",
        "абсолютно прекрасно",
        "справді чудово",
        "kesinlikle harika",
        "当然很好",
        "정말 최고",
        "本当に最高",
    ],
)
def test_strengthened_praise_is_no_answer(text: str) -> None:
    """A word that agrees when it stands alone only strengthens the praise behind it."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["yes, really great", "absolutely fabulous, go ahead", "ja, wirklich super", "absolutely"]
)
def test_a_yes_beside_strengthened_praise_approves(text: str) -> None:
    """The praise takes nothing from a yes."""
    assert Meaning.APPROVE is verdict(read(text)).verdict
