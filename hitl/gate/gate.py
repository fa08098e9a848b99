"""The gate as its users see it: the ports that it works with, and one method a use case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.errors import SaysoError
from hitl.gate import claim, decide, end, retain, submit, swap, target
from hitl.gate.context import GateContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hitl.call import Ask, Call, Lease, Ran, Reply
    from hitl.gate.response import Answer, Submitted


class Gate(GateContext):
    """The use cases, over the ports. One per service; `owner` names this process in the leases that it takes.

    Up to its last colon `owner` names a place where one process at a time works, and behind that the process.
    """

    # -- the use cases --------------------------------------------------------------------------------------

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call: denied, allowed (and leased, if this service runs it), or waiting for people.

        Raises InvalidConfirmation for arguments that can't be bound or used, NotApprover where the requester may
        not ask there, KeyConflict, TooManyPending, and Unavailable. Nothing is recorded then.
        """
        return await submit.submit(self, ask)

    async def submit_all(self, asks: Sequence[Ask]) -> list[Submitted | SaysoError]:
        """A batch: each call on its own, in order; one that fails doesn't touch the others."""
        done: list[Submitted | SaysoError] = []
        for ask in asks:
            try:
                done.append(await self.submit(ask))
            except SaysoError as error:
                done.append(error)
        return done

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """The one guard for every surface: what came of a reply, one answer for each call that it names.

        Never raises for what people do; raises Unavailable when nothing could be recorded.
        """
        return await decide.decide(self, reply)

    async def peek(self, reply: Reply) -> Answer:
        """What a reply that asks for details gets, without counting them as seen.

        For surfaces that may fail to show them: only when they are shown is the same reply decided. Raises Unavailable.
        """
        return await decide.peek(self, reply)

    async def add_reason(self, target: str, identity: str, reason: str) -> Answer:
        """Attach a reason to one's own rejection, within 60 seconds of it. Those who wait for it are told.

        One without words (a picture, blanks) is none: the wait goes on.
        """
        return await decide.add_reason(self, target, identity, reason)

    async def withdraw(self, target: str, identity: str) -> Call:
        """End a waiting call on behalf of the one who asked, or an operator.

        Raises CallUnknown, NotApprover (on record), or AlreadyDecided / ConfirmationExpired when it is over.
        """
        return await end.withdraw(self, target, identity)

    async def undeliverable(self, ref: str, said: str) -> Call:
        """End a waiting call that every surface refused to show; `said` is what they said. Raises as `withdraw`."""
        return await end.undeliverable(self, ref, said)

    async def orphaned(self, call: Call) -> Call | None:
        """End a claimed call whose claimant is known to be dead, without waiting for its lease: `unknown`."""
        return await end.orphaned(self, call)

    async def void(self, call: Call) -> Call | None:
        """End a call that isn't over in a database that is older than what was last let run: nothing of it may run."""
        return await end.void(self, call)

    async def settle(self, call: Call, *, unseen: bool = False) -> Call | None:
        """End what is overdue by the store's clock: expired, lapsed, or lost with its lease. None where it isn't.

        `unseen` says that no surface ever showed the card. For a rejection it is the wait for its reason that ends.
        """
        return await swap.settle(self, call, unseen=unseen)

    async def retire(self, call: Call, *, archive: bool) -> Call | None:
        """Erase the arguments of a call that is over, on record, and archive the call if `archive` says so.

        Returns None if the call may still change, if a message about it is unsent, or if there is nothing to do.
        Raises Tampered for a call that isn't as it was written: it stays as it is, because it is evidence.
        """
        return await retain.retire(self, call, archive=archive)

    async def claim(self, target: str, owner: str, secret: str) -> Lease:
        """The one permission to run an approved or allowed call; the same again for the same secret's hash.

        `secret` is the SHA-256 (hex) of a secret that the claimant keeps. Raises CallUnknown, Tampered,
        AlreadyDecided (claimed by another, or not to be claimed), or InvalidConfirmation where something changed.
        """
        return await claim.claim(self, target, owner, secret)

    async def release(self, target: str, owner: str) -> Call:
        """Claim and finish in one commit: for a caller that runs it and doesn't report. Raises as `claim`."""
        return await claim.release(self, target, owner)

    async def finish(self, target: str, secret: str, ran: Ran) -> Call:
        """Record how a claimed call ended; a late report amends `unknown` and `timed_out`.

        `secret` is what `claim` was given the hash of. Raises CallUnknown, NotApprover for another's call,
        AlreadyDecided where it ended another way.
        """
        return await claim.finish(self, target, secret, ran)

    async def finish_own(self, lease: Lease, ran: Ran) -> Call:
        """`finish` for a lease that this process took itself; the call is as it was then, or the swap tells."""
        return await claim.finish_own(self, lease, ran)

    # -- which call ----------------------------------------------------------------------------------------

    async def find(self, name: str) -> Call | None:
        """The call with that ref or short ref, however the short one was typed."""
        return await swap.find(self, name)

    async def pointed_at(self, message: str) -> target.Pointed | None:
        """The call that a message of ours is about, by its id among all chats; None for any other message."""
        return await target.pointed_at(self, message)
