"""The rights of a person on a call, by the operator's current lists. The rights are the same on every surface.

A list or a stored call may name a person by an identity, and the operator may map this identity to a principal later.
So every name is mapped through the current directory before it is compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hitl.call import Risk, Runs
from hitl.outcomes import Refusal
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hitl.call import Call, Reply, Verdict
    from hitl.people.directory import Directory


class Access(Struct, frozen=True):
    """The rights of people, according to the lists of one directory.

    Each method takes a person as a principal (`Directory.principal`).
    """

    people: Directory

    def may_ask(self, principal: str, origin: str) -> bool:
        """Return whether the principal, or the owner of the principal's token, may start calls in `origin`."""
        listed = self._people(self.people.requesters_for(origin))
        return not self.people.whose(principal).isdisjoint(listed) and not self.people.is_revoked(principal)

    def may_still_ask(self, requester: str, origin: str, now: datetime) -> bool:
        """Return whether the requester of an earlier call may still start calls in the conversation `origin`.

        The requester must be listed and not revoked. If the requester is a bearer token, the token must still work.
        """
        return self.may_ask(requester, origin) and not self.people.has_ended(requester, now)

    def operates(self, principal: str) -> bool:
        """Return whether the principal is an operator."""
        return principal in self._people(self.people.operators)

    def asked(self, principal: str, call: Call) -> bool:
        """Return whether the call is the person's own: they asked for it, or an agent asked on their behalf."""
        return principal in self.people.whose(call.requester)

    def is_approver(self, principal: str, call: Call) -> bool:
        """Return whether the list of approvers that is stored with the call names this person."""
        return principal in self._people(call.approvers)

    def may_see(self, principal: str, call: Call) -> bool:
        """Return whether the person may read the call: its requester, an approver, or an operator."""
        return self.may_withdraw(principal, call) or self.is_approver(principal, call)

    def may_withdraw(self, principal: str, call: Call) -> bool:
        """Return whether the person may withdraw the call: its requester, or an operator."""
        own = self.asked(principal, call) and not self.people.is_revoked(principal)
        return own or self.operates(principal)

    def may_claim(self, principal: str, call: Call) -> bool:
        """Return whether the principal may claim the call and report its result.

        Only the call's requester may, and only if the call's caller runs it (`Runs.CALLER`).
        """
        own = call.runs is Runs.CALLER and principal == self.people.principal(call.requester)
        return own and not self.people.is_revoked(principal)

    def why_not_decide(
        self, reply: Reply, call: Call, verdict: Verdict, now: datetime, *, approve: bool
    ) -> Refusal | None:
        """Return the reason why the person may not decide the call by this reply and under this verdict, or None.

        Only an approver of the call gets a reason that depends on the verdict.
        """
        principal = self.people.principal(reply.identity)
        if reply.identity in self.people.owners:
            return Refusal.AGENT
        surface = self.people.surfaces.get(reply.surface)
        everywhere = surface is not None and surface.shows_every_call
        if not everywhere and not self.people.belongs(call, reply.conversation):
            return Refusal.PLACE
        if is_question(call):
            return None if self._answers_there(principal, call, reply.surface) else Refusal.STRANGER
        if approve:
            return self.why_not_approve(reply.identity, reply.surface, call, verdict, now)
        return None if self.counts(principal, call, verdict) else Refusal.STRANGER

    def why_not_approve(
        self, identity: str, surface: str, call: Call, verdict: Verdict, now: datetime
    ) -> Refusal | None:
        """Return the reason why an approval by this account on this surface doesn't count now, or None if it counts.

        The decision asks this of each new approval, and the claim asks it again of each stored approval.
        """
        principal = self.people.principal(identity)
        if self.people.has_ended(identity, now) or not self.counts(principal, call, verdict):
            return Refusal.STRANGER
        if verdict.risk.rank > self.people.token_limit(identity).rank:
            return Refusal.TOKEN
        own = self.asked(principal, call)
        return Refusal.OWN if own and not self.may_approve_own(verdict, call.origin, surface) else None

    def may_answer(self, principal: str, call: Call) -> bool:
        """Return whether the person may answer a question: its requester, or one of its approvers."""
        if self.people.is_revoked(principal):
            return False
        return self.asked(principal, call) or self.counts(principal, call, call.verdict)

    def _answers_there(self, principal: str, call: Call, surface: str) -> bool:
        """Return whether the person may answer a question on this surface.

        On a chat platform, which proves who speaks, a requester may answer their own agent. At a terminal and on this
        machine's socket, an agent could speak as its own user. There, a requester may answer their own question only if
        they may also approve their own call.
        """
        proven = self.people.is_chat(f"{surface}:")
        if not proven and self.asked(principal, call) and not self.may_approve_own(call.verdict, call.origin, surface):
            return False
        return self.may_answer(principal, call)

    def counts(self, principal: str, call: Call, verdict: Verdict) -> bool:
        """Return whether the person's vote counts: both the call and the current list for this verdict name them."""
        return principal in self._counted(call, verdict)

    def may_approve_own(self, verdict: Verdict, origin: str, surface: str) -> bool:
        """Return whether a requester may approve their own call with this verdict, on this surface.

        `origin` is the conversation in which the call was asked for.
        """
        limit = self.people.self_approval(origin, surface)
        small = limit is not None and verdict.risk.rank <= limit.rank < Risk.CRITICAL.rank
        return small and not verdict.exclude_requester

    def who_may_approve(self, call: Call, surface: str | None = None) -> tuple[str, ...]:
        """Return the principals who could approve or answer the call, in the order of the call's list of approvers.

        The call's requester is one of them only if their own approval counts on this surface. If `surface` is None,
        it is enough that it counts on any surface. Tokens count as they did when the call was made.
        """
        return self._able(call, call.verdict, call.created_at, surface)

    def who_still_may(self, call: Call, verdict: Verdict, now: datetime) -> frozenset[str]:
        """Return the principals whose approval or answer would count now: by the call's own verdict and by `verdict`.

        Unlike `who_may_approve`, this also checks the current lists of approvers, and the tokens as they are now.
        """
        if is_question(call):
            return frozenset(name for name in self.who_may_approve(call) if self.may_answer(name, call))
        both = (call.verdict, verdict)
        return frozenset.intersection(*(self._counted(call, each) & {*self._able(call, each, now)} for each in both))

    def _able(self, call: Call, verdict: Verdict, at: datetime, surface: str | None = None) -> tuple[str, ...]:
        people, own = self.people, self.people.whose(call.requester)
        listed = [name for name in dict.fromkeys(map(people.principal, call.approvers)) if not people.is_revoked(name)]
        if is_question(call):
            return tuple(listed)
        if not own.isdisjoint(listed):
            surfaces = ("", *people.surfaces) if surface is None else (surface,)
            if not any(self.may_approve_own(verdict, call.origin, each) for each in surfaces):
                listed = [name for name in listed if name not in own]
        return tuple(name for name in listed if people.can_approve(name, verdict.risk, at))

    def _counted(self, call: Call, verdict: Verdict) -> frozenset[str]:
        """Return the principals whom both the call and the current list for this verdict name."""
        return self._people(call.approvers) & self._people(self.people.approvers_for(call.origin, verdict))

    def _people(self, names: Iterable[str]) -> frozenset[str]:
        found = frozenset(map(self.people.principal, names))
        return frozenset(name for name in found if not self.people.is_revoked(name)) if self.people.revoked else found
