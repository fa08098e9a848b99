"""The paths of the harombe design, with its field names. They serve the same use cases as `/v1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response

from adapters.http import models
from adapters.http.callers import Anyone
from adapters.http.calls import Gone, Ops, may_decide
from adapters.http.responses import Ref, Wait, answer, documented
from hitl.call import Decision, Status
from hitl.cards.card import error_text, outcome_for_agent
from hitl.cards.redaction import mask, mask_value
from hitl.errors import CallUnknown
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Call

router = APIRouter(prefix="/hitl", tags=["harombe"])
#: The design has four decisions. Every other decision that lets nothing run is a denial in its words.
_DECISIONS: Mapping[Decision | None, str | None] = {
    None: None,
    Decision.APPROVED: "approved",
    Decision.ALLOWED: "approved",
    Decision.EXPIRED: "expired",
}
_VERBS = {"approve": "approve", "approved": "approve"}


def approval(call: Call) -> dict[str, Any]:
    """Return a call in the words of the design."""
    decision = _DECISIONS.get(call.decision, "denied")
    status = "auto_approved" if call.decision is Decision.ALLOWED else decision or "pending"
    let_run = decision == "approved"
    return {
        "approval_id": call.ref,
        "status": status,
        "tool_name": call.tool,
        "params": mask_value(call.arguments),
        "risk_level": call.verdict.risk.value,
        "created_at": call.created_at.isoformat(),
        "expires_at": call.deadline.isoformat(),
        "approved_by": call.decided_by if let_run else None,
        "approved_at": call.decided_at.isoformat() if let_run and call.decided_at else None,
        "decision": decision,
        "reason": mask(call.reason) if call.reason else None,
        "message": outcome_for_agent(call),
    }


@router.get("/pending", summary="List pending approvals", responses=documented(models.HarombePending))
async def list_pending(ops: Ops, caller: Anyone) -> Response:
    """List the pending calls that the caller may see, oldest first."""
    found = [approval(call) for call in await ops.pending_calls(caller)]
    return answer({"pending": found, "count": len(found)})


@router.get("/pending/{ref}", summary="Read a pending approval", responses=documented(models.HarombeApproval, 404))
async def read_pending(ops: Ops, caller: Anyone, ref: Ref) -> Response:
    """Read a call while it is pending. A decided call is found under `/hitl/result`."""
    call = await ops.read(caller, ref)
    if call.status is not Status.PENDING:
        raise CallUnknown(fact(Refusal.NOT_PENDING, short=call.short))
    return answer(approval(call))


@router.post(
    "/decide/{ref}",
    summary="Decide an approval",
    responses=documented(models.HarombeApproval, 404, 409, 410, 413, 422, 500),
)
async def decide(ops: Ops, caller: Anyone, ref: Ref, body: models.HarombeDecision) -> Response:
    """Approve or deny a pending call. The credential says who decides, never the body."""
    await may_decide(ops, caller, ref)
    verb = _VERBS.get(body.decision, "reject")
    told = models.DecisionRequest.model_validate({"decision": verb, "reason": body.reason, "confirm": body.confirm})
    await ops.decide(caller, ref, told)
    return answer(approval(await ops.read(caller, ref)))


@router.get("/result/{ref}", summary="Read a result", responses=documented(models.HarombeResult, 404))
async def read_result(ops: Ops, caller: Anyone, ref: Ref, ended: Gone, wait: Wait = 0) -> Response:
    """Read the state or the end of a call, with its tool's output. `wait` waits for the decision."""
    call = await ops.wait(caller, await ops.read(caller, ref), wait, "decided", ended)
    error = error_text(call)
    beside = {"result": mask(call.output) if call.output else None, "error": mask(error) if error else None}
    return answer(approval(call) | beside)
