"""What a person may do with a call: one answer for every surface, by the operator's lists as they are now.

The call names those whom it was shown to and whoever asked, as they were known then. Each name is looked up anew: a
person who has got a name since, or another one, is still that person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl.model import Risk, Runs
from hitl.outcomes import Refusal
from hitl.people.directory import belongs

if TYPE_CHECKING:
    from hitl.model import Call, Reply, Verdict
    from hitl.people.directory import Directory

#: Surfaces that show every call, wherever its cards stand.
_PLACELESS = frozenset({"socket", "http"})


@dataclass(frozen=True, slots=True)
class Access:
    """Answers by one directory. Everybody is named by their principal (`Directory.principal`)."""

    people: Directory

    def may_ask(self, principal: str, origin: str) -> bool:
        """Whether the principal may start calls in that conversation."""
        return principal in self.people.requesters_for(origin)

    def operates(self, principal: str) -> bool:
        """Whether the principal looks after the installation."""
        return principal in self.people.operators

    def asked(self, principal: str, call: Call) -> bool:
        """Whether it is that person's own call."""
        return self.people.principal(call.requester) == principal

    def is_approver(self, principal: str, call: Call) -> bool:
        """Whether the call names that person among those who may decide it."""
        return principal in map(self.people.principal, call.approvers)

    def may_see(self, principal: str, call: Call) -> bool:
        """Whether the person may read the call: whoever asked, may decide, or operates."""
        return self.may_withdraw(principal, call) or self.is_approver(principal, call)

    def may_withdraw(self, principal: str, call: Call) -> bool:
        """Whether the person may take the call back: whoever asked, or an operator."""
        return self.asked(principal, call) or self.operates(principal)

    def may_claim(self, principal: str, call: Call) -> bool:
        """Whether the person is to run the call and report on it: it is their own, and no service runs it."""
        return call.runs is Runs.CALLER and self.asked(principal, call)

    def why_not_decide(self, reply: Reply, call: Call, verdict: Verdict, *, approve: bool) -> Refusal | None:
        """Why the person may not answer the call there, if so, by a verdict on it; strangers learn nothing else."""
        principal = self.people.principal(reply.identity)
        if reply.surface not in _PLACELESS and not belongs(call, reply.conversation):
            return Refusal.PLACE
        if not self.is_approver(principal, call) or principal not in self.people.approvers_for(call.origin, verdict):
            return Refusal.STRANGER
        own = approve and self.asked(principal, call)
        return Refusal.OWN if own and not self.may_approve_own(verdict, call.origin, reply.surface) else None

    def may_approve_own(self, verdict: Verdict, origin: str, surface: str) -> bool:
        """Whether a requester may approve a call of their own with that verdict, there and by that surface."""
        limit = self.people.self_approval(origin, surface)
        small = limit is not None and verdict.risk.rank <= limit.rank < Risk.CRITICAL.rank
        return small and not verdict.exclude_requester

    def anybody(self, call: Call) -> bool:
        """Whether at least one person could approve the call, on any surface."""
        if any(self.people.principal(name) != self.people.principal(call.requester) for name in call.approvers):
            return True
        own = any(self.may_approve_own(call.verdict, call.origin, surface) for surface in ("", "socket"))
        return own and bool(call.approvers)
