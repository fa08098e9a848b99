"""The class `Gate`, through which other code uses the gate. It holds the ports, and has a method for each use case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Entry, Event
from hitl.errors import NotApprover
from hitl.gate import claim, decide, end, retain, submit, swap, target
from hitl.gate.context import GateContext
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from hitl.call import Ask, Call, Lease, Ran, Reply
    from hitl.gate.response import Answer, Submitted


class Gate(GateContext):
    """All use cases of a service. Each service has one gate.

    `owner` names this process in its leases, as `PLACE:PROCESS`. PLACE names something that only one process at a time
    can use, such as the service's data folder, and PROCESS names one start of the service. So if a lease names this
    PLACE and another PROCESS, that process is dead.
    """

    # -- one method for each use case --------------------------------------------------------------------------

    async def submit(self, ask: Ask) -> Submitted:
        """Record a new call: denied, allowed (and leased, if this service runs it), or pending.

        Raises InvalidConfirmation if the arguments can't be used, CallUnknown if `previous` names no ended call of the
        requester with the same arguments, NotApprover if the requester may not ask in that conversation, KeyConflict,
        RejectedRecently, TooManyPending, and Unavailable. After an error, nothing is recorded.
        """
        return await submit.submit(self, ask)

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Handle a reply from any surface.

        Return one answer, or one answer for each call if the words name several calls. People's mistakes give answers,
        not errors. Raises Unavailable if nothing could be recorded.
        """
        return await decide.decide(self, reply)

    async def peek(self, reply: Reply) -> Answer:
        """Return the answer to a reply that asks for details, but don't record that the person saw them.

        This method is for surfaces that may fail to show the details. Such a surface passes the same reply to `decide`
        after it has shown them. Raises Unavailable.
        """
        return await decide.peek(self, reply)

    async def add_reason(self, target: str, identity: str, reason: str) -> Answer:
        """Add a reason to a person's own rejection, up to `late_reason_s` seconds after it.

        A reason without words (a picture, blanks) doesn't count, and the wait for a reason continues.
        """
        return await decide.add_reason(self, target, identity, reason)

    async def withdraw(self, target: str, identity: str, *, left: bool = False) -> Call:
        """Withdraw a pending call, for its requester or an operator.

        `left` says that the calling program has stopped waiting. With `left`, the card says so, and a call that was
        approved or allowed, and that its caller hasn't claimed, lapses immediately.

        Raises CallUnknown, NotApprover (and records the attempt), or, if the call has ended, AlreadyDecided or
        ConfirmationExpired.
        """
        return await end.withdraw(self, target, identity, left=left)

    async def undeliverable(self, ref: str, said: str) -> Call:
        """End a pending call whose card every surface refused. `said` holds the surface's error message.

        Raises CallUnknown, AlreadyDecided or ConfirmationExpired.
        """
        return await end.undeliverable(self, ref, said)

    async def recheck(self, call: Call) -> Call | None:
        """End a pending call that no approval can make run any more, and return it. Return None for any other call.

        If its requester may no longer ask (`Access.may_still_ask`), the call is withdrawn. If too few people can still
        approve it, by the current lists, tokens and policy, it is undeliverable, as it would be if it were asked now.
        Raises AlreadyDecided or ConfirmationExpired if the call has ended.
        """
        return await end.recheck(self, call)

    async def orphaned(self, call: Call) -> Call | None:
        """End a claimed call whose claimant has died: set the result `unknown` before the end of the lease.

        Return the ended call, or None if the call was changed before the write.
        """
        return await end.orphaned(self, call)

    async def void(self, call: Call) -> Call | None:
        """End a call that hasn't ended in a restored database, because it may have run after the backup was made.

        Return the ended call, or None if the call was changed before the write.
        """
        return await end.void(self, call)

    async def settle(self, call: Call, *, unseen: bool = False) -> Call | None:
        """End a call that is overdue by the store's clock, and return it. Return None if it isn't overdue.

        A pending call expires, an unclaimed call lapses, and a claimed call gets the result `unknown`. For a rejected
        call, only the wait for a reason ends. `unseen` says that no surface ever showed the card.
        """
        return await swap.settle(self, call, unseen=unseen)

    async def retire(self, call: Call, *, archive: bool) -> Call | None:
        """Erase the arguments of an ended call, and record the erasure. If `archive` is true, also archive the call.

        Returns None if the call may still change, if a message about it is unsent, or if there is nothing to do. Raises
        Tampered if somebody changed the stored call. Such a call isn't erased, because it is evidence.
        """
        return await retain.retire(self, call, archive=archive)

    async def claim(self, target: str, owner: str, secret: str) -> Lease:
        """Claim an approved or allowed call, and return the lease: the one permission to run it.

        `secret` is not the claimant's secret but its SHA-256 (hex). The claimant keeps the secret and passes it to
        `finish`. Claiming again with the same hash returns the same lease. Raises CallUnknown, StillPending, Tampered,
        InvalidConfirmation (the call is no longer fit to run), and AlreadyDecided or ConfirmationExpired (somebody else
        has claimed it, or it has ended).
        """
        return await claim.claim(self, target, owner, secret)

    async def release(self, target: str, owner: str) -> Call:
        """Claim and finish a call in one commit, for a caller that runs it and won't report a result.

        Raises the errors of `claim`.
        """
        return await claim.release(self, target, owner)

    async def finish(self, target: str, secret: str, ran: Ran) -> Call:
        """Record the end of a claimed call's run. A late report replaces the results `unknown` and `timed_out`.

        `secret` is the secret whose hash was passed to `claim`. Raises CallUnknown, NotApprover for the call of another
        claimant, Tampered, and AlreadyDecided if the call already has another result. `unknown` replaces no result.
        """
        return await claim.finish(self, target, secret, ran)

    async def finish_own(self, lease: Lease, ran: Ran) -> Call:
        """Record the end of a run by this process, which holds the lease.

        Unlike `finish`, the method starts from the call in the lease. It reads the stored call only if the call has
        changed since the lease was taken.
        """
        return await claim.finish_own(self, lease, ran)

    async def refuse_peer(self, identity: str, *, command: bool = False) -> NotApprover:
        """Return the error for a caller on this machine who has no rights, and record the refusal.

        Such a caller is an unlisted user or, with `command`, a command that this service runs. At most one refusal of a
        caller is recorded a minute (`note_refusal`). Raises Unavailable.
        """
        refused = Entry("", Event.REFUSED_PEER, identity, {"kept": True} if command else {})
        await swap.note_refusal(self, refused, command)
        return NotApprover(fact(Refusal.KEPT if command else Refusal.PEER, who=identity))

    # -- finding a call --------------------------------------------------------------------------------------

    async def find(self, name: str) -> Call | None:
        """Return the call with this ref or short ref, or None. For a short ref, upper or lower case doesn't matter."""
        return await swap.find(self, name)

    async def pointed_at(self, message: str) -> target.Pointed | None:
        """Return the call that a message of Sayso is about, or None. `message` is the id of the message."""
        return await target.pointed_at(self, message)
