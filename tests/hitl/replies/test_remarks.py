"""Words that say how things are, greet somebody by name or laugh, and sound like a yes.

Each language's table of replies holds more remarks.
"""

import pytest

from hitl.replies import Meaning, read, verdict
from hitl.replies.yes_with_reason import is_reason
from tests.hitl.replies import table


def _unclear(text: str) -> bool:
    return verdict(read(text)).verdict is Meaning.UNCLEAR


def _approves(text: str) -> bool:
    return verdict(read(text)).verdict is Meaning.APPROVE


@pytest.mark.parametrize(
    "text",
    [
        "all okay here",
        "okay here, thanks",
        "all set here",
        "we're all okay",
        "alles ok, vielen dank",
        "todo ok, gracias",
    ],
)
def test_a_report_that_all_is_well_is_no_answer(text: str) -> None:
    """Everything may be fine with a person who hasn't decided, with thanks behind it or without."""
    assert _unclear(text)


@pytest.mark.parametrize(
    "text", ["fine as is", "it's okay the way it is", "det är bra så, tack", "è ok così", "passt so"]
)
def test_fine_as_it_is_is_no_answer(text: str) -> None:
    """What is fine as it is often needs no change, so that the words may decline the request."""
    assert _unclear(text)


@pytest.mark.parametrize("text", ["that it is", "so true", "you are right", "es cierto", "è vero"])
def test_agreement_with_a_statement_is_no_answer(text: str) -> None:
    """A card asks whether to do something, so that "true" agrees with something else."""
    assert _unclear(text)


@pytest.mark.parametrize("text", ["works now", "signed off", "funkar", "it works", "everything works"])
def test_a_report_of_what_works_or_was_done_is_no_answer(text: str) -> None:
    """A report says what is, not what should be done."""
    assert _unclear(text)


@pytest.mark.parametrize(
    "text",
    [
        "yes, everything is okay",
        "ok, that's true",
        "sure, it is",
        "ja, alles ist gut",
        "oui, tout est bon",
        "sì, così va bene",
        "да, это правда",
        "igen, minden jó",
        "evet, her şey tamam",
        "go ahead, all fine here",
    ],
)
def test_a_remark_beside_a_yes_changes_nothing(text: str) -> None:
    """The yes beside it counts."""
    assert _approves(text)


@pytest.mark.parametrize(
    "text", ["no, everything is okay", "nope it's true", "no thanks, all fine here", "нет, всё ок"]
)
def test_a_remark_beside_a_no_is_unclear_if_it_may_be_a_yes(text: str) -> None:
    """A remark is no yes, but it may take a no back."""
    assert _unclear(text)


@pytest.mark.parametrize("text", ["everything is fine", "it is planned", "works on staging"])
def test_a_remark_is_a_reason_for_a_yes(text: str) -> None:
    """Whoever is asked why a request should be approved may answer with a remark."""
    assert is_reason(text)


@pytest.mark.parametrize(
    "text", ["approved for now", "ok for now", "yes for now", "granted for now", "fine for now", "go ahead for now"]
)
def test_a_yes_for_now_is_no_answer(text: str) -> None:
    """A yes that is limited in time is none to a request that can't be undone."""
    assert _unclear(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hello Jo",
        "Hello Jo, thank you",
        "Hi Oke!",
        "Hej Jo",
        "Salut Da",
        "Ahoj Jo",
        "Hallo Si",
        "Bonjour Vale",
        "Hi Jo please",
        "Dear Jo",
        "Thanks Jo",
        "Danke Jo",
        "Merci Si, merci",
    ],
)
def test_the_word_right_behind_a_greeting_is_whom_it_greets(text: str) -> None:
    """Jo, Si and Da are names, and a greeting with a name is no answer."""
    assert _unclear(text)


@pytest.mark.parametrize(
    "text",
    ["Hello, yes", "Hi\nyes", "Hi Jo, yes", "Hey Jo, ok", "hey go ahead", "hello yes go ahead", "Thanks, sure"],
)
def test_a_yes_apart_from_the_greeting_approves(text: str) -> None:
    """A comma, a line break or more words behind a greeting make an answer of what follows."""
    assert _approves(text)


@pytest.mark.parametrize(
    "text",
    ["haha okay", "yep hahaha", "ha yes", "kkkkk sim", "sim kkkk", "kkk", "kkkk", "哈哈同意", "好的哈哈", "haha haan"],
)
def test_laughter_beside_a_yes_is_unclear(text: str) -> None:
    """Whoever laughs may be joking."""
    assert _unclear(text)


@pytest.mark.parametrize("text", ["haha no", "ha no way", "hahaha never", "哈哈不行"])
def test_laughter_before_a_no_rejects(text: str) -> None:
    """A no with a laugh is a no: reading it as one does no harm."""
    assert Meaning.REJECT == verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["угу.", "ага!", "угу угу", "aham", "hı hı", "嗯。", "嗯嗯嗯", "อือ"])
def test_a_hum_in_any_language_is_no_answer(text: str) -> None:
    """A hum says that somebody listens, as "mhm" does."""
    assert _unclear(text)


@pytest.mark.parametrize("text", ["ага, давай", "угу, согласен", "嗯，可以", "uhum, pode"])
def test_a_hum_before_a_yes_changes_nothing(text: str) -> None:
    """The yes behind it counts."""
    assert _approves(text)


@pytest.mark.parametrize(
    "text", ["kill that", "scrap them", "drop these", "bin it", "please discard them", "axe them all"]
)
def test_words_that_remove_their_object_are_unclear(text: str) -> None:
    """They agree to a deletion and refuse anything else."""
    assert _unclear(text)


def test_words_that_remove_the_request_reject() -> None:
    """Only the request can be meant."""
    assert Meaning.REJECT == verdict(read("kill the request")).verdict


@pytest.mark.parametrize(
    "text",
    [
        "please don't say no",
        "never say no",
        "no, we don't mind",
        "nope I do not mind at all",
        "no, it doesn't bother me",
        "nein, das stört mich nicht",
        "non, ça ne me gêne pas",
        "nej, det gör inget",
        "nem, nem zavar",
        "đừng nói không",
        "jangan bilang tidak",
    ],
)
def test_a_no_to_a_no_is_unclear(text: str) -> None:
    """A no that denies a refusal or minding isn't a rejection."""
    assert _unclear(text)


def test_no_table_has_a_laugh_as_a_yes() -> None:
    """A laugh before any yes of the tables keeps it from counting."""
    wrong = [text for _, text in table.replies("approve") if _approves(f"haha, {text}")]

    assert [] == wrong
