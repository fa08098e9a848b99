"""People who take back a yes or a no, and who say a no after its reason."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    "text",
    [
        "no wait, yes, run it",
        "nein warte, doch ja, mach das",
        "nej vänta, ja, kör",
        "hayır dur, evet, yap",
        "sorry wrong button, approved",
        "typo, yes",
        "oups erreur, oui",
        "ups vertippt, ja",
        "correction: yes",
    ],
)
def test_a_yes_behind_a_correction_counts(text: str) -> None:
    """A corrected no needs a yes that is said twice; a wrong button or a typo needs one."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "no wait, yes",
        "no wait",
        "no wait, ok",
        "no wait, maybe yes, later",
        "no wait, yes if it's empty",
        "nein warte, ja",
        "typo",
        "typo, ok",
        "correction",
        "wrong button",
    ],
)
def test_a_correction_without_a_clear_yes_is_no_answer(text: str) -> None:
    """One yes against one no leaves the answer open."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yes - sorry, no", None),
        ("yes, hang on, don't do it", None),
        ("ja, sorry, nein", None),
        ("oui, pardon, non", None),
        ("sí, perdón, no: es viernes", "es viernes"),
        ("да, стоп, нет", None),
        ("はい、すみません、いいえ", None),
    ],
)
def test_a_no_that_takes_back_a_yes_rejects(text: str, reason: str | None) -> None:
    """Between the two stand "sorry", "wait" and their kin."""
    said = verdict(read(text))
    assert (Meaning.REJECT, reason) == (said.verdict, said.reason)


@pytest.mark.parametrize("text", ["yes no", "yes, no", "ja nein", "yes - wait", "ja, sorry", "yes, and no to the rest"])
def test_a_yes_and_a_no_without_a_correction_stay_unclear(text: str) -> None:
    """Nothing says which of the two counts."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the vendor has no contract, so no", "the vendor has no contract"),
        ("das konto gehört jemand anderem, deshalb nein", "das konto gehört jemand anderem"),
        ("le client n'a rien signé, donc non", "le client n'a rien signé"),
        ("los precios son de abril, así que no", "los precios son de abril"),
        ("we still use that bucket, please don't do it", "we still use that bucket"),
        ("der Kunde hat gekündigt, bitte nicht überweisen", "der Kunde hat gekündigt"),
    ],
)
def test_a_no_behind_its_reason_rejects(text: str, reason: str) -> None:
    """The reason comes first, then "so no" or an order to stop."""
    said = verdict(read(text))
    assert (Meaning.REJECT, reason) == (said.verdict, said.reason)


@pytest.mark.parametrize(
    "text",
    [
        "the tests passed, no",
        "it's done by now, so",
        "what does Anna say, so no",
        "if anything breaks in there, stop it",
        "the tests passed, so no worries",
        "the vendor has a contract, so not yet",
        "áno, zruš to",
    ],
)
def test_a_tag_a_condition_and_a_doubt_behind_a_statement_reject_nothing(text: str) -> None:
    """A single "no" may ask for a confirmation, and an order behind a condition is for later."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
