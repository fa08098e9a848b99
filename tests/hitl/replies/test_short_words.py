"""Short replies that count, and those that only sound like an answer."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize("text", ["alles klar", "si", "da", "r+", "+1", "k", "kk", "y", "j", "right", "ok...", "yes…"])
def test_a_short_word_that_means_yes_approves(text: str) -> None:
    """A short word whose only sense as a whole reply is a yes counts, dots behind it or not."""
    assert Meaning.APPROVE == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["mhm", "mm-hmm", "uh-huh", "uh huh", "mhmm.", "hm", "+", "s", "1", "10-4", "roger"])
def test_a_hum_is_no_answer(text: str) -> None:
    """A hum or a sign says that somebody listens."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["mhm, yes", "yes mhm", "uh-huh that works", "yes, that's a good idea"])
def test_a_hum_or_praise_beside_a_yes_changes_nothing(text: str) -> None:
    """The yes beside it counts."""
    assert Meaning.APPROVE == verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    ["that's a good idea", "it's a great idea", "that's a good call", "that's a nice one", "좋은 생각이에요"],
)
def test_praise_of_an_idea_is_no_answer(text: str) -> None:
    """Praise of an idea doesn't say that it should be done."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["oh yes great", "oh yeah brilliant", "oh yep fantastic"])
def test_a_sigh_with_praise_is_no_answer(text: str) -> None:
    """The words "oh yeah great" are said in scorn as often as not."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["yes/yes", "ok / approved", "approve|approve", "👍/ok", "yes/no", "ok/yes/fine"])
def test_words_with_a_slash_between_them_are_a_choice(text: str) -> None:
    """A slash or a bar offers words to choose from, as forms do."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


def test_a_slash_between_two_answers_with_targets_parts_them() -> None:
    """Each answer names its own call, so that the slash is no choice."""
    readings = read("approve K7Q2MX / reject A1B2C3")

    assert [(Meaning.APPROVE, "K7Q2MX"), (Meaning.REJECT, "A1B2C3")] == [(r.verdict, r.target) for r in readings]


@pytest.mark.parametrize("text", ["no... wait", "no. hang on", "nein, warte.", "ні, почекай."])
def test_a_no_with_only_wait_behind_it_is_unclear(text: str) -> None:
    """Whoever says "no... wait" thinks again, whatever stop stands between the two."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["not a yes yet", "not ok yet", "it isn't good yet", "not safe yet", "not a go so far"]
)
def test_a_no_that_holds_until_later_leaves_the_call_open(text: str) -> None:
    """What isn't right yet may become right."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "please give approval",
        "please, approve",
        "bitte, genehmigen",
        "пожалуйста, одобри",
        "будь ласка, дозволь",
        "proszę, zatwierdź",
        "kérlek, engedd",
        "per favore, approvalo",
        "si us plau accepta",
        "prosím přijmi",
        "vă rog aproba",
        "please ok it",
        "por favor acepta",
        "porfa autoriza",
        "por favor aceita",
        "faz favor autoriza",
        "alsjeblieft bevestig",
        "aub keur goed",
        "s'il te plait autorise",
        "proszę pozwól",
        "tolong izinkan",
        "te rog frumos acceptă",
    ],
)
def test_please_with_a_word_of_deciding_asks_somebody_to_decide(text: str) -> None:
    """A request to decide is no decision."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    ["na klar", "Na klar!", "na klar, mach das", "roger that", "copy that, go ahead", "no jasne", "no jasne, rób"],
)
def test_a_common_yes_of_two_words_approves(text: str) -> None:
    """The first word alone is a filler or takes note; with the second it agrees."""
    assert Meaning.APPROVE == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["na gut", "na ja klar", "roger", "copy that", "no dobra", "ach klar"])
def test_a_filler_with_a_weak_word_is_unclear(text: str) -> None:
    """It gives in, takes note, or mocks."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict


@pytest.mark.parametrize(("text", "answer"), [("結構です", Meaning.UNCLEAR), ("いえ、結構です", Meaning.REJECT)])
def test_a_japanese_word_for_fine_and_for_no_thanks_is_unclear_alone(text: str, answer: Meaning) -> None:
    """Alone the word both agrees and declines."""
    assert answer == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["やっていいよね", "承認していいですよね"])
def test_a_japanese_tag_asks_back(text: str) -> None:
    """The particle よね asks for a confirmation."""
    assert Meaning.UNCLEAR == verdict(read(text)).verdict
