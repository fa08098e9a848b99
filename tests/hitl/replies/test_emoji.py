"""Reactions and emoji: the platforms' own ways of writing them."""

import pytest

from hitl.replies import Verdict, read, verdict

_TONES = "🏻🏼🏽🏾🏿"


@pytest.mark.parametrize(
    "emoji", ["👍", *(f"👍{tone}" for tone in _TONES), "👍\ufe0f", "✅", "✔️", "☑️", "👌", "🆗", "💯", "👍👍"]
)
def test_a_sign_of_approval_approves(emoji: str) -> None:
    """In every skin tone, with or without a variation selector."""
    assert Verdict.APPROVE is verdict(read(emoji)).verdict


@pytest.mark.parametrize("emoji", ["👎", *(f"👎{tone}" for tone in _TONES), "❌", "🚫", "🙅", "🙅🏽\u200d♂️", "⛔", "✖️"])
def test_a_sign_of_refusal_rejects(emoji: str) -> None:
    """In every skin tone and gender."""
    assert Verdict.REJECT is verdict(read(emoji)).verdict


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        (":+1:", Verdict.APPROVE),
        (":thumbsup:", Verdict.APPROVE),
        (":+1::skin-tone-4:", Verdict.APPROVE),
        ("+1::skin-tone-2", Verdict.APPROVE),
        (":white_check_mark:", Verdict.APPROVE),
        (":-1:", Verdict.REJECT),
        (":thumbsdown::skin-tone-6:", Verdict.REJECT),
        (":x:", Verdict.REJECT),
        (":eyes:", Verdict.UNCLEAR),
        (":no_such_emoji:", Verdict.UNCLEAR),
    ],
)
def test_names_of_emoji_mean_what_the_emoji_mean(name: str, sign: Verdict) -> None:
    """As Slack writes them in messages and in reaction events."""
    assert sign is verdict(read(name)).verdict


@pytest.mark.parametrize(
    "emoji", ["🎉", "🔥", "❤", "🙏", "🤔", "👀", "😂", "💩", "🤷", "🦄", "👍👎", "✅❌", "⚡", "🤡", "😁", "🫥"]
)
def test_other_emoji_decide_nothing(emoji: str) -> None:
    """A feeling is no answer, an unknown sign neither, and two signs contradict each other."""
    assert Verdict.UNCLEAR is verdict(read(emoji)).verdict


def test_an_emoji_beside_words_keeps_their_sign() -> None:
    """One of the same sign is welcome, one of the other makes it unclear."""
    assert Verdict.APPROVE is verdict(read("yes 👍")).verdict
    assert Verdict.APPROVE is verdict(read("yes please 🙂")).verdict
    assert Verdict.UNCLEAR is verdict(read("yes 👎")).verdict
    assert Verdict.UNCLEAR is verdict(read("no 👍")).verdict
