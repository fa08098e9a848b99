"""Counts whether enough people have approved a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hitl.call import Vote


class Tally(Struct, frozen=True):
    """The people who have approved and whose approval counts, and the number of people who must approve."""

    approved_by: frozenset[str]
    need: int

    @property
    def complete(self) -> bool:
        """Whether enough people have approved."""
        return self.missing <= 0

    @property
    def missing(self) -> int:
        """The number of people who must still approve."""
        return self.need - len(self.approved_by)


def tally(votes: Iterable[Vote], person: Callable[[str], str | None], need: int) -> Tally:
    """Count the approval of each person once. Rejections aren't counted, because one rejection ends the call.

    `person` takes the principal that a vote names. It returns the principal of that person now, or None if the person's
    approval doesn't count now.
    """
    people = {person(vote.principal) for vote in votes if vote.approve}
    return Tally(frozenset(name for name in people if name is not None), need)
