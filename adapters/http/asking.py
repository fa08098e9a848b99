"""Asks for calls: makes an ask from a caller's request, and submits it or judges it by the policy."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from adapters.http.callers import LOCAL
from adapters.http.models import CallRequest
from adapters.http.queues import Queues
from hitl.call import Ask, Lease, Preparation, Runs, State
from hitl.cards.wording import IN_ENGLISH
from hitl.errors import SaysoError, TooManyPending
from hitl.gate.fitness import question
from hitl.gate.response import Submitted
from hitl.proof.canonical import check_text
from hitl.question import GROUP, TOOL
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.http.callers import Caller
    from adapters.http.desk import Desk
    from adapters.http.models import BatchItem, EvaluateRequest, QuestionRequest
    from adapters.http.running import Running
    from adapters.http.waiters import Waiters
    from hitl.people.directory import Tried


class Asking:
    """Submits the calls, questions and test requests that a caller asks for."""

    def __init__(self, desk: Desk, running: Running, waiters: Waiters) -> None:
        self._desk = desk
        self._gate = desk.gate
        self._running = running
        self._waiters = waiters
        self.queues = Queues()

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
        room. `submitted` are the facts from the request that only the audit record keeps. Raises the errors of
        `Gate.submit`.
        """
        ask = replace(self._ask(caller, request, key), submitted=submitted or {})
        made = await self._submitted(caller, ask, queue_s, gone)
        return made, await self._running.claim_allowed(caller, made.call, request.secret_hash)

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

    async def ask_human(self, caller: Caller, request: QuestionRequest, key: str | None) -> Submitted:
        """Record a question to people. Raises the errors of `Gate.submit`."""
        args: dict[str, Any] = {"question": request.question}
        if request.options is not None:
            args["options"] = request.options
        asked = CallRequest(tools=GROUP, tool=TOOL, args=args, **_beside(request))
        return await self._desk.submit(replace(self._ask(caller, asked, key), runs=Runs.SERVICE))

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
        self._waiters.attend(caller, made.call, gone, attended=attended)
        if request.secret_hash is None or made.call.state is not State.AWAITING or limit_s <= 0:
            return replace(made, call=await self._waiters.wait(caller, made.call, limit_s, "decided", gone)), None
        call = await self._running.wait_with_secret(caller, made.call, request.secret_hash, limit_s, gone)
        lease = (
            None
            if gone is not None and gone.done()
            else await self._running.claim_allowed(caller, call, request.secret_hash)
        )
        return replace(made, call=call), lease

    async def test(self, caller: Caller, timeout_s: int) -> list[tuple[Tried, Submitted | SaysoError]]:
        """Send each approver of each conversation a test request on each of their surfaces. An approved test request
        runs nothing.

        Return a pair for each test request: the approver and surface, and the recorded call or the error.
        """
        made: list[tuple[Tried, Submitted | SaysoError]] = []
        for tried in self._gate.people.tested(LOCAL, self._gate.clock.now()):
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
            while await self._waiters.until(caller, place.turn(), until - clock(), gone):
                try:
                    return await self._desk.submit(ask)
                except TooManyPending as error:
                    place.refused(error)
            raise place.refusal

    def _ask(self, caller: Caller, request: CallRequest, key: str | None) -> Ask:
        caller.check_behalf(request.on_behalf_of)
        for place in (request.origin or "", *request.routes):
            check_text(place, "/origin")
        return self._bound(
            caller,
            request,
            agent=request.agent or caller.name,
            session=request.session,
            key=key,
            note=request.note,
            must_ask=request.ask,
            timeout_s=request.timeout_s,
            previous=request.previous,
            routes=caller.routes(request.routes),
        )

    def _bound(self, caller: Caller, request: CallRequest | EvaluateRequest, **more: Any) -> Ask:
        """Return the fields of a request that the policy judges, bound to the caller: its principal and its origin."""
        return Ask(
            tools=request.tools,
            tool=request.tool,
            args=request.args,
            requester=caller.principal,
            origin=caller.origin(request.origin, self._gate.people),
            runs=Runs.CALLER,
            cwd=request.cwd,
            **more,
        )

    def evaluate(self, caller: Caller, request: EvaluateRequest) -> dict[str, Any]:
        """Return the document of the policy's verdict on a call, without recording the call.

        Raises PolicyUnusable if no policy can be used.
        """
        ask = self._bound(caller, request)
        verdict = self._gate.terms.verdict(
            self._gate.policies, question(ask, ask.args, Preparation("", cwd=ask.cwd), None)
        )
        named = ("action", "risk", "rule", "reason", "why", "timeout_s", "policy")
        return {name: getattr(verdict, name) for name in named} | {"why": IN_ENGLISH.retold(verdict.why)}


def _beside(request: QuestionRequest) -> dict[str, Any]:
    """Return the fields of a question that every request for a call has too, such as `agent` and `timeout_s`."""
    named = ("agent", "session", "origin", "routes", "on_behalf_of", "note", "timeout_s")
    return {name: getattr(request, name) for name in named}
