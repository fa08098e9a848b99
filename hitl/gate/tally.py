"""Counts whether enough people have approved a call, and states what each approval must bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hitl.call import Call, Risk, Verdict, Vote


class Demands(Struct, frozen=True):
    """The demands on an approval of a call: of the verdict on its card and the current verdict, the stricter counts."""

    #: The risk that the approver must confirm.
    risk: Risk
    #: Whether the approver must give a reason.
    reason: bool

    @classmethod
    def of(cls, call: Call, now: Verdict) -> Demands:
        """Return the demands under the call's own verdict and the current verdict `now`."""
        both = (call.verdict, now)
        risk = max((verdict.risk for verdict in both), key=lambda risk: risk.rank)
        return cls(risk, any(verdict.require_reason for verdict in both))

    def met_by(self, vote: Vote, call: Call) -> bool:
        """Return whether a stored approval meets the demands.

        A vote of an earlier version holds no risk. The person saw the risk on the card.
        """
        confirmed = vote.risk or call.verdict.risk
        return self.risk.rank <= confirmed.rank and bool(vote.reason or not self.reason)


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


def tally(votes: Iterable[Vote], person: Callable[[Vote], str | None], need: int) -> Tally:
    """Count the approval of each person once. Rejections aren't counted, because one rejection ends the call.

    `person` takes an approval. It returns the principal of its author now, or None if the approval doesn't count now.
    """
    people = {person(vote) for vote in votes if vote.approve}
    return Tally(frozenset(name for name in people if name is not None), need)
