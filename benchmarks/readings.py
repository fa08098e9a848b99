"""How long a reply takes to read, beside one full match of an alternation of a hundred words, and how time grows.

`python -m benchmarks.readings FOLDER`. The replies are English ones that people write every day; the long texts repeat
one piece each, up to the most characters that are read; a careless reader takes quadratic time for each such piece.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from benchmarks.telling import tell
from hitl.replies import read

if TYPE_CHECKING:
    from collections.abc import Callable

REPLIES = (
    "yes",
    "yes please",
    "ok",
    "go ahead",
    "sounds good, thanks!",
    "lgtm",
    "ship it 🚀",
    "no",
    "no because it is Friday",
    "nope, that's prod",
    "not now",
    "wait, which file?",
    "yes, but only in staging",
    "👍",
    "approve K7Q2MX",
    "what does it do?",
)
PIECES = (
    "so no ",
    "yes, wait, ",
    "yes please ",
    "no because the date ",
    " 👍",
    "don't ",
    "(",
    "> ",
    "yes\n",
    "好",
    "`",
)
SHORT, LONG = 500, 5_000
_ROUNDS = 200


def _each(call: Callable[[], object], times: int) -> float:
    """Seconds of the processor for one call, the best of five runs: a pause of the process isn't counted."""
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - started) / times)
    return best


def growth(piece: str) -> float:
    """How many times as long ten times the text takes."""
    short, long = ((piece * size)[:size] for size in (SHORT, LONG))
    return _each(lambda: read(long), 1) / _each(lambda: read(short), 5)


def main() -> None:
    """Measure, and tell."""
    words = re.compile("|".join(f"word{number}" for number in range(99)) + "|yes", re.IGNORECASE)
    for text in REPLIES:
        read(text)
    reading = _each(lambda: [read(text) for text in REPLIES], _ROUNDS) / len(REPLIES)
    matching = _each(lambda: [words.fullmatch(text) for text in REPLIES], _ROUNDS) / len(REPLIES)
    tell({"reading": reading, "matching": matching, "growth": max(map(growth, PIECES))})


if __name__ == "__main__":
    main()
