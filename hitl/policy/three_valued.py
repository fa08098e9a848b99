"""The three answers of a condition: it holds (YES), it does not hold (NO), or the condition cannot tell (UNSURE).

The numbers are ordered so that ``min`` is *and*, ``max`` is *or*, and ``YES - x`` is *not* (Kleene's strong logic).
"""

from typing import Final

NO: Final = 0
UNSURE: Final = 1
YES: Final = 2


def opposite(answer: int) -> int:
    """Return the opposite answer: NO for YES, YES for NO, and UNSURE for UNSURE."""
    return YES - answer
