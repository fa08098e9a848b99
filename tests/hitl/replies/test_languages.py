"""The language files are well formed, and languages that differ don't decide against each other."""

import pytest

from hitl.outcomes import Doubt, fact
from hitl.replies import Meaning, Reading, data, lexicon, read, verdict
from hitl.replies.phrase_roles import (
    CONDITION,
    HEDGE,
    LATER,
    OPENS,
    POLITE,
    QUESTION,
    REFUSES,
    STATES,
    UNCLEAR,
    YES,
)
from tests.hitl.replies import automata

_CODES = sorted(lexicon.all_codes())


@pytest.mark.parametrize("code", _CODES)
def test_every_word_of_a_list_is_known(code: str) -> None:
    """The file can be read, and each of its phrases begins with a word that the language knows."""
    language = lexicon.load(code)

    assert language.vocabulary
    assert language.phrases.matches(["no-such-word"], 0) == ()


@pytest.mark.parametrize("code", _CODES)
def test_no_phrase_is_both_yes_and_no(code: str) -> None:
    """A phrase of any length has one sign in a language, unless it is listed as no answer too."""
    found = automata.phrases(code)

    assert [] == [phrase for roles, phrase in found if roles & YES and roles & REFUSES and not roles & UNCLEAR]


@pytest.mark.parametrize("code", _CODES)
def test_no_phrase_beside_a_yes_is_also_a_word_of_doubt(code: str) -> None:
    """Otherwise a yes with "wait" or "where" would approve. A word after which a yes doesn't count may be both."""
    found = automata.phrases(code)
    beside = [(roles, phrase) for roles, phrase in found if roles & (POLITE | STATES) and not roles & OPENS]

    assert [] == [phrase for roles, phrase in beside if roles & (CONDITION | QUESTION | LATER | HEDGE)]


@pytest.mark.parametrize("code", _CODES)
def test_politeness_is_never_an_english_no(code: str) -> None:
    """Otherwise "yes no" would be a polite yes in that language."""
    language, english = lexicon.load(code), lexicon.load("en")
    polite = [word for word in language.vocabulary if any(r & POLITE for _, r in language.phrases.matches([word], 0))]

    assert [] == [word for word in polite if any(roles & REFUSES for _, roles in english.phrases.matches([word], 0))]


def test_a_word_that_is_yes_here_and_no_there_is_unclear() -> None:
    """The word "jo" agrees in Swedish and refuses in Albanian; the conversation's language settles it."""
    assert Meaning.UNCLEAR is verdict(read("jo")).verdict
    assert Meaning.APPROVE is verdict(read("jo", language="sv")).verdict
    assert Meaning.REJECT is verdict(read("jo", language="sq")).verdict


def test_an_unmeasured_language_says_so() -> None:
    """Its exact phrases are understood, marked as such, and nothing longer."""
    assert fact(Doubt.UNMEASURED, said="sk") == verdict(read("súhlasím")).why
    assert Meaning.UNCLEAR is verdict(read("súhlasím zajtra")).verdict


def test_a_no_of_an_unmeasured_language_may_have_a_reason_behind_a_comma() -> None:
    """The words before the comma must be a no alone, and no other language may have them as a yes."""
    unmeasured = fact(Doubt.UNMEASURED, said="fil")

    assert Reading(Meaning.REJECT, "luma ang kopya", why=unmeasured) == verdict(read("hindi, luma ang kopya"))
    assert Meaning.UNCLEAR is verdict(read("jo, prodservern brinner")).verdict
    assert Meaning.REJECT is not verdict(read("hindi, sige")).verdict


@pytest.mark.parametrize(("text", "language"), [("sige", "tl"), ("oo", "tl"), ("oo", "fil-PH")])
def test_a_language_is_known_under_each_of_its_codes(text: str, language: str) -> None:
    """The code "tl" is Filipino's older one, and is still sent."""
    assert Meaning.APPROVE is verdict(read(text, language=language)).verdict


def test_several_phrases_of_an_unmeasured_language_are_read_together() -> None:
    """Phrases that agree answer as one; phrases that differ, or one said twice, answer nothing."""
    assert Meaning.APPROVE is verdict(read("áno, súhlasím")).verdict
    assert Meaning.REJECT is verdict(read("nie, zruš to")).verdict
    assert Meaning.UNCLEAR is verdict(read("áno, zruš to")).verdict
    assert Meaning.UNCLEAR is verdict(read("bai bai")).verdict


@pytest.mark.parametrize(
    "text", ["ja, go ahead", "да, go ahead", "oui, do it", "yes, gracias", "好的, proceed", "sí, ship it"]
)
def test_a_yes_in_two_languages_is_one(text: str) -> None:
    """Each word is known to one of two languages, and nothing in either doubts the yes."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    ["ja, but later", "oui, tomorrow", "yes, vielleicht", "ok, domani", "да, wait", "sure, mais non", "yes no nein"],
)
def test_a_doubt_in_either_language_counts(text: str) -> None:
    """A condition, delay, hedge or no of one language spoils the yes of the other."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict


def test_the_list_of_unmeasured_languages_is_well_formed() -> None:
    """Code, name, phrases for yes, phrases for no; none has a file of its own."""
    lines = [[field.strip() for field in line.split("|")] for line in data.lines("unmeasured.txt")]

    assert [] == [fields for fields in lines if len(fields) != 4 or not fields[2].startswith("yes:")]
    assert set() == lexicon.all_codes() & {fields[0] for fields in lines}
