"""Words that say yes in one language and something else in another decide only where that is settled."""

import pytest

from hitl.replies import Meaning, lexicon, read, verdict
from hitl.replies.phrase_roles import CONDITION, HEDGE, LATER, POLITE, QUESTION, REFUSES, UNCLEAR, YES

_SOMETHING_ELSE = POLITE | REFUSES | UNCLEAR | CONDITION | QUESTION | LATER | HEDGE
#: Looked at, and left to decide alone. "ja": the yes of six languages, beside Catalan's "already". "si": a yes without
#: its accent; a bare "if" is no reply. "da": the yes of the Slavs and of Romania. "yaa" is read as "ya".
#: "top" is praise in each language that has it, and no yes alone. The others approve nothing in English.
_SETTLED = {"ja", "si", "da", "perfect", "super", "jaa", "haa", "yaa", "top"}


def _roles(code: str, word: str) -> int:
    language = lexicon.load(code)
    found = language.phrases.matches([language.known(word)], 0)
    return found[0][1] if found else 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("tak", "pl"),
        ("так", "uk"),
        ("може", "bg"),
        ("ya", "id"),
        ("ya", "en"),
        ("va", "es"),
        ("igen", "hu"),
        ("klar", "de"),
        ("prima", "nl"),
        ("تمام", "ar"),
        ("nai", "el"),
    ],
)
def test_the_conversations_language_settles_a_homograph(text: str, language: str) -> None:
    """It approves where the language is known, and says nothing where it isn't."""
    assert Meaning.APPROVE is verdict(read(text, language=language)).verdict
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("tak", "da"),
        ("tak", "cs"),
        ("mange tak", "da"),
        ("так", "ru"),
        ("може", "uk"),
        ("ya", "es"),
        ("va", "sv"),
        ("va", "it"),
        ("igen", "sv"),
        ("klar", "da"),
        ("logo", "pt"),
        ("prima", "it"),
        ("تمام", "fa"),
        ("ta", "en"),
    ],
)
def test_a_homograph_approves_nothing_where_it_is_no_yes(text: str, language: str) -> None:
    """Thanks in Danish, "so" in Russian, "already" in Spanish."""
    assert Meaning.UNCLEAR is verdict(read(text, language=language)).verdict


@pytest.mark.parametrize(
    "text", ["nai nai", "tak, super", "tak tak", "tak!", "ya ya", "ok ya", "ja ja", "ja, ja", "No tak", "takk", "Takk!"]
)
def test_politeness_beside_a_homograph_settles_nothing(text: str) -> None:
    """What stands beside it must be a yes of its own, or belong to one language only."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["tak, proszę", "ja tak", "так, будь ласка", "igen, kérem", "va bene", "ya, sure"])
def test_words_of_one_language_settle_a_homograph(text: str) -> None:
    """Only Polish knows "proszę"."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


def test_every_homograph_is_listed() -> None:
    """A word that is a yes in one language and something else in another is in the list, or was looked at."""
    unlisted = [
        word
        for codes in lexicon.codes().values()
        for word in {word for code in codes for word in lexicon.load(code).vocabulary}
        if word not in lexicon.homographs() | _SETTLED
        and any(_roles(code, word) & YES for code in codes)
        and any(_roles(code, word) & _SOMETHING_ELSE and not _roles(code, word) & YES for code in codes)
    ]

    assert [] == unlisted


@pytest.mark.parametrize(
    "text", ["@anna please approve", "approve please @anna", "<@U2> bitte genehmigen", "@bob 请批准"]
)
def test_asking_somebody_else_to_approve_is_no_answer(text: str) -> None:
    """A mention beside "please" speaks to the one who is mentioned."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["「はい」", "『はい』", "はい、はい", "なるほど、はいはい"])
def test_a_quoted_or_dismissive_yes_is_no_answer(text: str) -> None:
    """Japanese quotation marks quote, and a doubled yes waves aside."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["no", "No.", "no!", "no no", "no to ne", "no nie", "no, nie"])
def test_a_bare_no_rejects_though_polish_and_czech_fill_with_it(text: str) -> None:
    """The word "no" is "well" in Polish and Czech; alone, and before a no of theirs, it rejects."""
    assert Meaning.REJECT is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["no tak", "no dobra", "no dobře", "no jo", "no właśnie", "no nevím", "no ok", "no niin"]
)
def test_a_filling_no_before_other_words_is_no_answer(text: str) -> None:
    """Who says "no dobra" neither refuses nor plainly consents."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
