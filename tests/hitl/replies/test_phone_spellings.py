"""Replies count as people type them on phones: with abbreviations, without accents, with a blank for a comma."""

import pytest

from hitl.replies import Meaning, lexicon, read, verdict
from hitl.replies.spelling import fold


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("đc làm đi", "vi"),
        ("ko phản đối", "vi"),
        ("c ok pr moi", "fr"),
        ("ok x mi", "es"),
        ("okeh lanjutin", "id"),
        ("ewet", "tr"),
        ("оки делай", "ru"),
    ],
)
def test_an_abbreviation_counts_as_the_word_that_it_stands_for(text: str, language: str) -> None:
    """A yes with an abbreviation approves, with the conversation's language and without it."""
    assert verdict(read(text)).verdict is Meaning.APPROVE
    assert verdict(read(text, language=language)).verdict is Meaning.APPROVE


@pytest.mark.parametrize(
    "text", ["iya tp besok", "boleh klo Budi setuju", "oui ms dmn", "ok ma dmn", "tmm ama yrn", "да щас"]
)
def test_an_abbreviated_doubt_keeps_a_yes_from_counting(text: str) -> None:
    """A condition and a time count when they are abbreviated, as they do in full."""
    assert verdict(read(text)).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("code", sorted(lexicon.all_codes()))
def test_every_abbreviation_stands_for_a_word_of_its_language(code: str) -> None:
    """An abbreviation of a word that no phrase holds would change nothing."""
    language = lexicon.load(code)

    assert [] == [
        short
        for short, word in lexicon.shorts(code).items()
        if word not in language.vocabulary or language.known(short) != word
    ]


@pytest.mark.parametrize("text", ["por mi ok", "in regula", "e in regula", "por mi perfecto"])
def test_a_phrase_counts_without_its_accents_if_the_bare_word_is_another_word(text: str) -> None:
    """People leave accents out, also where "mi" and "mí", or "in" and "în", are two words."""
    assert verdict(read(text)).verdict is Meaning.APPROVE


def test_a_word_that_would_say_something_else_keeps_its_accents() -> None:
    """In Spanish "lo autorizo" is a yes, and no careless "lo autorizó", which reports that somebody approved."""
    assert verdict(read("lo autorizo")).verdict is Meaning.APPROVE
    assert verdict(read("lo autorizó")).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["nicio obiecție", "nicio obiecţie", "nicio obiectie"])
def test_romanian_letters_count_with_a_comma_with_a_cedilla_and_bare(text: str) -> None:
    """Keyboards write "ț" in two ways, and people write "t"."""
    assert verdict(read(text)).verdict is Meaning.APPROVE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("不行 这台还在用", "这台还在用"),
        ("だめ 本番のデータです", "本番のデータです"),
        ("ไม่ครับ ยอดเงินผิด", "ยอดเงินผิด"),
    ],
)
def test_a_blank_is_a_stop_where_the_script_puts_none_between_words(text: str, reason: str) -> None:
    """Behind a no and a blank, the rest is the reason, as it is behind a comma."""
    reading = verdict(read(text))

    assert (reading.verdict, reading.reason) == (Meaning.REJECT, reason)


@pytest.mark.parametrize("text", ["不 知道", "不 一定", "ไม่ แน่ใจ", "不 好的"])
def test_a_blank_makes_no_rejection_of_doubt(text: str) -> None:
    """An idiom that answers nothing, and a no with a yes behind it, stay unclear with a blank inside."""
    assert verdict(read(text)).verdict is Meaning.UNCLEAR


def test_folding_keeps_what_the_tables_tell_apart() -> None:
    """Only the two spellings of Romanian letters fold to one; "s" stays another letter."""
    assert fold("ş") == fold("ș") != fold("s")


@pytest.mark.parametrize("text", ["أبدا", "ابدا", "أبداً", "لأ", "لا"])
def test_arabic_noes_count_with_and_without_a_hamza(text: str) -> None:
    """At the beginning of a word, and in the short "no", people leave it out."""
    assert verdict(read(text)).verdict is Meaning.REJECT


def test_a_last_hamza_keeps_start_from_being_read_as_never() -> None:
    """The Arabic "start" and "never" differ by the place of the hamza alone."""
    assert verdict(read("ابدأ")).verdict is Meaning.UNCLEAR


@pytest.mark.parametrize("text", ["διάγραψέ το", "ναι, εκτέλεσέ το", "δημοσίευσέ το"])
def test_a_second_accent_of_a_greek_word_changes_nothing(text: str) -> None:
    """Before a short word such as "το", the rules of Greek spelling set one."""
    assert verdict(read(text)).verdict is Meaning.APPROVE
