"""Three-valued answers: a condition holds, does not hold, or cannot tell.

They are ordered so that ``min`` is *and*, ``max`` is *or*, and ``YES - x`` is *not* (Kleene's strong logic).
"""

from typing import Final

NO: Final = 0
UNSURE: Final = 1
YES: Final = 2


def opposite(answer: int) -> int:
    """Not; what cannot be told stays so."""
    return YES - answer
