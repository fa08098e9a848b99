"""Reading is fast, and its time grows no faster than the text."""

import gc
import re
import time
from collections.abc import Callable

import pytest

from hitl.replies import read
from tests.hitl.replies import table

_TIMES_A_MATCH = 250
_UNITS = (
    "yes please ",
    "no because the date ",
    " 👍",
    "a1-",
    "é",
    "`",
    "don't ",
    "<",
    "~",
    "(",
    "> ",
    "yes\n",
    "x@",
    "好",
)


def _seconds(call: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    gc.enable()
    return best


def test_a_reply_costs_a_bounded_number_of_regex_matches() -> None:
    """Against one full match of an alternation of a hundred words; far above what is measured, for busy machines."""
    texts = [
        text for sign in table.SIGNS for text in (reply for language, reply in table.replies(sign) if language == "en")
    ]
    words = re.compile("|".join(f"word{number}" for number in range(99)) + "|yes", re.IGNORECASE)
    for text in texts:
        read(text)
    matching = _seconds(lambda: [words.fullmatch(text) for text in texts])

    assert _seconds(lambda: [read(text) for text in texts]) < _TIMES_A_MATCH * matching


@pytest.mark.parametrize("unit", _UNITS)
def test_time_grows_with_length_only(unit: str) -> None:
    """Ten times the text takes about ten times as long, never a hundred times."""
    short, long = ((unit * size)[:size] for size in (10_000, 100_000))
    read(short)

    assert _seconds(lambda: read(long)) < 40 * max(_seconds(lambda: read(short)), 0.002)
