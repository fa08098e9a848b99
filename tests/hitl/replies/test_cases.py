"""Every language understands its own table of replies."""

from collections import Counter

import pytest

from hitl.replies import lexicon, read, verdict
from tests.hitl.replies import table

LEAST = 20


@pytest.mark.parametrize("language", table.languages())
def test_every_reply_of_the_table_is_understood(language: str) -> None:
    """Each line says what its section says, without being told the language."""
    wrong = [(sign, text) for sign, text in table.rows(language) if verdict(read(text)).verdict != sign]

    assert [] == wrong


@pytest.mark.parametrize("language", table.languages())
def test_knowing_the_language_changes_no_answer(language: str) -> None:
    """The conversation's language only settles what would be in doubt."""
    wrong = [
        (sign, text) for sign, text in table.rows(language) if verdict(read(text, language=language)).verdict != sign
    ]

    assert [] == wrong


@pytest.mark.parametrize("language", table.languages())
def test_each_table_holds_enough_of_every_sign(language: str) -> None:
    """A language counts as covered with at least 20 replies for yes, no and neither."""
    counts = Counter(sign for sign, _ in table.rows(language))

    assert [] == [sign for sign in table.SIGNS if counts[sign] < LEAST]


def test_every_language_has_a_table() -> None:
    """No language file goes untested, and no table is without its language."""
    assert lexicon.all_codes() == set(table.languages())


@pytest.mark.parametrize("language", table.languages())
def test_no_table_repeats_a_reply(language: str) -> None:
    """Each line adds something."""
    counts = Counter(text for _, text in table.rows(language))

    assert [] == [text for text, count in counts.items() if count > 1]
