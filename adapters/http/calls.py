"""`/v1/calls` and `/v1/batches`: asking, reading, deciding and running."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import PlainTextResponse, Response

from adapters.http import models, problems
from adapters.http.callers import GONE, Anyone, Asker, Caller, Withdrawer
from adapters.http.documents import stored_args
from adapters.http.models import MOST_IN_PAGE
from adapters.http.operations import Operations
from adapters.http.responses import (
    Key,
    Prefer,
    PreferAttended,
    PreferQueue,
    Ref,
    Wait,
    answer,
    documented,
    preferred_wait,
    prefers_attended,
    prefers_queue,
)
from adapters.http.written import WrittenRoute
from hitl.call import Status
from hitl.credentials import Scope
from hitl.errors import CallDenied, SaysoError
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Lease
    from hitl.gate.response import Submitted

router = APIRouter(prefix="/v1", tags=["calls"], route_class=WrittenRoute)
#: Seconds that a request with `Prefer: queue` waits, unless it names a time, as in `Prefer: queue, wait=60`.
_QUEUE_S = 30


def operations(request: Request) -> Operations:
    """Return the operations of the running service, which carry out the requests."""
    found: Operations = request.app.state.operations
    return found


def gone(request: Request) -> asyncio.Future[None] | None:
    """Return a future that resolves when the caller hangs up.

    Return None if the server doesn't use `connection.Door`.
    """
    found: asyncio.Future[None] | None = getattr(request.state, GONE, None)
    return found


Ops = Annotated[Operations, Depends(operations)]
Gone = Annotated[Any, Depends(gone)]


@router.post(
    "/calls",
    status_code=202,
    summary="Ask for a call",
    responses={
        **documented(models.CallAnswer, 404, 409, 413, 422, status=202, says="The call waits for a person."),
        200: {"model": models.CallAnswer, "description": "The call is decided, or its wait brought the decision."},
    },
)
async def ask(
    ops: Ops, caller: Asker, body: models.CallRequest, ended: Gone, key: Key = None, prefer: PreferQueue = None
) -> Response:
    """Ask for a tool call that the caller will run itself. Return the recorded call.

    The policy allows or denies the call, or people are asked. The service doesn't run the tool: the caller claims the
    approved call, runs it, and reports the result.
    """
    wait_s = preferred_wait(prefer)
    queue_s = (wait_s or _QUEUE_S) if prefers_queue(prefer) else 0
    begun = time.monotonic()
    submitted, lease = await ops.asking.ask(caller, body, key, queue_s, ended)
    if lease is None:
        # The time that the request spent in the queue counts as a part of its wait.
        left_s, attended = wait_s - (time.monotonic() - begun), prefers_attended(prefer)
        submitted, lease = await ops.asking.decided(caller, body, submitted, left_s, ended, attended=attended)
    return await _answered(ops, submitted, lease)


@router.post(
    "/questions",
    status_code=202,
    summary="Ask a question",
    responses={
        **documented(models.CallAnswer, 404, 409, 413, 422, status=202, says="The question waits for a person."),
        200: {"model": models.CallAnswer, "description": "The question is over: `output` is the answer, if any came."},
    },
)
async def ask_human(
    ops: Ops, caller: Asker, body: models.QuestionRequest, ended: Gone, key: Key = None, prefer: Prefer = None
) -> Response:
    """Ask a question to the people who may decide in the call's conversation, and wait for their answer as for any
    call.

    The answer is the call's `output`. Text in it that looks like a secret is masked. An answer approves no other call.
    """
    submitted = await ops.asking.ask_human(caller, body, key)
    ops.waiters.attend(caller, submitted.call, ended, attended=prefers_attended(prefer))
    call = await ops.waiters.wait(caller, submitted.call, preferred_wait(prefer), "decided", ended)
    return await _answered(ops, replace(submitted, call=call), None)


async def _answered(ops: Operations, submitted: Submitted, lease: Lease | None) -> Response:
    document = await ops.reading.answer(submitted, lease)
    if submitted.call.status is Status.DENIED:
        return denied(document)
    status = 202 if submitted.call.status is Status.PENDING else 200
    return answer(document, status, {"Location": f"/v1/calls/{submitted.call.ref}"})


def denied(document: Mapping[str, Any]) -> Response:
    """Return the response for a call that the policy denied: a problem document with the ref of the call."""
    told = problems.problem(CallDenied(document["message"])) | {"ref": document["ref"]}
    return problems.response(told)


@router.get("/calls", summary="List calls", responses=documented(models.CallPage))
async def list_calls(
    ops: Ops,
    caller: Anyone,
    status: Annotated[Literal["pending", "any"], Query(description="Which calls to list.")] = "pending",
    cursor: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_IN_PAGE, description="The most calls in a page.")] = 50,
    view: Annotated[
        Literal["full", "brief"],
        Query(description="How much to list of each call: `brief` leaves out `args` and `output`."),
    ] = "full",
) -> Response:
    """List the calls that the caller may see, newest first.

    The arguments of one call may have a megabyte. With `view=brief` a page stays small: each call has its `headline`,
    and its `arguments` cut to one line. `GET /v1/calls/REF` has the rest.
    """
    return answer(await ops.reading.page(caller, cursor, limit, pending=status == "pending", brief=view == "brief"))


@router.get("/sessions", summary="List agents that wait", responses=documented(models.SessionList))
async def list_sessions(ops: Ops, caller: Anyone) -> Response:
    """List the sessions of agents that have pending calls. Pending calls that the caller may not see are left out."""
    return answer(await ops.reading.sessions(caller))


@router.get("/calls/{ref}", summary="Read a call, or wait for it", responses=documented(models.CallView, 404))
async def read(
    ops: Ops,
    caller: Anyone,
    ref: Ref,
    ended: Gone,
    wait: Wait = 0,
    until: Annotated[
        Literal["decided", "explained", "ended"],
        Query(description="What to wait for: a decision, also the reason of a rejection, or the end."),
    ] = "decided",
    prefer: PreferAttended = None,
) -> Response:
    """Return a call: now, or after the event that `until` names, or at the end of the wait."""
    call = await ops.reading.read(caller, ref)
    ops.waiters.attend(caller, call, ended, attended=prefers_attended(prefer))
    return answer(await ops.reading.view(await ops.waiters.wait(caller, call, wait, until, ended)))


@router.get(
    "/calls/{ref}/card",
    summary="Read a card",
    responses={
        **documented(models.CardAnswer, 404),
        200: {
            "model": models.CardAnswer,
            "description": "The card as data, or as text for `Accept: text/plain`.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
    },
)
async def read_card(ops: Ops, caller: Anyone, ref: Ref, request: Request) -> Response:
    """Return the card of a call as people see it. Reading it doesn't count as opening the call's details."""
    call = await ops.reading.read(caller, ref)
    if request.headers.get("accept", "").startswith("text/plain"):
        return PlainTextResponse(await ops.reading.card_text(call) + "\n", headers={"Cache-Control": "no-store"})
    return answer(await ops.reading.card(call))


@router.get("/calls/{ref}/record", summary="Read a record", responses=documented(models.RecordAnswer, 404))
async def read_record(ops: Ops, caller: Anyone, ref: Ref) -> Response:
    """Return a call with all its details as text, and with every line of its record."""
    return answer(await ops.reading.record(caller, ref))


@router.post(
    "/calls/{ref}/decision",
    summary="Decide a call",
    responses=documented(models.DecisionAnswer, 404, 409, 410, 413, 422, 500),
)
async def decide(ops: Ops, caller: Anyone, ref: Ref, body: models.DecisionRequest) -> Response:
    """Approve or reject a pending call.

    A critical call needs two approvals. The answer to the first approval asks for the second approval, which must name
    the ref in `confirm`. An agent's token can't decide.
    """
    await may_decide(ops, caller, ref)
    return answer(await ops.deciding.decide(caller, ref, body))


@router.post("/calls/{ref}/details", summary="Open the details", responses=documented(models.DecisionAnswer, 404, 500))
async def open_details(ops: Ops, caller: Anyone, ref: Ref) -> Response:
    """Return the whole call to an approver, and record that they opened it.

    If a card shows only a part of its call, an approver must open the details before approving.
    """
    await may_decide(ops, caller, ref)
    return answer(await ops.deciding.details(caller, ref))


async def may_decide(ops: Operations, caller: Caller, ref: str) -> None:
    """Record the attempt and raise NotApprover if the caller's credential isn't an approver's."""
    if Scope.APPROVER not in caller.scopes:
        raise await ops.deciding.refuse_undeciding(caller, ref)


@router.post(
    "/calls/{ref}/withdraw", summary="Withdraw a call", responses=documented(models.CallView, 404, 409, 410, 500)
)
async def withdraw(ops: Ops, caller: Withdrawer, ref: Ref, body: models.WithdrawRequest | None = None) -> Response:
    """Withdraw a pending call. Only its requester and operators may do this."""
    return answer(await ops.reading.view(await ops.deciding.withdraw(caller, ref, left=body is not None and body.left)))


@router.post(
    "/calls/{ref}/claim", summary="Claim a call", responses=documented(models.ClaimAnswer, 404, 409, 410, 413, 500)
)
async def claim(
    ops: Ops, caller: Asker, ref: Ref, body: models.ClaimRequest, ended: Gone, prefer: Prefer = None
) -> Response:
    """Claim an approved call, so that the caller may run it once. A request with the same secret gets the same claim
    again.

    The answer holds the stored arguments: run the tool with these arguments only. With `Prefer: wait=30`, the request
    first waits for the decision, and the approval claims the call in the same step. If the call is still pending at the
    end of the wait, the answer is 409 `STILL_PENDING`.
    """
    attended = prefers_attended(prefer)
    lease = await ops.running.wait_and_claim(caller, ref, body, preferred_wait(prefer), ended, attended=attended)
    return answer(
        {"call": await ops.reading.view(lease.call), "args": stored_args(lease.call), "until": lease.until.isoformat()},
    )


@router.post(
    "/calls/{ref}/finish", summary="Report a run", responses=documented(models.CallView, 404, 409, 410, 413, 500)
)
async def finish(ops: Ops, caller: Asker, ref: Ref, body: models.FinishRequest) -> Response:
    """Report how the claimed run ended. If the same report comes again, it changes nothing."""
    return answer(await ops.reading.view(await ops.running.finish(caller, ref, body)))


@router.post(
    "/calls/{ref}/release", summary="Release a call", responses=documented(models.CallView, 404, 409, 410, 500)
)
async def release(ops: Ops, caller: Asker, ref: Ref) -> Response:
    """Release an approved call to the caller, who runs it and won't report the result."""
    return answer(await ops.reading.view(await ops.running.release(caller, ref)))


@router.post("/batches", summary="Ask for several calls", responses=documented(models.BatchAnswer, 413))
async def ask_all(ops: Ops, caller: Asker, body: models.BatchRequest, key: Key = None) -> Response:
    """Record each call of a batch on its own, in order.

    The answer names each call by the caller's `id`. Each call has its own ref: wait for it, decide it and claim it by
    that ref. With an Idempotency-Key, the key of each call is that key, a slash, and the call's `id`: `KEY/ID`.
    """
    done = await ops.asking.ask_all(caller, body.calls, key)
    return answer({"calls": [await _outcome(ops, name, came) for name, came in done]})


async def _outcome(ops: Operations, name: str, came: tuple[Submitted, Lease | None] | SaysoError) -> dict[str, Any]:
    if isinstance(came, SaysoError):
        return {"id": name, "call": None, "problem": problems.problem(came, names=ops.names)}
    return {"id": name, "call": await ops.reading.answer(*came), "problem": None}
