"""Any string at all is read without an error."""

import random
from collections.abc import Iterator

import pytest

from hitl.replies import Meaning, read, verdict
from tests.hitl.replies import table

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz yesno,.!?'\n",
    "\u200b\u202e\u2066\ufe0f\u20e3\u0336\u0301\u00ad yesno",
    "👍👎🏽\u200d♂✅❌🙂☑:+1_-<@U>|~`*#/0123456789",
    "да нет はい 不 네 ใช่ हाँ لا כן",
)


def _strings(count: int, seed: int) -> Iterator[str]:
    chance = random.Random(seed)  # noqa: S311 - repeatable, and no secret
    known = [text for sign in table.SIGNS for _, text in table.replies(sign)]
    for _ in range(count):
        yield chance.choice((_noise, _mutant, _anything))(chance, known)


def _noise(chance: random.Random, _: list[str]) -> str:
    return "".join(chance.choices(chance.choice(_ALPHABETS), k=chance.randrange(40)))


def _mutant(chance: random.Random, known: list[str]) -> str:
    letters = list(chance.choice(known) + chance.choice(("", " ", ", ", "\n")) + chance.choice(known))
    for _ in range(chance.randrange(4)):
        letters[chance.randrange(len(letters))] = chance.choice(chance.choice(_ALPHABETS))
    return "".join(letters)


def _anything(chance: random.Random, _: list[str]) -> str:
    return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(20)))


def _unsound(text: str) -> bool:
    readings = read(text)
    whole = verdict(readings)
    reasons = [reading.reason for reading in readings if reading.reason is not None]
    return not readings or whole.verdict not in Meaning or any(reason not in text for reason in reasons)


def test_random_and_mutated_strings_are_read() -> None:
    """Ten thousand strings: always at least one reading, and every reason is part of the text."""
    assert [] == [text for text in _strings(10_000, 7) if _unsound(text)]


@pytest.mark.fuzz
def test_a_million_strings_are_read() -> None:
    """The same at length."""
    assert [] == [text for text in _strings(1_000_000, 8) if _unsound(text)]
