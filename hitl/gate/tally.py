"""Whether the votes on a call suffice: whose yes counts by now, and how many are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hitl.call import Vote


@dataclass(frozen=True, slots=True)
class Tally:
    """The people whose yes counts, and how many it takes."""

    approved_by: frozenset[str]
    need: int

    @property
    def complete(self) -> bool:
        """Whether nobody else is needed."""
        return self.missing <= 0

    @property
    def missing(self) -> int:
        """How many more people it takes."""
        return self.need - len(self.approved_by)


def tally(votes: Iterable[Vote], person: Callable[[str], str | None], need: int) -> Tally:
    """Count each person's yes once. A no is no vote against: it ends the call by itself.

    `person` says who is behind the name on a vote by now, or None where that person's yes doesn't count by now.
    """
    people = {person(vote.principal) for vote in votes if vote.approve}
    return Tally(frozenset(name for name in people if name is not None), need)
