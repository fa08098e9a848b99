"""The class `Gate`, through which other code uses the gate. It holds the ports, and has a method for each use case."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from hitl.cards import masked
from hitl.errors import SaysoError
from hitl.gate import claim, decide, end, submit, swap, target
from hitl.gate.moves import secret_hash
from hitl.gate.operating_mode import Terms
from hitl.limits import Flood, Limits, Rejections
from hitl.people import Access
from hitl.people.names import Names
from hitl.proof.keyring import new_secret
from hitl.route_health import Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from hitl.call import Ask, Call, Lease, Ran, Reply
    from hitl.gate.response import Answer, Submitted
    from hitl.people import Directory
    from hitl.ports import Beside, Executor, Observer, PolicySource, Store
    from hitl.proof.keyring import Keyring


class Gate:
    """All use cases of a service. Each service has one gate.

    `owner` names this process in its leases. The part up to the last colon names a place in which only one process
    works at a time; the part after it names the process.
    """

    def __init__(  # noqa: PLR0913 - each port is one, by keyword
        self,
        *,
        store: Store,
        policies: PolicySource,
        people: Directory,
        executor: Executor,
        keys: Keyring,
        owner: str,
        limits: Limits | None = None,
        terms: Terms | None = None,
        observers: Sequence[Observer] = (),
        names: Names | None = None,
        exposed: Callable[[], str | None] = lambda: None,
        beside: Beside | None = None,
    ) -> None:
        self.store = store
        self.clock = store.clock
        self.policies = policies
        #: The names of people. No use case reads them: a name decides nothing.
        self.names = names or Names(people)
        self.people = people
        self.executor = executor
        self.keys = keys
        self.owner = owner
        self.limits = limits or Limits()
        self.terms = terms or Terms()
        self.observers = list(observers)
        #: Returns a sentence that says why others may know or change the keys, or None. Called before each run.
        self.exposed = exposed
        self.reach = Reach()
        self.beside = beside
        self.flood = Flood(self.limits)
        self.rejections = Rejections(self.limits)
        self.secret = new_secret()
        self.secret_hash = secret_hash(self.secret)

    # -- the use cases --------------------------------------------------------------------------------------

    async def submit(self, ask: Ask) -> Submitted:
        """Record a new call: denied, allowed (and leased, if this service runs it), or pending.

        Raises InvalidConfirmation if the arguments can't be used, NotApprover if the requester may not ask in that
        conversation, KeyConflict, RejectedRecently, TooManyPending, and Unavailable. Nothing is recorded then.
        """
        return await submit.submit(self, ask)

    async def submit_all(self, asks: Sequence[Ask]) -> list[Submitted | SaysoError]:
        """Submit several calls, one after the other. An error of one call doesn't affect the others."""
        done: list[Submitted | SaysoError] = []
        for ask in asks:
            try:
                done.append(await self.submit(ask))
            except SaysoError as error:
                done.append(error)
        return done

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Decide by a reply, and return one answer for each call that it names. Replies from all surfaces come here.

        Mistakes of people give answers and never raise. Raises Unavailable if nothing could be recorded.
        """
        return await decide.decide(self, reply)

    async def peek(self, reply: Reply) -> Answer:
        """Return the answer to a reply that asks for details, but don't record that the person saw them.

        This is for surfaces that may fail to show the details. Such a surface passes the same reply to `decide` after
        it has shown them. Raises Unavailable.
        """
        return await decide.peek(self, reply)

    async def add_reason(self, target: str, identity: str, reason: str) -> Answer:
        """Add a reason to a person's own rejection, up to `late_reason_s` seconds after it, and notify the observers.

        A reason without words (a picture, blanks) doesn't count, and Sayso waits on.
        """
        return await decide.add_reason(self, target, identity, reason)

    async def withdraw(self, target: str, identity: str) -> Call:
        """Withdraw a pending call, for its requester or an operator.

        Raises CallUnknown, NotApprover (and records the attempt), or, if the call is over, AlreadyDecided or
        ConfirmationExpired.
        """
        return await end.withdraw(self, target, identity)

    async def undeliverable(self, ref: str, said: str) -> Call:
        """End a pending call whose card every surface refused. `said` holds the surface's words.

        Raises CallUnknown, AlreadyDecided or ConfirmationExpired.
        """
        return await end.undeliverable(self, ref, said)

    async def orphaned(self, call: Call) -> Call | None:
        """End a claimed call whose claimant is dead, with the result `unknown`, before its lease is over."""
        return await end.orphaned(self, call)

    async def void(self, call: Call) -> Call | None:
        """End a call that is still open in a restored, older database, so that it can't run (perhaps a second time)."""
        return await end.void(self, call)

    async def settle(self, call: Call, *, unseen: bool = False) -> Call | None:
        """End a call that is overdue by the store's clock, and return it. Return None if it isn't overdue.

        A pending call expires, an unclaimed call lapses, and a claimed call gets the result `unknown`. For a rejected
        call, only the wait for the reason ends. `unseen` says that no surface ever showed the card.
        """
        return await swap.settle(self, call, unseen=unseen)

    async def claim(self, target: str, owner: str, secret: str) -> Lease:
        """Claim an approved or allowed call, and return the lease: the one permission to run it.

        `secret` is the SHA-256 (hex) of a secret that the claimant keeps. Claiming again with the same hash returns the
        same lease. Raises CallUnknown, Tampered, AlreadyDecided or ConfirmationExpired if the call is claimed or over,
        and InvalidConfirmation if it is still pending or no longer fit to run.
        """
        return await claim.claim(self, target, owner, secret)

    async def release(self, target: str, owner: str) -> Call:
        """Claim and finish a call in one commit, for a caller that runs it and won't report. Raises as `claim`."""
        return await claim.release(self, target, owner)

    async def finish(self, target: str, secret: str, ran: Ran) -> Call:
        """Record the end of a claimed call's run. A late report replaces the results `unknown` and `timed_out`.

        `secret` is the secret whose hash `claim` was given. Raises CallUnknown, NotApprover for the call of another
        claimant, Tampered, and AlreadyDecided if the call already has another result.
        """
        return await claim.finish(self, target, secret, ran)

    async def finish_own(self, lease: Lease, ran: Ran) -> Call:
        """Record the end of a run under a lease of this process.

        It starts from the call as leased, without reading the store. If the call has changed since then, the
        conditional write fails, and only then is the call read again.
        """
        return await claim.finish_own(self, lease, ran)

    # -- what they share ------------------------------------------------------------------------------------

    async def find(self, name: str) -> Call | None:
        """Return the call with this ref or short ref, or None. A short ref may be typed in any of its forms."""
        return await swap.find(self, name)

    async def pointed_at(self, message: str) -> target.Pointed | None:
        """Return the call that a message of ours is about, by the message's id, or None for any other message."""
        return await target.pointed_at(self, message)

    @property
    def access(self) -> Access:
        """The rights of people, by the current directory."""
        return self._access

    @property
    def people(self) -> Directory:
        """The current directory. The names of people come from the same directory."""
        return self._access.people

    @people.setter
    def people(self, people: Directory) -> None:
        self._access = Access(people)
        self.names.people = people

    async def ready(self, call: Call) -> None:
        """Mask the texts of a large call ahead, where that delays nobody. Afterwards its cards are drawn at once."""
        await self.prepare(masked.key_of(call))

    async def prepare(self, key: masked.Key) -> None:
        """Do the same as `ready` for the arguments and preview of a call that doesn't exist yet."""
        if self.beside and masked.is_large(key) and not masked.is_kept(key):
            masked.keep(key, await self.beside(partial(masked.made, key)))

    def seen_locally(self, call: Call) -> bool:
        """Return whether an approver can see the call in this machine's pending list, without any chat."""
        return any(map(self.people.is_local, call.approvers))

    def age(self, at: datetime | None) -> float:
        """Return the seconds since that time, infinity for None."""
        return (self.clock.now() - at).total_seconds() if at else math.inf
