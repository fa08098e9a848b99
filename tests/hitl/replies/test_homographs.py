"""Words that say yes in one language and something else in another decide only where that is settled."""

import pytest

from hitl.replies import Meaning, lexicon, read, verdict
from hitl.replies.phrase_roles import CONDITION, HEDGE, LATER, POLITE, QUESTION, REFUSES, UNCLEAR, YES

_SOMETHING_ELSE = POLITE | REFUSES | UNCLEAR | CONDITION | QUESTION | LATER | HEDGE
#: Looked at, and left to decide alone. "ja": the yes of six languages, beside Catalan's "already". "si": a yes without
#: its accent; a bare "if" is no reply. "da": the yes of the Slavs and of Romania. "yaa" is read as "ya".
#: "top" is praise in each language that has it, and no yes alone. "k", "ye", "yeh" and "fine" are English, except in
#: conversations in Vietnamese, Hindi and Italian. The others approve nothing in English.
_SETTLED = {"ja", "si", "da", "perfect", "super", "jaa", "haa", "yaa", "top", "k", "ye", "yeh", "fine"}


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
        ("jo", "sv"),
        ("mau", "id"),
        ("vai", "pt"),
        ("hadi", "tr"),
        ("simón", "es"),
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


@pytest.mark.parametrize(
    "text", ["Simon", "ok Simon", "Simon ok", "yes Simon", "Jed", "ok Jed", "Hadi", "Jasna", "pagal", "UI"]
)
def test_a_homograph_of_one_language_needs_a_word_that_shows_the_language(text: str) -> None:
    """A name or a word that only one language has as a yes decides nothing, alone or beside an English word."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["Hey Simon, ok", "Simón, hazlo", "jeď, pošli to"])
def test_a_yes_beside_a_homograph_of_one_language_approves(text: str) -> None:
    """A greeted name is no answer, and other words of the language show that the homograph is a yes."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["jo jo", "jo, jo", "jooo", "taaak", "igen igen"])
def test_a_homograph_stays_one_if_it_is_repeated_or_drawn_out(text: str) -> None:
    """The word "jo" is a yes in Swedish and a no in Albanian, however often it is said."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["tu", "leg", "nimm", "sea", "حسن", "geç", "שיהיה"])
def test_a_word_with_a_likelier_sense_than_a_yes_is_no_answer(text: str) -> None:
    """German needs an object here, "sea" is English too, and an Arabic name may be the answer to another question."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["k", "k ok", "dạ k", "ko ok", "khum", "hem được"])
def test_an_abbreviated_no_rejects_in_vietnamese(text: str) -> None:
    """The letter "k" is "ok" in English, and "không" in a Vietnamese conversation."""
    assert Meaning.REJECT is verdict(read(text, language="vi")).verdict


@pytest.mark.parametrize(("text", "language"), [("fine", "it"), ("ye", "hi"), ("yeh", "hi")])
def test_an_english_yes_is_no_answer_where_it_is_another_word(text: str, language: str) -> None:
    """The word "fine" means the end in Italian, and "yeh" means "this" in Hindi."""
    assert Meaning.UNCLEAR is verdict(read(text, language=language)).verdict
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["cancella", "cancellalo", "cancella tutto", "sì, cancella", "ok cancellali"])
def test_an_italian_order_to_cancel_or_delete_is_unclear(text: str) -> None:
    """The verb "cancellare" agrees to a deletion and refuses any other action."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["hadi canım", "hadi canım sen de", "hadi oradan", "hadi be"])
def test_a_turkish_idiom_of_disbelief_is_no_answer(text: str) -> None:
    """They mean "come on, you can't be serious", also in a Turkish conversation."""
    assert Meaning.UNCLEAR is verdict(read(text, language="tr")).verdict


def test_not_against_agrees_in_russian_and_bulgarian() -> None:
    """Both languages know the words "не против", and both agree with them."""
    assert Meaning.APPROVE is verdict(read("не против")).verdict


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
