"""Lets callers run their own calls: claims a call, and records how the run ended."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.http.reading import check_digest
from hitl.call import Ran, State, Status
from hitl.errors import NotApprover, Unavailable
from hitl.gate.context import Claimant
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    import asyncio
    from datetime import datetime

    from adapters.http.callers import Caller
    from adapters.http.models import ClaimRequest, FinishRequest
    from adapters.http.reading import Reading
    from adapters.http.waiters import Waiters
    from hitl.call import Call, Lease
    from hitl.gate import Gate


class Running:
    """Claims, finishes and releases the calls that a caller asked for and runs itself."""

    def __init__(self, gate: Gate, reading: Reading, waiters: Waiters) -> None:
        self._gate = gate
        self._reading = reading
        self._waiters = waiters

    async def claim(self, caller: Caller, target: str, request: ClaimRequest, attempt: str = "") -> Lease:
        """Claim a call, and return the lease.

        Raises CallChanged if the request names a digest that isn't the call's, or an error of `Gate.claim`. `attempt`
        names one attempt to run, for callers that keep no secret. The gate treats each attempt as a separate claimant.
        """
        call = await self.own(caller, target)
        check_digest(call, request.digest)
        return await self._gate.claim(call.ref, caller.claimant(attempt), request.secret_hash)

    async def claim_allowed(self, caller: Caller, call: Call, secret_hash: str | None) -> Lease | None:
        """Claim a call that may run, if the caller sent a secret's hash. Raises the errors of `Gate.claim`."""
        if secret_hash is None or call.status not in {Status.ALLOWED, Status.APPROVED, Status.RUNNING}:
            return None
        return await self._gate.claim(call.ref, caller.claimant(), secret_hash)

    async def wait_with_secret(
        self, caller: Caller, call: Call, secret_hash: str, limit_s: float, gone: asyncio.Future[None] | None
    ) -> Call:
        """Wait at most `limit_s` seconds for the decision on the caller's own call, and return the call.

        While the caller waits on an open connection, an approval and the caller's claim are stored in one commit.
        """

        def ready() -> bool:
            return self._waiters.hears(caller, gone) and self._gate.access.may_claim(caller.principal, call)

        with self._gate.claimants.waiting(call, Claimant(caller.claimant(), secret_hash, ready)):
            return await self._waiters.wait(caller, call, limit_s, "decided", gone)

    async def wait_and_claim(
        self,
        caller: Caller,
        target: str,
        request: ClaimRequest,
        limit_s: float,
        gone: asyncio.Future[None] | None,
        *,
        attended: bool = False,
    ) -> Lease:
        """Wait at most `limit_s` seconds for the decision (`wait_with_secret`), then claim the call as `claim` does.

        If the caller hangs up during the wait, raises Unavailable and doesn't call `claim`.
        """
        call = await self.own(caller, target)
        check_digest(call, request.digest)
        self._waiters.attend(caller, call, gone, attended=attended)
        if call.state is State.AWAITING and limit_s > 0:
            await self.wait_with_secret(caller, call, request.secret_hash, limit_s, gone)
            if gone is not None and gone.done():
                raise Unavailable
        return await self.claim(caller, target, request)

    def attempt(self, caller: Caller, call: Call) -> str | None:
        """Return the name of the attempt (see `claim`) that claimed the call for this caller.

        Return None if no such attempt of this caller claimed the call.
        """
        owner, mine = call.claim.owner if call.claim else "", caller.claimant()
        return owner[len(mine) + 1 :] if owner.startswith(f"{mine} ") else None

    def claimable_until(self, call: Call) -> datetime | None:
        """Return the latest time at which a decided call can be claimed, or None if the call isn't decided."""
        return call.decided_at and call.decided_at + timedelta(seconds=self._gate.limits.claim_caller_s)

    async def finish(self, caller: Caller, target: str, request: FinishRequest) -> Call:
        """Record how the claimant's run ended. Raises the errors of `Gate.finish`."""
        call = await self.own(caller, target)
        ran = Ran(request.result, request.output, error=request.error, exit_status=request.exit_status)
        return await self._gate.finish(call.ref, request.secret, ran)

    async def release(self, caller: Caller, target: str) -> Call:
        """Claim and finish an approved call for its requester, who runs it and won't report a result.

        Raises the errors of `Gate.release`.
        """
        return await self._gate.release((await self.own(caller, target)).ref, caller.claimant())

    async def own(self, caller: Caller, target: str) -> Call:
        """Return a call that the caller asked for and runs.

        Raises CallUnknown if the caller may not see the call, and NotApprover if the caller isn't the one to run it.
        """
        call = await self._reading.read(caller, target)
        if not self._gate.access.may_claim(caller.principal, call):
            raise NotApprover(fact(Refusal.FINISH, short=call.short))
        return call
