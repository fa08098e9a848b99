"""The Agent Approval Protocol, with this service as the provider: its paths, field names and errors under `/aap`.

An operator gives a client the base URL `http://HOST:PORT/aap` and an agent's token. The paths serve the same use cases
as `/v1/calls`: `create` asks, `consume` claims, `outcome` finishes, DELETE withdraws. None of these paths decides a
call. Paths, field names and errors follow the published client (`agentapprovalprotocol` 0.3.3). The client raises an
error if our answer has an extra field, a null, or a number in another form than it sent (1250.0 for 1250.00).
"""

from __future__ import annotations

import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse, Response

from adapters.http import models, problems
from adapters.http.callers import Asker, Caller
from adapters.http.calls import Gone, Ops
from adapters.http.responses import Ref, answer, documented
from adapters.http.written import WrittenRoute
from hitl.call import MAY_RUN, Call, Decision, Event, Result, Status
from hitl.cards.card import outcome_for_agent, reason_text
from hitl.cards.redaction import mask
from hitl.cards.wording import say
from hitl.errors import (
    AlreadyDecided,
    CallUnknown,
    ConfirmationExpired,
    InvalidConfirmation,
    KeyConflict,
    NotApprover,
    SaysoError,
    StillPending,
    Tampered,
    Unauthenticated,
)
from hitl.gate.response import unknown_call
from hitl.limits import LONGEST_TIMEOUT_S
from hitl.proof.canonical import canonical
from hitl.proof.chain import data_of
from hitl.proof.keyring import secret_hash
from hitl.times import span

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from datetime import datetime

    from adapters.http.operations import Operations
    from hitl.call import Recorded

#: The tool group of a call whose request names no `server`.
_OWN_TOOLS = "aap"
#: The prefix that keeps the idempotency keys of this protocol apart from the keys of `/v1/calls`.
KEYS = "aap:"
#: The longest wait of one request, in seconds. The protocol sets this limit.
_LONGEST_WAIT_S = 30
#: The fields that only the audit record holds (`context`, `server` and `timeout`) have at most this many bytes
#: together. The record keeps them, even when retention erases the call's arguments.
_LONGEST_CONTEXT = 16_384
#: Our decision -> the protocol's status. Any other decision, such as UNDELIVERABLE, becomes "denied".
_STATUSES: Mapping[Decision | None, str] = {
    None: "pending",
    Decision.ALLOWED: "approved",
    Decision.APPROVED: "approved",
    Decision.EXPIRED: "expired",
    Decision.WITHDRAWN: "cancelled",
}
_OUTCOMES = {Result.SUCCEEDED: "succeeded", Result.FAILED: "failed"}
#: HTTP status -> the error's `type` in the protocol.
_KINDS = {401: "authentication", 403: "authorization", 404: "not_found", 409: "conflict", 429: "rate_limit"}
#: Error class -> the protocol's error code. Any other error gets our own code in lower case.
_CODES: Mapping[type[SaysoError], str] = {
    Unauthenticated: "invalid_credential",
    CallUnknown: "not_found",
    InvalidConfirmation: "invalid_field",
    KeyConflict: "idempotency_conflict",
}


class ConflictError(Exception):
    """The request's state doesn't allow the operation. The error's argument is the protocol's code for that state, such
    as `already_consumed`.
    """


class AapRoute(WrittenRoute):
    """A route that answers errors in the protocol's form, and gives every answer a new id (X-Request-ID)."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that turns errors into the protocol's form."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            name = str(uuid.uuid4())
            try:
                given = await handle(request)
            except ConflictError as error:
                given = _fault(str(error), 409, say("aap.conflict", code=str(error).replace("_", " ")), name)
            except SaysoError as error:
                given = _refused(error, name)
            except RequestValidationError as error:
                given = _refused(problems.invalid(request, error), name)
            given.headers["X-Request-ID"] = name
            return given

        return handled


def _refused(error: SaysoError, name: str) -> Response:
    code = _CODES.get(type(error), error.code.lower())
    return _fault(code, error.status, error.message, name, problems.headers_of(error))


def _fault(code: str, status: int, message: str, name: str, headers: Mapping[str, str] | None = None) -> Response:
    server_side = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = _KINDS.get(status, "server_error" if server_side else "invalid_request")
    fault = {"type": kind, "code": code, "message": message, "request_id": name}
    return JSONResponse({"error": fault}, status, headers)


router = APIRouter(prefix="/aap/v1", tags=["aap"], route_class=AapRoute)
Key = Annotated[str, Header(alias="Idempotency-Key", min_length=1, max_length=200, pattern=r"^[!-~]+$")]


def _documented(*codes: int, status: int = 200) -> dict[int | str, Any]:
    """Return FastAPI's `responses` for a route. Each error has two forms: the protocol's form, and a problem document.

    A request that the listener or the guard refuses never reaches the route, so its error is a problem document.
    """
    found = documented(models.AapRequest, *codes, status=status)
    error = {"application/json": {"schema": {"$ref": f"#/components/schemas/{models.AapError.__name__}"}}}
    for code, told in found.items():
        if code != status:
            told["content"] |= error
    return found


@router.post(
    "/requests",
    status_code=201,
    summary="Ask",
    responses={
        **_documented(409, 413, 422, status=201),
        200: {"model": models.AapRequest, "description": "The request that was made before with this key."},
    },
)
async def create(ops: Ops, caller: Asker, body: models.AapSubmission, key: Key) -> Response:
    """Ask for a tool call, which the caller will run itself. A second request with the same key and the same fields
    returns the first request again (200).
    """
    kept = body.model_dump(exclude_unset=True, include={"timeout", "server", "context"})
    if len(canonical(kept)) > _LONGEST_CONTEXT:
        raise InvalidConfirmation(say("aap.context", most=_LONGEST_CONTEXT))
    asked = models.CallRequest(
        tools=body.server or _OWN_TOOLS,
        tool=body.tool,
        args=body.arguments,
        note=body.agent_reasoning,
        timeout_s=min(int(span(body.timeout).total_seconds()), LONGEST_TIMEOUT_S),
    )
    made, _ = await ops.asking.ask(caller, asked, KEYS + key, submitted={"aap": kept})
    lines = await ops.reading.history(made.call)
    same = canonical(_kept(lines)) == canonical(kept) and made.call.note == body.agent_reasoning
    if not made.fresh and not same:
        raise KeyConflict(say("aap.conflict", code="idempotency conflict"))
    return answer(_request(ops, made.call, lines), 201 if made.fresh else 200)


@router.get("/requests/{ref}", summary="Read a request, or wait for it", responses=_documented(404))
async def read(
    ops: Ops,
    caller: Asker,
    ref: Ref,
    ended: Gone,
    wait: Annotated[str, Query(pattern="^[1-9][0-9]{0,6}[smh]$", description="At most 30s count.")] = "",
) -> Response:
    """Return a request: immediately, or with `wait` (such as `30s`) after the decision.

    If people may still give a reason for a rejection, the wait also includes that reason. It ends at the latest after
    the time that `wait` names.
    """
    call, _ = await _own(ops, caller, ref)
    wait_s = min(span(wait).total_seconds(), _LONGEST_WAIT_S) if wait else 0
    call = await ops.waiters.wait(caller, call, wait_s, "explained", ended)
    return answer(_request(ops, call, await ops.reading.history(call)))


@router.delete("/requests/{ref}", summary="Cancel a request", responses=_documented(404, 409))
async def cancel(ops: Ops, caller: Asker, ref: Ref) -> Response:
    """Withdraw a pending request. Cancelling it again changes nothing."""
    call, lines = await _own(ops, caller, ref)
    if call.decision is not Decision.WITHDRAWN:
        try:
            call = await ops.deciding.withdraw(caller, call.ref)
        except (AlreadyDecided, ConfirmationExpired) as error:
            raise ConflictError("already_terminal") from error
    return answer(_request(ops, call, lines))


@router.post("/requests/{ref}/consume", summary="Take the permission to run", responses=_documented(404, 409, 500))
async def consume(ops: Ops, caller: Asker, ref: Ref, key: Key) -> Response:
    """Claim an approved request, so that the caller may run it once, and return it. The same key returns the same
    answer.

    If no outcome is reported before the time for the run has ended, nobody knows whether the tool ran. After that, a
    request with any key gets 409.
    """
    call, _ = await _own(ops, caller, ref)
    if ops.running.attempt(caller, call) != KEYS + key or _reported(call) is None:
        asked = models.ClaimRequest(secret_hash=secret_hash(KEYS + key))
        try:
            call = (await ops.running.claim(caller, call.ref, asked, KEYS + key)).call
        except (AlreadyDecided, ConfirmationExpired, InvalidConfirmation, StillPending, Tampered) as error:
            raise ConflictError(_why_not_consumed((await _own(ops, caller, ref))[0])) from error
    return answer(_request(ops, call, await ops.reading.history(call)))


def _why_not_consumed(call: Call) -> str:
    """Return the protocol's error code for a request that can't be consumed, such as `approval_expired`."""
    if call.claim is not None or call.result is Result.RELEASED:
        return "already_consumed"
    return "approval_expired" if call.result is Result.LAPSED or call.status is Status.APPROVED else "not_approved"


@router.post("/requests/{ref}/outcome", summary="Report the outcome", responses=_documented(404, 409, 500))
async def outcome(ops: Ops, caller: Asker, ref: Ref, body: models.AapReport) -> Response:
    """Report how the run of a consumed request ended. If the same report comes again, it changes nothing."""
    call, _ = await _own(ops, caller, ref)
    attempt = ops.running.attempt(caller, call)
    if attempt is None:
        raise ConflictError("not_consumed")
    reported = _reported(call)
    if reported is None:
        told = {"output": body.note} if body.status == "succeeded" else {"error": body.note or None}
        report = models.FinishRequest.model_validate({"secret": attempt, "result": body.status, **told})
        try:
            call = await ops.running.finish(caller, call.ref, report)
        except AlreadyDecided as error:
            raise ConflictError("outcome_conflict") from error
    elif reported != (body.status, body.note):
        raise ConflictError("outcome_conflict")
    return answer(_request(ops, call, await ops.reading.history(call)))


def _reported(call: Call) -> tuple[str, str] | None:
    """Return the reported outcome (`succeeded` or `failed`) and its note. Return None if no outcome was reported."""
    status = _OUTCOMES.get(call.result) if call.result else None
    return (status, (call.output if status == "succeeded" else call.error) or "") if status else None


async def _own(ops: Operations, caller: Caller, name: str) -> tuple[Call, Sequence[Recorded]]:
    """Return a request that this caller asked for, and the lines of its record. Raises CallUnknown if `name` names no
    such request.

    Also raises CallUnknown if the request's arguments were erased, because the request couldn't be returned unchanged.
    """
    try:
        call = await ops.running.own(caller, str(uuid.UUID(name)))
    except (ValueError, NotApprover) as error:
        raise unknown_call(name) from error
    lines = await ops.reading.history(call)
    if not _kept(lines) or call.erased_at:
        raise unknown_call(name)
    return call, lines


def _kept(lines: Sequence[Recorded]) -> dict[str, Any]:
    """Return the submitted fields that only the audit record of the call holds, such as the context.

    Return {} for a call that was asked for through another interface.
    """
    asked = next((data_of(line.data) for line in lines if line.event == Event.ASKED), {})
    submitted = asked.get("submitted")
    kept = submitted.get("aap") if isinstance(submitted, dict) else None
    return kept if isinstance(kept, dict) else {}


def _request(ops: Operations, call: Call, lines: Sequence[Recorded]) -> dict[str, Any]:
    """Return a call as the protocol's JSON document of a request. The submitted fields have the values that the client
    sent.
    """
    status = _STATUSES.get(call.decision, "denied")
    document = _kept(lines) | {
        "tool": call.tool,
        "arguments": call.arguments,
        **({"agent_reasoning": call.note} if call.note else {}),
        "id": call.ref,
        "status": status,
        "created_at": timestamp(call.created_at),
        "deadline_at": timestamp(call.deadline),
    }
    if call.decided_at and status != "pending":
        document["decision"] = _decision(ops, call, status)
    if call.claim and (consumed := next((line.at for line in lines if line.event == Event.CLAIMED), None)):
        document["consumption"] = {"consumed_at": timestamp(consumed)} | _outcome(call)
    return document


def _decision(ops: Operations, call: Call, status: str) -> dict[str, Any]:
    note = "" if call.decision is Decision.EXPIRED else reason_text(call) or ""
    if call.decision is Decision.UNDELIVERABLE:
        note = outcome_for_agent(call)
    until = ops.running.claimable_until(call) if call.decision in MAY_RUN else None
    return {
        "status": status,
        "decided_at": timestamp(call.decided_at),
        **({"note": mask(note)} if note else {}),
        **({"expires_at": timestamp(until)} if until else {}),
    }


def _outcome(call: Call) -> dict[str, Any]:
    reported = _reported(call)
    if reported is None:
        return {}
    status, note = reported
    told = {"note": mask(note)} if note else {}
    return {"outcome": {"status": status, "reported_at": timestamp(call.finished_at), **told}}


def timestamp(at: datetime | None) -> str:
    """Return a time as the protocol writes it."""
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"
