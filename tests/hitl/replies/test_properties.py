"""What no reply may do, whatever is added to it."""

import random
import re
from collections.abc import Callable, Iterator

import pytest

from hitl.replies import Verdict, read, verdict
from tests.hitl.replies import corpora, table

Change = Callable[[str], str]

_EMPTY = re.compile(r"[\s\u200b]*(?:@\w+)?")

CHANGES: dict[str, Change] = {
    "capitals": str.upper,
    "small letters": str.lower,
    "title": str.title,
    "blanks around": "  {} \t".format,
    "double blanks": lambda text: text.replace(" ", "  "),
    "full stop": "{}.".format,
    "exclamation": "{}!!".format,
    "dots": "{} ...".format,
    "thumbs up after": "{} 👍".format,
    "thumbs up before": "👍 {}".format,
    "check mark": "{} ✅".format,
    "thumbs down": "{} 👎".format,
    "cross before": "❌ {}".format,
    "smile": "{} 🙂".format,
    "please": "{} please".format,
    "thanks": "{}, thanks!".format,
    "thank you before": "thank you, {}".format,
    "mention": "@sayso {}".format,
}
SPOILERS: dict[str, Change] = {
    "don't": "don't {}".format,
    "question mark": "{}?".format,
    "only in staging": "{} but only in staging".format,
    "quoted": "> {}".format,
    "struck out": "~~{}~~".format,
    "code": "`{}`".format,
}


def approves(text: str) -> bool:
    """Tell whether a message as a whole is a yes."""
    return verdict(read(text)).verdict is Verdict.APPROVE


def not_yes() -> Iterator[str]:
    """Give our own replies that are no yes."""
    yield from (text for sign in ("reject", "unclear") for _, text in table.replies(sign))


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_of_dress_makes_a_yes(change: str) -> None:
    """Case, spacing, punctuation, emoji and politeness turn no other reply into an approval."""
    wrong = [text for text in not_yes() if approves(CHANGES[change](text))]

    assert [] == wrong


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_spoilt_yes_is_none(spoiler: str) -> None:
    """A yes after "don't", or with a question mark, a condition or a quotation mark at its head, approves nothing."""
    wrong = [text for _, text in table.replies("approve") if "\n" not in text and approves(SPOILERS[spoiler](text))]

    assert [] == wrong


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_of_dress_makes_a_yes_of_a_labelled_reply(change: str) -> None:
    """The same for the replies of the corpora that are labelled otherwise and allow no yes."""
    rows = corpora.load("replies/real_dev.jsonl") + corpora.load("replies/adversarial_dev.jsonl")
    texts = [row["text"] for row in rows if "approve" not in {row["label"], *row.get("also_ok", ())}]
    texts = [text for text in texts if not _EMPTY.fullmatch(text)]
    wrong = [text for text in texts if approves(CHANGES[change](text))]

    assert [] == wrong


@pytest.mark.parametrize("spoiler", ["don't", "question mark", "only in staging"])
def test_a_spoilt_yes_of_the_corpora_is_none(spoiler: str) -> None:
    """The same for every reply of the corpora that we approve."""
    rows = corpora.load("replies/real_dev.jsonl") + corpora.load("replies/adversarial_dev.jsonl")
    texts = [row["text"] for row in rows if verdict(read(row["text"])).verdict is Verdict.APPROVE]
    wrong = [text for text in texts if approves(SPOILERS[spoiler](text))]

    assert [] == wrong


def test_a_second_sign_of_the_other_kind_is_no_yes() -> None:
    """A yes with a thumbs down contradicts itself."""
    wrong = [text for _, text in table.replies("approve") if approves(f"{text} 👎") or approves(f"👎 {text}")]

    assert [] == wrong


def test_the_same_text_is_always_read_alike() -> None:
    """Nothing that was read before matters, nor the order."""
    texts = [text for sign in table.SIGNS for _, text in table.replies(sign)]
    first = {text: read(text) for text in texts}
    random.Random(1).shuffle(texts)  # noqa: S311 - repeatable, and no secret

    assert first == {text: read(text) for text in texts}
