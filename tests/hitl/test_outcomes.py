"""Facts: what came of something, told in words only where people read it."""

from __future__ import annotations

from enum import StrEnum

import pytest

from hitl.cards.languages import LANGUAGES
from hitl.cards.wording import ENGLISH, sentence
from hitl.errors import NotApprover
from hitl.outcomes import (
    Because,
    Doubt,
    Fact,
    Noted,
    Refusal,
    Told,
    Unfit,
    because,
    fact,
    kept,
    noted,
    revised,
    unkept,
)
from tests.reasons import REASONS


@pytest.mark.parametrize("facts", [Because, Refusal, Told, Doubt, Noted, Unfit])
def test_the_catalogue_has_a_sentence_for_every_fact(facts: type[StrEnum]) -> None:
    """Whatever the core says can be told."""
    assert set(map(str, facts)) <= ENGLISH.keys()


def test_a_fact_inside_a_fact_is_told_inside_its_sentence() -> None:
    """So are several, each on its own line."""
    one, other = fact(Refusal.CLAIMED, short="AAAAAA"), fact(Refusal.CLAIMED, short="BBBBBB")
    told = sentence(fact(Told.ALL, count=2, calls=(one, other)))

    assert told.endswith(f"\n{sentence(one)}\n{sentence(other)}")


@pytest.mark.parametrize("why", ["", "no one may do that: ever", "line one\nline two"])
@pytest.mark.parametrize("what", Unfit)
def test_why_a_call_was_unfit_is_kept_as_a_code_with_its_reason(what: Unfit, why: str) -> None:
    """The row and the record hold no sentence, and what they hold gives the same fact again."""
    unfit = fact(what, why=why)

    assert unfit == unkept(kept(unfit))
    assert kept(unfit).startswith(what)


@pytest.mark.parametrize(
    "told",
    [
        fact(Noted.COMMAND),
        fact(Noted.TOOL, tool="“a: b”"),
        fact(Noted.SAME, short="ABC234"),
        fact(Noted.MODE, mode="monitor"),
        fact(Noted.QUESTION),
        fact(Noted.NO_TOOL),
        fact(Noted.POLICY_ERROR),
        fact(Noted.FLOOR),
        fact(Noted.MUST_ASK),
        fact(Noted.UNBOUND),
        fact(Noted.OFF),
        fact(Noted.STRANGE, code="card.future: x: y"),
        fact(Noted.STRANGE_ACTION, code="card.does.future"),
    ],
)
def test_what_a_new_call_is_about_is_kept_as_a_code(told: Fact) -> None:
    """The row holds no sentence, every language tells it, and it says nothing about a call that was unfit."""
    assert told == noted(kept(told))
    assert [wording.sentence(told) for wording in LANGUAGES.values()] == [
        wording.retold(kept(told)) for wording in LANGUAGES.values()
    ]
    assert unkept(kept(told)) is None


def test_every_noted_fact_has_the_particulars_of_its_sentence() -> None:
    """A stored code can be told without any other record."""
    for code in Noted:
        told = noted(kept(fact(code, any="x")))
        assert told is not None
        assert sentence(told)


@pytest.mark.parametrize("text", ["", "it failed", "unfit", "exit status 1: unfit.row"])
def test_other_texts_are_no_code(text: str) -> None:
    """What a tool said of its failure, and what older versions kept, is told as it is."""
    assert unkept(text) is None
    assert noted(text) is None


@pytest.mark.parametrize("stored", REASONS)
def test_a_reason_of_the_policy_is_kept_as_a_code_with_its_values(stored: str) -> None:
    """The stored text gives a fact whose sentence every language has. The sentence holds no code and no list."""
    told = noted(stored)

    assert told is not None
    assert stored.partition(":")[0] == told.what
    for wording in LANGUAGES.values():
        assert wording.sentence(told) == wording.retold(stored)
        assert "why." not in wording.retold(stored)
        assert "[" not in wording.retold(stored)


def test_every_reason_of_the_policy_has_an_example() -> None:
    """The tests of languages use `REASONS`, so a new code without an example would be in no test."""
    assert set(Because) == {stored.partition(":")[0] for stored in REASONS}


@pytest.mark.parametrize(
    "damaged",
    [
        "why.rated",
        "why.rated: []",
        "why.rated: [[], 'high']",
        'why.rated: [["why.rule.id"], "high"]',
        'why.rated: [["why.rule.id", "x"], "tall"]',
        'why.rated: [["why.rule.id", "x"], "high", 1]',
        'why.rated: ["x", "high"]',
        "why.argument: not JSON",
        'why.argument: [null, "x"]',
        "why.tool.reads: [1]",
    ],
)
def test_a_reason_with_strange_values_is_shown_whole(damaged: str) -> None:
    """A person sees the stored text in a sentence of Sayso, and no error."""
    told = fact(Noted.STRANGE, code=damaged)

    assert (told if ":" in damaged[:-2] else noted(damaged)) == noted(damaged)
    for wording in LANGUAGES.values():
        assert wording.retold(damaged)


def test_a_change_of_a_stored_reason_reaches_each_value_and_keeps_the_code() -> None:
    """Secrets are masked inside the values, so that the reason can still be read."""
    called = (Because.RULE_ID, "a")

    assert because(Because.RATED, (Because.RULE_ID, "A"), "HIGH") == revised(
        because(Because.RATED, called, "high"), str.upper
    )
    assert because(Because.RULE_LINE, 3) == revised(because(Because.RULE_LINE, 3), str.upper)
    assert because(Because.TOOL_READS) == revised(because(Because.TOOL_READS), str.upper)
    assert "MY RULE: WORDS" == revised("my rule: words", str.upper)


def test_an_error_is_told_from_its_fact() -> None:
    """The fact is there for programs, the sentence for people."""
    error = NotApprover(fact(Refusal.OWN, short="AAAAAA"))

    assert error.fact == fact(Refusal.OWN, short="AAAAAA")
    assert str(error) == error.message == sentence(fact(Refusal.OWN, short="AAAAAA"))


def test_an_error_without_a_fact_has_its_own_sentence() -> None:
    """Trouble outside the core is told in the words of whoever met it."""
    assert NotApprover().fact is None
    assert NotApprover("Not here.").message == "Not here."


@pytest.mark.parametrize(
    ("stored", "what"),
    [
        ("card.does.teleport: 3 files", Noted.STRANGE_ACTION),
        ("question.does.vote", Noted.STRANGE_ACTION),
        ("card.later: tomorrow", Noted.STRANGE),
        ("why.full_moon", Noted.STRANGE),
    ],
)
def test_a_code_of_a_newer_version_is_told_in_a_sentence_that_holds_it_whole(stored: str, what: Noted) -> None:
    """A rollback leaves codes that this version doesn't know. Nothing of them is hidden, and none stands alone."""
    assert fact(what, code=stored) == noted(stored)
    for wording in LANGUAGES.values():
        assert wording.retold(stored).endswith(f": {stored}")


def test_a_reason_of_a_newer_version_is_told_in_a_sentence_that_holds_it_whole() -> None:
    """The same holds for the reason why a call was unfit."""
    assert fact(Unfit.STRANGE, why="unfit.tide: high") == unkept("unfit.tide: high")


@pytest.mark.parametrize("text", ["Write notes.txt", "why not", "card.pdf was changed", "run: why.sh", "unfit", ""])
def test_a_sentence_is_no_code(text: str) -> None:
    """Texts of executors, policies and tools stay as they are."""
    assert (None, None) == (noted(text), unkept(text))
