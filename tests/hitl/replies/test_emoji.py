"""Reactions and emoji: the platforms' own ways of writing them."""

import pytest

from hitl.replies import Meaning, read, verdict

_TONES = "🏻🏼🏽🏾🏿"


@pytest.mark.parametrize(
    "emoji", ["👍", *(f"👍{tone}" for tone in _TONES), "👍\ufe0f", "✅", "✔️", "☑️", "👌", "🆗", "💯", "👍👍"]
)
def test_a_sign_of_approval_approves(emoji: str) -> None:
    """In every skin tone, with or without a variation selector."""
    assert Meaning.APPROVE is verdict(read(emoji)).verdict


@pytest.mark.parametrize("emoji", ["👎", *(f"👎{tone}" for tone in _TONES), "❌", "🚫", "🙅", "🙅🏽\u200d♂️", "⛔", "✖️"])
def test_a_sign_of_refusal_rejects(emoji: str) -> None:
    """In every skin tone and gender."""
    assert Meaning.REJECT is verdict(read(emoji)).verdict


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        (":+1:", Meaning.APPROVE),
        (":thumbsup:", Meaning.APPROVE),
        (":+1::skin-tone-4:", Meaning.APPROVE),
        ("+1::skin-tone-2", Meaning.APPROVE),
        (":white_check_mark:", Meaning.APPROVE),
        (":-1:", Meaning.REJECT),
        (":thumbsdown::skin-tone-6:", Meaning.REJECT),
        (":x:", Meaning.REJECT),
        (":eyes:", Meaning.UNCLEAR),
        (":no_such_emoji:", Meaning.UNCLEAR),
    ],
)
def test_names_of_emoji_mean_what_the_emoji_mean(name: str, sign: Meaning) -> None:
    """As Slack writes them in messages and in reaction events."""
    assert sign is verdict(read(name)).verdict


@pytest.mark.parametrize(
    "emoji", ["🎉", "🔥", "❤", "🙏", "🤔", "👀", "😂", "💩", "🤷", "🦄", "👍👎", "✅❌", "⚡", "🤡", "😁", "🫥"]
)
def test_other_emoji_decide_nothing(emoji: str) -> None:
    """A feeling is no answer, an unknown sign neither, and two signs contradict each other."""
    assert Meaning.UNCLEAR is verdict(read(emoji)).verdict


def test_an_emoji_beside_words_keeps_their_sign() -> None:
    """One of the same sign is welcome, one of the other makes it unclear."""
    assert Meaning.APPROVE is verdict(read("yes 👍")).verdict
    assert Meaning.APPROVE is verdict(read("yes please 🙂")).verdict
    assert Meaning.UNCLEAR is verdict(read("yes 👎")).verdict
    assert Meaning.UNCLEAR is verdict(read("no 👍")).verdict
