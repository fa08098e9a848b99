"""Names beside a reply: of the person whom it greets, and of the person who signs it."""

import pytest

from hitl.replies import Meaning, Span, SpanKind, data, read, verdict
from hitl.replies.templates import phrases

#: Language -> a yes, a no and a call to decide, each behind a greeting with a name.
_GREETED = {
    "da": ("Hej Lars, ja", "Hej Lars, nej", "Hej Lars, godkend"),
    "de": ("Hallo Peter, ja bitte", "Hallo Peter, nein", "Hallo Peter, bestätigen"),
    "el": ("Γεια σου Άννα, ναι", "Γεια σου Άννα, όχι", "Γεια σου Άννα, έγκρινε"),
    "en": ("Hi Anna, yes", "Hi Anna, no", "Hi Anna, approve this"),
    "es": ("Hola María, sí", "Hola María, no", "Hola María, aprueba"),
    "fr": ("Bonjour Luc, d'accord", "Bonjour Luc, non", "Bonjour Luc, valide"),
    "it": ("Ciao Marco, va bene", "Ciao Marco, no", "Ciao Marco, approva"),
    "pl": ("Cześć Piotr, oczywiście", "Cześć Piotr, nie", "Cześć Piotr, zatwierdź"),
    "pt": ("Olá Pedro, pode fazer", "Olá Pedro, não", "Olá Pedro, aprova"),
    "ru": ("Привет, Анна, да", "Привет, Анна, нет", "Привет, Анна, одобри"),
    "sv": ("Hej Erik, godkänt", "Hej Erik, nej", "Hej Erik, godkänn"),
}


@pytest.mark.parametrize("language", _GREETED)
def test_a_name_in_a_greeting_changes_no_answer(language: str) -> None:
    """A yes or a no behind a greeting with somebody's name is the person's own answer."""
    yes, no, _ = _GREETED[language]

    assert [Meaning.APPROVE, Meaning.REJECT] == [verdict(read(text)).verdict for text in (yes, no)]


@pytest.mark.parametrize("language", _GREETED)
@pytest.mark.parametrize("told", [None, "de", "en", "fi"])
def test_who_greets_somebody_and_says_approve_asks_that_person(language: str, told: str | None) -> None:
    """The words "Hi Anna, approve this" ask Anna to decide, in whichever language the conversation is."""
    assert Meaning.UNCLEAR == verdict(read(_GREETED[language][2], language=told)).verdict


@pytest.mark.parametrize("text", ["Hi Anna, yes?", "Hi Anna, yes, but later", "Hi Anna, Tom says yes", "Hi Anna"])
def test_what_follows_a_greeted_name_must_be_a_whole_yes(text: str) -> None:
    """A question, a condition, a report or nothing behind the name approves nothing."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize("name", ["Mai", "Nein", "Nej", "Not", "Wait", "Unless", "Never", "If Only", "Anna Wait"])
@pytest.mark.parametrize("form", ["Hi {}, yes", "Hallo {}, ja", "Approved - {}", "yes\n- {}"])
def test_a_name_that_says_something_in_any_language_is_no_name(form: str, name: str) -> None:
    """The name Mai is "never" in Italian, so that neither a yes nor a no comes of a reply that holds it."""
    assert Meaning.UNCLEAR == verdict(read(form.format(name))).verdict


@pytest.mark.parametrize("text", ["Approved - Jan", "Approved – Anna", "lgtm\n- Tom", "Hi Anna, go ahead - Tom"])
def test_a_yes_with_a_signature_approves(text: str) -> None:
    """A given name behind a dash at the end signs a yes and says nothing more."""
    assert Meaning.APPROVE == verdict(read(text)).verdict


@pytest.mark.parametrize("end", ["Staging", "Draft", "Friday", "Prod", "May", "Tom too", "ask Tom", "Jan?", "jan"])
def test_other_words_behind_a_dash_are_no_signature(end: str) -> None:
    """A place, a day or an unlisted word behind the dash may limit the yes."""
    assert Meaning.UNCLEAR == verdict(read(f"Approved - {end}")).verdict


def test_a_signature_is_no_reason() -> None:
    """The name of the person who rejects doesn't stand in the reason."""
    readings = [verdict(read(text)) for text in ("Rejected - Jan", "no - too risky - Jan", "Hi Tom, no, wrong table")]

    assert [Meaning.REJECT] * 3 == [reading.verdict for reading in readings]
    assert [None, "too risky", "wrong table"] == [reading.reason for reading in readings]


def test_a_greeted_account_is_a_mention() -> None:
    """A name that the surface reports as a mention keeps the yes from counting."""
    spans = [Span(3, 7, SpanKind.MENTION)]

    assert Meaning.UNCLEAR == verdict(read("Hi Anna, yes", spans=spans)).verdict


def test_every_listed_name_can_sign() -> None:
    """No listed name says anything in another language."""
    listed = [name for line in data.lines("names.txt") for name in phrases(line)]

    assert listed
    assert [] == [name for name in listed if verdict(read(f"Approved - {name}")).verdict is not Meaning.APPROVE]


@pytest.mark.parametrize("text", ["approved /Jan", "godkänt //Anna", "ok, mvh Lars", "ja. LG Petra", "ok, gr. Jan"])
def test_a_short_signature_changes_no_answer(text: str) -> None:
    """Slashes and short closing formulas sign a message on one line, too."""
    assert verdict(read(text)).verdict is Meaning.APPROVE


@pytest.mark.parametrize("text", ["approved /Staging", "ok, mvh only Staging", "ja. LG morgen", "yes, regards in prod"])
def test_other_words_are_no_signature(text: str) -> None:
    """They may limit the yes."""
    assert verdict(read(text)).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["Sent from my iPhone\n\nYes, run it", "Yes, run it\n\n- Sent from my iPhone"])
def test_a_devices_line_above_or_below_the_answer_is_no_part_of_it(text: str) -> None:
    """Some mail programs put it on top, some begin it with a dash."""
    assert verdict(read(text)).verdict is Meaning.APPROVE
