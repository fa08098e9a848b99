"""The paths and field names of the harombe design, another project's HTTP API for approvals.

These paths serve the same use cases as `/v1`.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from adapters.http import models, problems
from adapters.http.callers import CALLER, Anyone, Asker, Caller
from adapters.http.calls import Gone, Ops, denied, may_decide
from adapters.http.models import LONGEST_WAIT_S
from adapters.http.responses import Key, Prefer, Ref, Wait, answer, documented, preferred_wait
from adapters.http.written import WrittenRoute
from hitl.call import Decision, Runs, Status
from hitl.cards.card import error_text, outcome_for_agent, reason_text
from hitl.cards.masked import masked
from hitl.cards.redaction import mask
from hitl.cards.wording import say
from hitl.errors import CallUnknown
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Message, Receive, Scope, Send

    from adapters.http.operations import Operations
    from hitl.call import Call

router = APIRouter(tags=["harombe"], route_class=WrittenRoute)
#: The path of tool calls. MCP clients use the same path.
MCP = "/mcp"
_EVENTS = "text/event-stream"
#: The tool group of calls that their callers run themselves.
_OWN_TOOLS = "mcp"
#: Our decision -> a decision of the harombe design, or None for a pending call. A decision that isn't listed here and
#: lets nothing run, such as WITHDRAWN, becomes "denied".
_DECISIONS: Mapping[Decision | None, str | None] = {
    None: None,
    Decision.APPROVED: "approved",
    Decision.ALLOWED: "approved",
    Decision.EXPIRED: "expired",
}
_VERBS = {"approve": "approve", "approved": "approve"}


async def approval(ops: Operations, call: Call) -> dict[str, Any]:
    """Return the harombe design's JSON document of a call."""
    await ops.reading.ready(call)
    decision = _DECISIONS.get(call.decision, "denied")
    status = "auto_approved" if call.decision is Decision.ALLOWED else decision or "pending"
    let_run = decision == "approved"
    return {
        "approval_id": call.ref,
        "status": status,
        "tool_name": call.tool,
        "params": msgspec.Raw(masked(call).json),
        "risk_level": call.verdict.risk.value,
        "created_at": call.created_at.isoformat(),
        "expires_at": call.deadline.isoformat(),
        "approved_by": call.decided_by if let_run else None,
        "approved_at": call.decided_at.isoformat() if let_run and call.decided_at else None,
        "decision": decision,
        "reason": mask(reason) if (reason := reason_text(call)) else None,
        "message": outcome_for_agent(call),
    }


class Gateway(Protocol):
    """The functions of the MCP gateway that this API uses."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request of an MCP client, as an ASGI application."""

    async def ask(self, scope: Scope, tool: str, args: Mapping[str, Any], key: str | None) -> Call | None:
        """Ask for a call of a tool as the caller of a request, and don't wait for it.

        Return None if no server offers the tool. Raises the errors of `Gate.submit`.
        """


class StreamingRoute(Route):
    """The route for MCP clients. Their protocol requires that they accept an event stream with every POST."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match a POST only if it accepts an event stream. Any other POST belongs to the harombe design."""
        if scope["type"] == "http" and scope["method"] == "POST" and not _accepts_events(Headers(scope=scope)):
            return Match.NONE, {}
        return super().matches(scope)


class Held:
    """Passes requests to the MCP gateway.

    A request or a stream ends when its caller's token ends, and when the service stops.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the gateway. If the caller's token ends or the service stops first, end the stream, or
        answer with an error.
        """
        ops: Operations = scope["app"].state.operations
        begun = over = False

        async def sent(message: Message) -> None:
            nonlocal begun, over
            begun, over = True, message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        error = await ops.waiters.hold(scope["state"][CALLER], self._gateway(scope, receive, sent))
        if error is not None and not begun:
            await problems.response(problems.problem(error))(scope, receive, send)
        elif error is not None and not over:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _accepts_events(headers: Headers) -> bool:
    """Return whether the Accept header names event streams.

    The result is False for `*/*`, because clients without a preference send `*/*` by default.
    """
    ranges = ",".join(headers.getlist("accept")).lower().split(",")
    return any(one.partition(";")[0].strip() == _EVENTS for one in ranges)


@router.post(
    MCP,
    status_code=202,
    summary="Call a tool",
    responses={
        **documented(
            models.HarombeResult, 404, 409, 413, 422, status=202, says="The call waits for a person, or runs."
        ),
        200: {"model": models.HarombeResult, "description": "The call is over, or its wait brought the decision."},
    },
)
async def call_tool(
    request: Request,
    ops: Ops,
    caller: Asker,
    body: models.HarombeToolCall,
    ended: Gone,
    key: Key = None,
    prefer: Prefer = None,
) -> Response:
    """Ask for a call of a tool behind the MCP gateway. The service runs the call once the call is approved.

    Without a gateway, the caller runs the tool itself, after a claim at `/v1/calls/{approval_id}/claim`. A request
    whose Accept header names `text/event-stream` is a request of MCP and goes to the gateway instead.
    """
    if _accepts_events(request.headers):
        raise HTTPException(HTTPStatus.NOT_FOUND, say("api.no_gateway"))
    call = await _asked(request, ops, caller, body.params, key)
    call = await ops.waiters.wait(caller, call, preferred_wait(prefer), "decided", ended)
    if call.status is Status.DENIED:
        return denied(await approval(ops, call) | {"ref": call.ref})
    if call.runs is Runs.SERVICE and call.status is not Status.PENDING:
        call = await ops.waiters.wait(caller, call, LONGEST_WAIT_S, "ended", ended)
    under_way = call.status in {Status.PENDING, Status.RUNNING}
    return answer(await _result(ops, call), 202 if under_way else 200, {"Location": f"/hitl/result/{call.ref}"})


async def _asked(request: Request, ops: Operations, caller: Caller, tool: models.HarombeTool, key: str | None) -> Call:
    gateway: Gateway | None = getattr(request.app.state, "gateway", None)
    if gateway is None:
        own = models.CallRequest(tools=_OWN_TOOLS, tool=tool.name, args=tool.arguments)
        return (await ops.asking.ask(caller, own, key))[0].call
    call = await gateway.ask(request.scope, tool.name, tool.arguments, key)
    if call is None:
        raise CallUnknown(say("mcp.unlisted"))
    return call


@router.get("/hitl/pending", summary="List pending approvals", responses=documented(models.HarombePending))
async def list_pending(ops: Ops, caller: Anyone) -> Response:
    """List the pending calls that the caller may see, oldest first."""
    found = [await approval(ops, call) for call in await ops.reading.pending_calls(caller)]
    return answer({"pending": found, "count": len(found)})


@router.get("/hitl/pending/{ref}", summary="Read a pending approval", responses=documented(models.HarombeApproval, 404))
async def read_pending(ops: Ops, caller: Anyone, ref: Ref) -> Response:
    """Read a call while it is pending. A decided call is found under `/hitl/result`."""
    call = await ops.reading.read(caller, ref)
    if call.status is not Status.PENDING:
        raise CallUnknown(fact(Refusal.NOT_PENDING, short=call.short))
    return answer(await approval(ops, call))


@router.post(
    "/hitl/decide/{ref}",
    summary="Decide an approval",
    responses={
        **documented(models.HarombeApproval, 404, 409, 410, 413, 422, 500),
        202: {"model": models.HarombeApproval, "description": "Not decided yet: `message` says what is missing."},
    },
)
async def decide(ops: Ops, caller: Anyone, ref: Ref, body: models.HarombeDecision) -> Response:
    """Approve or deny a pending call. The credential names the person who decides; nothing in the body can name them.

    The answer 202 means that the call isn't decided yet, because more is needed, such as a second confirmation.
    """
    await may_decide(ops, caller, ref)
    verb = _VERBS.get(body.decision, "reject")
    asked = models.DecisionRequest.model_validate({"decision": verb, "reason": body.reason, "confirm": body.confirm})
    told = await ops.deciding.decide(caller, ref, asked)
    document = await approval(ops, await ops.reading.read(caller, ref))
    return answer(document) if told["decided"] else answer(document | {"message": told["text"]}, 202)


@router.get("/hitl/result/{ref}", summary="Read a result", responses=documented(models.HarombeResult, 404))
async def read_result(ops: Ops, caller: Anyone, ref: Ref, ended: Gone, wait: Wait = 0) -> Response:
    """Read the state or the result of a call, with its tool's output.

    With `wait`, the answer waits for the decision.
    """
    call = await ops.waiters.wait(caller, await ops.reading.read(caller, ref), wait, "decided", ended)
    return answer(await _result(ops, call))


async def _result(ops: Operations, call: Call) -> dict[str, Any]:
    error = error_text(call)
    beside = {"result": mask(call.output) if call.output else None, "error": mask(error) if error else None}
    return await approval(ops, call) | beside
