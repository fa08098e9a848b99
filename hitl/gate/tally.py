"""Whether the votes on a call suffice: whose yes counts by now, and how many are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hitl.model import Vote

#: Distinct people whose yes a call needs.
NEED = 1


@dataclass(frozen=True, slots=True)
class Tally:
    """The people whose yes counts, and how many it takes."""

    approved_by: frozenset[str]
    need: int = NEED

    @property
    def complete(self) -> bool:
        """Whether nobody else is needed."""
        return len(self.approved_by) >= self.need


def tally(votes: Iterable[Vote], counts: Callable[[str], bool], need: int = NEED) -> Tally:
    """Count each person's yes once, if it `counts` by now. A no is no vote against: it ends the call by itself."""
    return Tally(frozenset(vote.principal for vote in votes if vote.approve and counts(vote.principal)), need)
