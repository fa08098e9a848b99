"""What is sealed of a call: the row as asked, the decision, and each vote. A broken seal runs nothing."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from hitl.model import Bound
from hitl.tokens import Keyring, Purpose, frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hitl.model import Call, Verdict, Vote


def row_bytes(call: Call) -> bytes:
    """Every field that must not change once people were asked."""
    return frame(
        (
            call.ref,
            call.short,
            call.digest,
            hashlib.sha256(call.args).digest(),
            call.tools,
            call.tool,
            call.executor,
            call.definition,
            call.cwd,
            frame(part for pair in call.preconditions for part in pair),
            call.sentence,
            call.preview,
            frame(call.notes),
            call.note,
            call.requester,
            call.agent,
            call.session,
            call.origin,
            call.runs.value,
            call.key,
            call.previous,
            *_verdict_parts(call.verdict),
            frame(call.approvers),
            frame(call.routes),
            call.created_at.isoformat(),
            call.deadline.isoformat(),
        )
    )


@lru_cache(maxsize=1024)
def _verdict_parts(verdict: Verdict) -> tuple[str | bytes | None, ...]:
    return (
        verdict.action.value,
        verdict.risk.value,
        verdict.rule,
        verdict.reason,
        verdict.why,
        verdict.policy,
        str(verdict.timeout_s),
        str(verdict.execution_s),
        None if verdict.approvers is None else frame(verdict.approvers),
        "others" if verdict.exclude_requester else "",
        "reason" if verdict.require_reason else "",
        verdict.message,
        frame(verdict.programs),
    )


def decision_bytes(call: Call) -> bytes:
    """The decision: on which call, what, by whom, when."""
    at = call.decided_at.isoformat() if call.decided_at else None
    return frame((call.ref, call.digest, call.decision, call.decided_by, at))


def vote_bytes(ref: str, digest: str, *, approve: bool, principal: str, at: datetime) -> bytes:
    """One vote: on which call, which way, by whom, when."""
    return frame((ref, digest, "approve" if approve else "reject", principal, at.isoformat()))


def row_holds(keys: Keyring, call: Call) -> bool:
    """Whether the stored row is as it was sealed."""
    return keys.holds(Purpose.ROW, row_bytes(call), call.row_mac)


def decision_holds(keys: Keyring, call: Call) -> bool:
    """Whether the stored decision is as it was sealed."""
    return keys.holds(Purpose.DECISION, decision_bytes(call), call.decision_mac)


def votes_hold(keys: Keyring, call: Call, votes: Sequence[Vote]) -> bool:
    """Whether every stored vote is as it was sealed, and whoever decided, if it is decided, is among the approvers."""
    intact = all(
        keys.holds(
            Purpose.VOTE,
            vote_bytes(call.ref, call.digest, approve=v.approve, principal=v.principal, at=v.at),
            v.mac,
        )
        for v in votes
    )
    return intact and (call.decision is None or any(v.approve and v.principal == call.decided_by for v in votes))


def bound(keys: Keyring, message: str, ref: str, asks: str = "") -> Bound:
    """Return the binding of a message of ours to the call that it is about, with its MAC."""
    return Bound(message, ref, asks, keys.seal(Purpose.MESSAGE, frame((message, ref, asks))))


def bound_holds(keys: Keyring, stored: Bound) -> bool:
    """Whether a stored binding is as it was made: a changed one would move a yes to another call."""
    return keys.holds(Purpose.MESSAGE, frame((stored.message, stored.ref, stored.asks)), stored.mac)
