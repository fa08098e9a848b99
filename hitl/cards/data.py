"""Makes data for programs from calls: for the HTTP API and for `--json`. Secrets are masked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from hitl.call import Status
from hitl.cards.card import details, error_text, listed, outcome, outcome_for_agent, reason_text
from hitl.cards.masked import masked
from hitl.cards.redaction import mask, mask_value
from hitl.cards.shown import labels
from hitl.cards.wording import IN_ENGLISH
from hitl.errors import CallDenied, ConfirmationExpired, ExecutionTimeout, OutcomeUnknown, SaysoError
from hitl.people.access import Access
from hitl.people.names import NOBODY, Names
from hitl.proof.canonical import canonical, digest_mark
from hitl.proof.chain import data_of
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hitl.call import Call, Recorded

#: Status of a call -> the class of the error whose code programs get with a call in this status. Other statuses have no
#: error code.
_ERRORS: Mapping[Status, type[SaysoError]] = {
    Status.DENIED: CallDenied,
    Status.EXPIRED: ConfirmationExpired,
    Status.TIMED_OUT: ExecutionTimeout,
    Status.UNKNOWN: OutcomeUnknown,
}


def view(call: Call, names: Names = NOBODY) -> dict[str, Any]:
    """Return all data about a call that a reader with the right to see it (`Access.may_see`) may get, as JSON types.

    Times are in UTC, in the format of ISO 8601.
    """
    return encoded_view(call, names) | {"args": msgspec.json.decode(masked(call).json)}


def encoded_view(call: Call, names: Names = NOBODY) -> dict[str, Any]:
    """Return the view of a call with its masked arguments as encoded JSON.

    `msgspec` copies encoded JSON into a document unchanged. To decode and encode a megabyte of arguments takes 0.05 s.
    """
    output = mask(call.output) if call.output else None
    return brief_view(call, names) | {"args": msgspec.Raw(masked(call).json), "output": output}


def brief_view(call: Call, names: Names = NOBODY) -> dict[str, Any]:
    """Return the view of a call without its arguments and its output, for lists of many calls."""
    headline, arguments = listed(call, names)
    approvers = Access(names.people).who_may_approve(call)
    return {
        "ref": call.ref,
        "short": call.short,
        "status": call.status.value,
        "code": _ERRORS[call.status].code if call.status in _ERRORS else None,
        "state": call.state.value,
        "tools": call.tools,
        "tool": call.tool,
        "cwd": call.cwd,
        "digest": call.digest,
        "mark": digest_mark(call.digest),
        "risk": call.verdict.risk.value,
        "why": IN_ENGLISH.retold(call.verdict.why),
        "rule": call.verdict.rule,
        "headline": headline,
        "arguments": arguments,
        "choices": list(labels(call)) if is_question(call) else [],
        "requester": call.requester,
        "requester_name": names.of(call.requester),
        "agent": call.agent,
        "note": mask(call.note),
        "origin": call.origin,
        "runs": call.runs.value,
        "execution_s": call.verdict.execution_s,
        "approvers": list(approvers),
        "approver_names": [names.of(one) for one in approvers],
        "created_at": _iso(call.created_at),
        "expires_at": _iso(call.deadline),
        "decided_at": _iso(call.decided_at),
        "decided_by": call.decided_by,
        "decided_by_name": names.of(call.decided_by) if call.decided_by else None,
        "reason": mask(reason) if (reason := reason_text(call)) else None,
        "reason_until": _iso(call.due_at) if call.awaits_reason else None,
        "outcome": outcome(call, names),
        "message": outcome_for_agent(call),
        "error": mask(error) if (error := error_text(call)) else None,
        "previous": call.previous,
        "archived": call.archived,
        "args_erased_at": _iso(call.erased_at),
    }


def full_view(call: Call, history: list[Recorded], names: Names = NOBODY) -> dict[str, Any]:
    """Return the result of `view`, and in addition the details in words and the lines of the audit record."""
    record = [
        {
            "seq": row.seq,
            "at": _iso(row.at),
            "event": row.event,
            "actor": row.actor,
            "data": canonical(mask_value(data_of(row.data))).decode(),
            "hash": row.hash,
        }
        for row in history
    ]
    return view(call, names) | {"details": details(call, names), "record": record}


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
