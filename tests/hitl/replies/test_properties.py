"""What no reply may do, whatever is added to it."""

import random
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hitl.replies import Meaning, read, verdict
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
    return verdict(read(text)).verdict is Meaning.APPROVE


def labelled() -> list[dict[str, Any]]:
    """Give the rows of all corpora."""
    return [row for name in ("real", "adversarial", "fresh") for row in corpora.load(f"replies/{name}_dev.jsonl")]


def not_yes() -> Iterator[str]:
    """Give our own replies that are no yes."""
    yield from (text for sign in ("reject", "unclear") for _, text in table.replies(sign))


def makes_a_yes(change: str, text: str) -> bool:
    """Tell whether a change turns a text into a yes; a thumbs up before mere politeness is one itself."""
    return approves(CHANGES[change](text)) and not (change == "thumbs up before" and approves(f"yes, {text}"))


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_of_dress_makes_a_yes(change: str) -> None:
    """Case, spacing, punctuation, emoji and politeness turn no other reply into an approval."""
    wrong = [text for text in not_yes() if makes_a_yes(change, text)]

    assert [] == wrong


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_spoilt_yes_is_none(spoiler: str) -> None:
    """A yes after "don't", or with a question mark, a condition or a quotation mark at its head, approves nothing."""
    wrong = [text for _, text in table.replies("approve") if "\n" not in text and approves(SPOILERS[spoiler](text))]

    assert [] == wrong


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_of_dress_makes_a_yes_of_a_labelled_reply(change: str) -> None:
    """The same for the replies of the corpora that are labelled otherwise and allow no yes."""
    rows = labelled()
    texts = [row["text"] for row in rows if "approve" not in {row["label"], *row.get("also_ok", ())}]
    texts = [text for text in texts if not _EMPTY.fullmatch(text)]
    wrong = [text for text in texts if makes_a_yes(change, text)]

    assert [] == wrong


@pytest.mark.parametrize("spoiler", ["don't", "question mark", "only in staging"])
def test_a_spoilt_yes_of_the_corpora_is_none(spoiler: str) -> None:
    """The same for every reply of the corpora that we approve."""
    rows = labelled()
    texts = [row["text"] for row in rows if "\n" not in row["text"] and approves(row["text"])]
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


def _question_marks() -> list[str]:
    """Give the question marks of all scripts, by their names in Unicode."""
    names = ((chr(code), unicodedata.name(chr(code), "")) for code in range(0x20, 0x1F000))
    return [mark for mark, name in names if "QUESTION" in name and unicodedata.category(mark) in {"Po", "So"}]


@pytest.mark.parametrize("mark", _question_marks())
def test_a_yes_with_a_question_mark_is_none(mark: str) -> None:
    """The question mark of any script, before or behind a yes of any language, makes it unclear."""
    texts = [text for _, text in table.replies("approve") if "\n" not in text][::9]
    wrong = [text for text in texts if approves(text + mark) or approves(f"{text} {mark}") or approves(mark + text)]

    assert [] == wrong


def test_a_semicolon_behind_greek_words_asks() -> None:
    """The Greek question mark becomes a semicolon when a text is normalised."""
    texts = [
        text for code, text in table.replies("approve") if code == "el" and "\n" not in text and not text.isascii()
    ]

    assert len(texts) > 20
    assert [] == [text for text in texts if approves(f"{text};") or approves(f"{text}\u037e")]


@pytest.mark.parametrize("word", ["qwxz", "k_9", "7", "@zed", "foo()", "[ ]", "ωχψ", "ъщж", "鼕"])
def test_an_unknown_word_spoils_a_yes(word: str) -> None:
    """A word, number, mention or sign that nobody knows, before or behind a yes, makes it unclear."""
    texts = [text for _, text in table.replies("approve") if "\n" not in text]

    assert [] == [text for text in texts if approves(f"{text} {word}") or approves(f"{word} {text}")]


def _seconds(text: str) -> float:
    """Give the time of this thread that a text takes to read, the best of three."""
    spent = []
    for _ in range(3):
        began = time.thread_time()
        read(text)
        spent.append(time.thread_time() - began)
    return min(spent)


@pytest.mark.parametrize(
    "piece",
    [
        "yes ",
        "no ",
        "ja ",
        "да ",
        "好",
        "👍",
        "yes\n",
        "> yes\n",
        "~",
        "(",
        "a_",
        "9",
        "@a ",
        "Regards,\n",
        "áno ",
        "\u0301",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """A long text is unclear at once; the longest that is read grows no more than its length, whatever it repeats."""
    read(piece)

    assert Meaning.UNCLEAR is verdict(read((piece * 100_000)[:100_000])).verdict
    assert _seconds((piece * 100_000)[:100_000]) < 0.05
    assert _seconds((piece * 5_000)[:5_000]) < 20 * max(_seconds((piece * 500)[:500]), 0.001)


@pytest.mark.parametrize(
    "text",
    [
        "yes please confirm",
        "yes I'm fine",
        "sí ya",
        "ja mach's gut",
        "はいOKそうです",
        "はい大丈夫よね",
        "好的可以是可以",
        "mouais oui",
        "có phải",
        "vâng được thông qua",
    ],
)
def test_words_that_answer_nothing_answer_nothing_behind_a_yes(text: str) -> None:
    """A yes right before a remark, a request to somebody, hearsay or a farewell doesn't make an answer of it."""
    assert not approves(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I changed my mind, ok", Meaning.UNCLEAR),
        ("ich habe es mir anders überlegt, okay", Meaning.UNCLEAR),
        ("передумала, ok", Meaning.UNCLEAR),
        ("vazgeçtim tamam", Meaning.UNCLEAR),
        ("vazgeçtim", Meaning.REJECT),
        ("I changed my mind, yes", Meaning.APPROVE),
        ("I changed my mind, I agree", Meaning.APPROVE),
        ("fikrimi değiştirdim, onaylıyorum", Meaning.APPROVE),
    ],
)
def test_a_change_of_mind_needs_a_full_yes(text: str, answer: Meaning) -> None:
    """An "ok" behind "I changed my mind" may only close the sentence, and a Turkish withdrawal is a no."""
    assert answer is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["yes ok mas", "ok ok mas", "go ahead, ok mas"])
def test_a_doubt_of_one_language_is_heard_inside_its_idiom(text: str) -> None:
    """The word "mas" is "but" in Portuguese, also as the end of "ok mas", and an address in Indonesian."""
    assert not approves(text)
