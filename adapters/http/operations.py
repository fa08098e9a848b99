"""The operations behind the routes of the API. They translate API documents to use cases of the gate, and back."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from adapters.http import documents
from adapters.http.attendance import Attendance
from adapters.http.callers import LOCAL
from adapters.http.models import CallRequest
from adapters.http.queues import Queues
from hitl.call import Ask, Call, Lease, Preparation, Ran, Reply, ReplyKind, Runs, State, Status, Verb
from hitl.cards.data import full_view
from hitl.cards.sessions import session_view, waiting_sessions
from hitl.cards.wording import IN_ENGLISH, sentence
from hitl.credentials import Scope
from hitl.errors import (
    CallChanged,
    CallUnknown,
    InvalidConfirmation,
    NotApprover,
    SaysoError,
    TooManyPending,
    Unauthenticated,
    Unavailable,
)
from hitl.gate.context import Claimant
from hitl.gate.fitness import question
from hitl.gate.response import Came, Submitted, unknown_call
from hitl.outcomes import Refusal, fact
from hitl.proof.canonical import check_text
from hitl.proof.integrity import flaws_of
from hitl.question import GROUP, TOOL
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
    from datetime import datetime

    from adapters.http.callers import Caller
    from adapters.http.models import (
        BatchItem,
        ClaimRequest,
        DecisionRequest,
        EvaluateRequest,
        FinishRequest,
        QuestionRequest,
    )
    from adapters.http.waits import Waits
    from hitl.call import Recorded
    from hitl.gate import Gate
    from hitl.gate.response import Answer
    from hitl.people.directory import Tried
    from hitl.people.names import Names

    #: Returns sentences about the faults that keep the service from gating calls.
    Troubles = Callable[[], Awaitable[Sequence[str]]]


#: One request for a page reads at most this many calls. Otherwise a caller who may see few of many calls could keep the
#: store busy.
_MOST_SCANNED = 1_000
#: At most this many calls are read from the store at once, because each may have a megabyte of arguments.
_READ_AT_ONCE = 50


class Desk(Protocol):
    """The part of the running service that the operations use."""

    gate: Gate

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call, and ask people if the policy says so."""

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Pass a reply to the gate, which may decide a call. Return the gate's answers to the person who replied."""

    async def decided(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until people have decided, at most `limit_s` seconds. Return the call."""

    async def explained(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until people have decided.

        After a rejection, also wait for its reason, as long as people can still give a reason.

        Return the call.
        """

    async def ended(self, call: Call, limit_s: float | None = None) -> Call:
        """Wait until the call has ended. Return the call."""


class Operations:
    """Carries out the API's requests. Each request comes from an authenticated caller.

    `check` raises Unauthenticated for a caller whose token or right has ended.
    """

    def __init__(
        self, desk: Desk, waits: Waits, troubles: Troubles, check: Callable[[Caller], None], state: str | None = None
    ) -> None:
        self._desk = desk
        self._check = check
        self._state = state
        self._gate = desk.gate
        self._waits = waits
        self.queues = Queues()
        self.attendance = Attendance(self._left, waits.stopping)
        self.troubles = troubles

    @property
    def names(self) -> Names:
        """Return the gate's directory of people's display names, used to name people in answers."""
        return self._gate.names

    def state_for(self, caller: Caller) -> str | None:
        """Return the id of the service's state folder if the caller is an operator, else None."""
        return self._state if Scope.OPERATOR in caller.scopes and self._gate.access.operates(caller.principal) else None

    # -- asking for calls ---------------------------------------------------------------------------------------------

    async def ask(
        self,
        caller: Caller,
        request: CallRequest,
        key: str | None,
        queue_s: float = 0,
        gone: asyncio.Future[None] | None = None,
        submitted: Mapping[str, Any] | None = None,
    ) -> tuple[Submitted, Lease | None]:
        """Record a call. Claim it if the policy allows it and the caller sent a secret's hash. Return the call, and the
        claim or None.

        If the caller has as many pending calls as it may have, the request waits at most `queue_s` seconds in line for
        room. `submitted` are the facts from the request that only the record keeps. Raises the errors of `Gate.submit`.
        """
        ask = replace(self._ask(caller, request, key), submitted=submitted or {})
        made = await self._submitted(caller, ask, queue_s, gone)
        return made, await self._claimed(caller, made.call, request.secret_hash)

    async def decided(
        self,
        caller: Caller,
        request: CallRequest,
        made: Submitted,
        limit_s: float,
        gone: asyncio.Future[None] | None,
        *,
        attended: bool,
    ) -> tuple[Submitted, Lease | None]:
        """Wait at most `limit_s` seconds for the decision on the call that this request asked for.

        If the caller sent a secret's hash, the approval claims the call. Return the call after the wait, and the claim
        or None.
        """
        self.attend(caller, made.call, gone, attended=attended)
        if request.secret_hash is None or made.call.state is not State.AWAITING or limit_s <= 0:
            return replace(made, call=await self.wait(caller, made.call, limit_s, "decided", gone)), None
        call = await self.wait_with_secret(caller, made.call, request.secret_hash, limit_s, gone)
        lease = None if gone is not None and gone.done() else await self._claimed(caller, call, request.secret_hash)
        return replace(made, call=call), lease

    async def _claimed(self, caller: Caller, call: Call, secret_hash: str | None) -> Lease | None:
        """Claim a call that may run, if the caller sent a secret's hash. Raises the errors of `Gate.claim`."""
        if secret_hash is None or call.status not in {Status.ALLOWED, Status.APPROVED, Status.RUNNING}:
            return None
        return await self._gate.claim(call.ref, _owner(caller), secret_hash)

    def _ask(self, caller: Caller, request: CallRequest, key: str | None) -> Ask:
        caller.check_behalf(request.on_behalf_of)
        for place in (request.origin or "", *request.routes):
            check_text(place, "/origin")
        return Ask(
            tools=request.tools,
            tool=request.tool,
            args=request.args,
            requester=caller.principal,
            origin=caller.origin(request.origin, self._gate.people),
            runs=Runs.CALLER,
            agent=request.agent or caller.name,
            session=request.session,
            cwd=request.cwd,
            key=key,
            note=request.note,
            must_ask=request.ask,
            timeout_s=request.timeout_s,
            previous=request.previous,
            routes=caller.routes(request.routes),
        )

    async def ask_human(self, caller: Caller, request: QuestionRequest, key: str | None) -> Submitted:
        """Record a question to people. Raises the errors of `Gate.submit`."""
        args: dict[str, Any] = {"question": request.question}
        if request.options is not None:
            args["options"] = request.options
        asked = CallRequest(tools=GROUP, tool=TOOL, args=args, **_beside(request))
        return await self._desk.submit(replace(self._ask(caller, asked, key), runs=Runs.SERVICE))

    async def test(self, caller: Caller, timeout_s: int) -> list[tuple[Tried, Submitted | SaysoError]]:
        """Send each approver of each conversation a test request on each of their surfaces. An approved test request
        runs nothing.

        Return a pair for each test request: the approver and surface, and the recorded call or the error.
        """
        made: list[tuple[Tried, Submitted | SaysoError]] = []
        for tried in self._gate.people.tested(LOCAL):
            try:
                made.append((tried, await self._desk.submit(self._test(caller, tried, timeout_s))))
            except SaysoError as error:
                made.append((tried, error))
        return made

    def _test(self, caller: Caller, tried: Tried, timeout_s: int) -> Ask:
        place, approver, surface = tried
        wording = self._gate.people.wording(place)
        return Ask(
            tools="sayso",
            tool="test",
            args={"approver": approver, "surface": surface} if surface else {"approver": approver},
            requester=caller.principal,
            origin=place,
            runs=Runs.CALLER,
            note=wording.say("test.note", name=self._gate.names.of(approver, place.partition(":")[0])),
            must_ask=True,
            timeout_s=timeout_s,
            surface=surface,
        )

    async def _submitted(
        self, caller: Caller, ask: Ask, queue_s: float, gone: asyncio.Future[None] | None
    ) -> Submitted:
        if not queue_s:
            return await self._desk.submit(ask)
        clock = asyncio.get_running_loop().time
        until = clock() + queue_s
        with self.queues.place(caller.principal, ask.agent) as place:
            # At the end of the time in line, this request stops waiting for its turn. A submission that has begun
            # continues, because the call may be recorded already.
            while await self._waits.until(place.turn(), None, until - clock(), caller.principal, gone):
                self._check(caller)
                try:
                    return await self._desk.submit(ask)
                except TooManyPending as error:
                    place.refused(error)
            self._check(caller)
            raise place.refusal

    async def ask_all(
        self, caller: Caller, items: Sequence[BatchItem], key: str | None
    ) -> list[tuple[str, tuple[Submitted, Lease | None] | SaysoError]]:
        """Record each call of a batch on its own. A failure of one call doesn't affect the others."""
        done: list[tuple[str, tuple[Submitted, Lease | None] | SaysoError]] = []
        for item in items:
            try:
                done.append((item.id, await self.ask(caller, item, f"{key}/{item.id}" if key else None)))
            except SaysoError as error:
                done.append((item.id, error))
        return done

    def attend(self, caller: Caller, call: Call, gone: asyncio.Future[None] | None, *, attended: bool) -> None:
        """If `attended` is True, note that the call's requester waits on this connection (`adapters.http.attendance`).

        Nothing is noted for a caller who isn't the call's requester.
        """
        if attended and gone is not None and caller.principal == self._gate.people.principal(call.requester):
            self.attendance.attend(call, gone)

    async def _left(self, call: Call) -> None:
        await self._gate.withdraw(call.ref, call.requester, left=True)

    async def wait_with_secret(
        self, caller: Caller, call: Call, secret_hash: str, limit_s: float, gone: asyncio.Future[None] | None
    ) -> Call:
        """Wait at most `limit_s` seconds for the decision on the caller's own call, and return the call.

        While the caller waits on an open connection, an approval and the caller's claim are stored in one commit.
        """

        def ready() -> bool:
            hears = gone is not None and not gone.done()
            return hears and self._valid(caller) and self._gate.access.may_claim(caller.principal, call)

        with self._gate.claimants.waiting(call, Claimant(_owner(caller), secret_hash, ready)):
            return await self.wait(caller, call, limit_s, "decided", gone)

    async def wait(
        self, caller: Caller, call: Call, limit_s: float, until: str, gone: asyncio.Future[None] | None
    ) -> Call:
        """Return the call when the event that `until` names has happened, or after `limit_s` seconds.

        Raises Unauthenticated if the caller's token or right has ended meanwhile.
        """
        if limit_s <= 0:
            return call
        waits = {"decided": self._desk.decided, "explained": self._desk.explained, "ended": self._desk.ended}
        now = await self._waits.until(waits[until](call), None, limit_s, caller.principal, gone)
        self._check(caller)
        return now or await self._gate.store.get(call.ref) or call

    async def hold(self, caller: Caller, work: Coroutine[Any, Any, None]) -> SaysoError | None:
        """Carry out `work` for a caller, at most until the caller's token ends or the service stops.

        Return None if the work ended by itself. If it was cancelled, return the reason as an error: Unauthenticated or
        Unavailable.
        """
        until = caller.credential.until if caller.credential else None
        limit_s = (until - self._gate.clock.now()).total_seconds() if until else None
        if await self._waits.during(work, limit_s, caller.principal):
            return None
        return Unavailable() if self._valid(caller) else Unauthenticated()

    def revoked(self, identity: str) -> None:
        """End all waits of a token that was revoked."""
        self._waits.end(self._gate.people.principal(identity))

    # -- reading calls ------------------------------------------------------------------------------------------------

    async def read(self, caller: Caller, target: str) -> Call:
        """Return a call that the caller may see. Raises CallUnknown for any other call, whether it exists or not."""
        check_text(target, "/ref")
        call = await self._gate.find(target)
        if call is None or not self._gate.access.may_see(caller.principal, call):
            raise unknown_call(target)
        return call

    async def pending_calls(self, caller: Caller) -> list[Call]:
        """Return every pending call that the caller may see, oldest first."""
        may_see = self._gate.access.may_see
        return [call for call in await self._gate.store.pending() if may_see(caller.principal, call)]

    async def sessions(self, caller: Caller) -> dict[str, Any]:
        """Return the sessions of agents that have pending calls which the caller may see, the longest wait first."""
        found = []
        for session in waiting_sessions(await self.pending_calls(caller)):
            await self._gate.ready_to_list(session.newest)
            found.append(session_view(session, self._gate.names))
        return {"sessions": found}

    async def page(
        self, caller: Caller, before: str | None, limit: int, *, pending: bool, brief: bool
    ) -> Mapping[str, Any]:
        """Return one page of the calls that the caller may see, newest first. `brief` means the same as for `view`."""
        seen: list[dict[str, Any]] = []
        step = min(limit, _READ_AT_ONCE)
        for _ in range(_MOST_SCANNED // step + 1):
            calls = await self._gate.store.page(before, step, pending=pending)
            for call in calls:
                before = call.ref
                if self._gate.access.may_see(caller.principal, call):
                    seen.append(await self.view(call, brief=brief))
                    # Making the documents of many large calls takes seconds, so other callers are answered after each
                    # document.
                    await asyncio.sleep(0)
                    if len(seen) == limit:
                        return {"calls": seen, "next": before}
            if not calls:  # a short page may not be the last page, because rows that can't be read are left out
                return {"calls": seen, "next": None}
        return {"calls": seen, "next": before}

    async def history(self, call: Call) -> Sequence[Recorded]:
        """Return the lines of the record about a call, oldest first."""
        return await self._gate.store.history(call.ref)

    async def record(self, caller: Caller, target: str) -> dict[str, Any]:
        """Return a call's document with its details, its record, and the parts that fail their integrity check."""
        call = await self.read(caller, target)
        store = self._gate.store
        await self._gate.ready(call)
        lines = list(await store.history(call.ref))
        flaws = flaws_of(store.keys, call, await store.votes(call.ref), lines)
        beside = {"on_behalf_of": self._gate.people.on_behalf_of(call.requester)}
        return full_view(call, lines, self._gate.names) | beside | {"flaws": [sentence(flaw) for flaw in flaws]}

    async def ready(self, call: Call) -> None:
        """Mask the texts of a large call outside the event loop. Its document can then be made at once."""
        await self._gate.ready(call)

    async def view(self, call: Call, *, brief: bool = False) -> dict[str, Any]:
        """Return a call's document, for a reader who may see the call. With `brief`, leave out `args` and `output`."""
        await (self._gate.ready_to_list(call) if brief else self.ready(call))
        return documents.call_view(call, self._gate.people, self._gate.names, brief=brief)

    async def card(self, call: Call) -> dict[str, Any]:
        """Return a call's card as data and as text."""
        await self.ready(call)
        return documents.card_answer(call, self._gate.names)

    async def card_text(self, call: Call) -> str:
        """Return a call's card as text."""
        await self.ready(call)
        return documents.card_text(call, self._gate.names)

    async def answer(self, submitted: Submitted, lease: Lease | None) -> dict[str, Any]:
        """Return the document of a call for the caller who has just asked for the call."""
        await self.ready(submitted.call)
        return documents.call_answer(submitted, self._gate.people, self._gate.names, lease)

    # -- deciding calls -----------------------------------------------------------------------------------------------

    async def refuse_undeciding(self, caller: Caller, target: str) -> NotApprover:
        """Return the error for a caller whose credential can't decide.

        If the credential is an agent's token, the gate first records the attempt.
        """
        with contextlib.suppress(CallUnknown):
            if Scope.AGENT in caller.scopes:
                await self._replied(caller, await self.read(caller, target), Verb.REJECT)
        return NotApprover(fact(Refusal.SCOPE, who=caller.identity))

    async def decide(self, caller: Caller, target: str, request: DecisionRequest) -> dict[str, Any]:
        """Pass a decision to the gate. Return the document of the outcome. Raises an error if the gate refuses the
        decision.
        """
        call = await self.read(caller, target)
        _check_digest(call, request.digest)
        confirmed = request.confirm is not None
        if confirmed and not await self._names(str(request.confirm), call):
            raise InvalidConfirmation(fact(Refusal.CONFIRM, short=call.short))
        return await self._replied(caller, call, Verb(request.decision), request.reason, confirmed=confirmed)

    async def _names(self, confirm: str, call: Call) -> bool:
        """Return whether `confirm` is the ref or the short ref of the call."""
        named = await self._gate.find(confirm)
        return named is not None and named.ref == call.ref

    async def details(self, caller: Caller, target: str) -> dict[str, Any]:
        """Return the document of the whole call to an approver, and record that the approver opened it."""
        return await self._replied(caller, await self.read(caller, target), Verb.DETAILS)

    async def _replied(
        self, caller: Caller, call: Call, verb: Verb, reason: str | None = None, *, confirmed: bool = False
    ) -> dict[str, Any]:
        reply = Reply(
            identity=caller.identity,
            surface=caller.surface,
            conversation=caller.conversation,
            kind=ReplyKind.API,
            verb=verb,
            target=call.ref,
            reason=reason,
            confirmed=confirmed,
        )
        (answer,) = await self._desk.decide(reply)
        if answer.error:
            raise answer.error
        decided = answer.came in {Came.APPROVED, Came.REJECTED, Came.DETAILS}
        told = await self.view(answer.call) if answer.call else None
        return {"came": answer.came.value, "text": answer.told(self._gate.names), "decided": decided, "call": told}

    async def withdraw(self, caller: Caller, target: str, *, left: bool = False) -> Call:
        """Withdraw a pending call, and return it. For `left` and the errors, see `Gate.withdraw`."""
        return await self._gate.withdraw((await self.read(caller, target)).ref, caller.identity, left=left)

    # -- running calls ------------------------------------------------------------------------------------------------

    async def claim(self, caller: Caller, target: str, request: ClaimRequest, attempt: str = "") -> Lease:
        """Claim a call, and return the lease.

        Raises CallChanged if the request names a digest that isn't the call's, or an error of `Gate.claim`. `attempt`
        names one attempt to run, for callers that keep no secret. The gate treats each attempt as a separate claimant.
        """
        call = await self.own(caller, target)
        _check_digest(call, request.digest)
        return await self._gate.claim(call.ref, _owner(caller, attempt), request.secret_hash)

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
        _check_digest(call, request.digest)
        self.attend(caller, call, gone, attended=attended)
        if call.state is State.AWAITING and limit_s > 0:
            await self.wait_with_secret(caller, call, request.secret_hash, limit_s, gone)
            if gone is not None and gone.done():
                raise Unavailable
        return await self.claim(caller, target, request)

    def _valid(self, caller: Caller) -> bool:
        try:
            self._check(caller)
        except Unauthenticated:
            return False
        return True

    def attempt(self, caller: Caller, call: Call) -> str | None:
        """Return the name of the attempt (see `claim`) that claimed the call for this caller.

        Return None if no such attempt of this caller claimed the call.
        """
        owner, mine = call.claim.owner if call.claim else "", _owner(caller, "")
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
        return await self._gate.release((await self.own(caller, target)).ref, _owner(caller))

    async def own(self, caller: Caller, target: str) -> Call:
        """Return a call that the caller asked for and runs.

        Raises CallUnknown if the caller may not see the call, and NotApprover if the caller isn't the one to run it.
        """
        call = await self.read(caller, target)
        if not self._gate.access.may_claim(caller.principal, call):
            raise NotApprover(fact(Refusal.FINISH, short=call.short))
        return call

    # -- the policy's verdict -----------------------------------------------------------------------------------------

    def evaluate(self, caller: Caller, request: EvaluateRequest) -> dict[str, Any]:
        """Return the document of the policy's verdict on a call, without recording the call.

        Raises PolicyUnusable if no policy can be used.
        """
        ask = Ask(
            tools=request.tools,
            tool=request.tool,
            args=request.args,
            requester=caller.principal,
            origin=caller.origin(request.origin, self._gate.people),
            runs=Runs.CALLER,
            cwd=request.cwd,
        )
        verdict = self._gate.terms.verdict(
            self._gate.policies, question(ask, ask.args, Preparation("", cwd=ask.cwd), None)
        )
        named = ("action", "risk", "rule", "reason", "why", "timeout_s", "policy")
        return {name: getattr(verdict, name) for name in named} | {"why": IN_ENGLISH.retold(verdict.why)}


def _beside(request: QuestionRequest) -> dict[str, Any]:
    """Return the fields of a question that every request for a call has too, such as `agent` and `timeout_s`."""
    named = ("agent", "session", "origin", "routes", "on_behalf_of", "note", "timeout_s")
    return {name: getattr(request, name) for name in named}


def _owner(caller: Caller, attempt: str = "") -> str:
    return f"caller:{caller.principal}" + (f" {attempt}" if attempt else "")


def _check_digest(call: Call, named: str | None) -> None:
    if named is not None and named != call.digest:
        raise CallChanged(fact(Refusal.CHANGED, short=call.short))
