"""Statements that give the reason for a yes, or for a no: "they are all merged"."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    "text",
    [
        "delete them, they are all obsolete",
        "go ahead, I've double checked the query",
        "the amount is correct, approved",
        "lösch sie, sind alle veraltet",
        "supprime-les, ils sont tous obsolètes",
        "elimínalos, son pruebas",
        "kasuj je, wszystko zmergowane",
        "удаляй их, всё старое",
        "hepsini sil, hepsi eski",
        "hapus semuanya, udah lama",
    ],
)
def test_a_yes_with_its_reason_in_known_words_counts(text: str) -> None:
    """Such a statement says why, and limits nothing."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "they are all obsolete",
        "yes, they are all obsolete",
        "they are all obsolete, ok",
        "yes, the amount is correct",
        "ja, sind alle veraltet",
        "oui, j'ai vérifié",
        "sí, lo revisé",
        "да, проверил",
        "네, 확인했습니다",
        "はい、確認しました",
        "delete them, they are all obsolete except main",
        "delete them, they were obsolete until today",
        "run it only staging",
        "send it only tests",
    ],
)
def test_a_yes_that_only_agrees_with_a_statement_is_no_answer(text: str) -> None:
    """A short yes such as "yes, I checked it" may say no more than that."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no, they are all merged", "they are all merged"),
        ("nein, sind alle veraltet", "sind alle veraltet"),
        ("nee, alles oud", "alles oud"),
    ],
)
def test_the_same_statement_behind_a_no_is_its_reason(text: str, reason: str) -> None:
    """It isn't politeness, so it isn't left out of the reason."""
    said = verdict(read(text))
    assert (Meaning.REJECT, reason) == (said.verdict, said.reason)


@pytest.mark.parametrize(
    "text",
    [
        "ok, thanks for double checking",
        "ok danke fürs nachfragen",
        "ok merci d'avoir demandé",
        "ok dzięki że pytasz",
        "好的，谢谢你问",
        "ok köszi hogy megkérdezted",
    ],
)
def test_ok_and_thanks_for_asking_is_no_answer(text: str) -> None:
    """The "ok" may only close the conversation."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["approved, thanks for double checking", "genehmigt, danke der nachfrage"])
def test_thanks_for_asking_beside_a_yes_change_nothing(text: str) -> None:
    """The yes is said in its own words."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["gpt approved", "claude approved it", "codex go home", "hey claude"])
def test_an_agents_name_before_a_report_is_no_answer(text: str) -> None:
    """It says what the agent did, or greets it."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["ok claude, go ahead", "hey codex, run it", "100% approved", "👍👍👍 thanks"])
def test_an_agents_name_beside_a_yes_changes_nothing(text: str) -> None:
    """People address the agent that asks. Two thumbs say the same as one."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "sí, entonces",
        "oui, alors",
        "sì, allora",
        "sim, então...",
        "ja, dann",
        "ja, dan",
        "да, тогда",
        "ja, då",
        "ναι, λοιπόν",
        "כן, אז",
        "نعم، إذن",
        "yes, then",
        "네, 저기",
    ],
)
def test_a_yes_before_the_beginning_of_another_sentence_is_unfinished(text: str) -> None:
    """After the word "then" and a comma before it, a condition may follow."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["hazlo entonces", "d'accord alors", "va bene allora", "делай тогда", "kör då", "ok dann"]
)
def test_a_then_inside_a_sentence_changes_nothing(text: str) -> None:
    """People end an order with it."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "はい、待って",
        "yes 待って",
        "👍 待って",
        "はい、確認して",
        "はい、聞いて",
        "ja, waar",
        "نعم أي",
        "sí, me parece",
    ],
)
def test_a_yes_beside_a_wait_a_request_a_question_or_a_hedge_is_unclear(text: str) -> None:
    """Their words are also a part of thanks and remarks, such as "thanks for waiting"."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text", ["gửi tôi, ok", "надішли мені, ок", "küldd nekem, ok", "lähetä minulle, ok", "תשלח לי, בסדר"]
)
def test_an_order_to_send_something_to_the_person_is_no_answer(text: str) -> None:
    """The person asks for more, though "ok for me" is a yes in these languages."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["ok o", "אוקיי, או", "اوکی یا", "làm đi à"])
def test_a_yes_before_an_or_or_a_question_particle_is_unclear(text: str) -> None:
    """Each of these words for "or" is an interjection in some language, too."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
