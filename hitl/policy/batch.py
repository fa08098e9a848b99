"""Judges one row of a batch: a policy and a call. ``sayso policy eval --jsonl`` reads one row from each line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hitl.cards.wording import IN_ENGLISH
from hitl.policy.engine import Policy, load
from hitl.policy.model import PolicyCall, PolicyInvalid, Reason
from hitl.policy.wording import say

# The policy of a row with the policy name BUILTIN_FALLBACK. It is contenox's built-in policy (module
# `dialects.contenox`), and asks about every call.
_FALLBACK = '{"default_action": "approve", "rules": []}'


@lru_cache(maxsize=64)
def _loaded(document: str) -> Policy:
    return load(document, name="row", format="json")


def evaluate_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict on one row: ``{"id", "policy", "tools", "tool", "args", "cwd"?, "annotations"?}``.

    The result has ``id``, ``action``, ``rule``, ``refused`` and ``reason``. If the policy is valid, it also has
    ``risk``, ``why``, ``timeout_s``, ``on_timeout``, ``message`` and ``programs`` (the programs that the call's command
    would run). If the policy is invalid, the action is deny, ``refused`` is true, and ``problems`` says why.

    A row whose arguments aren't an object is denied, also with ``problems``, because no real call has such arguments. A
    verdict without the arguments would be about a different call.
    """
    document = row.get("policy")
    try:
        policy = _loaded(_document_text(document))
    except PolicyInvalid as invalid:
        return {
            "id": row.get("id"), "action": "deny", "rule": None, "refused": True, "reason": Reason.POLICY_ERROR,
            "problems": [str(problem) for problem in invalid.problems],
        }  # fmt: skip
    if not isinstance(row.get("args"), dict | None):
        return {
            "id": row.get("id"), "action": "deny", "rule": None, "refused": False, "reason": Reason.POLICY_ERROR,
            "problems": [say("fault.row.args")],
        }  # fmt: skip
    verdict = policy.judge(_call(row))
    return {
        "id": row.get("id"), "action": verdict.action, "rule": verdict.rule, "refused": False, "reason": verdict.reason,
        "risk": verdict.risk, "why": IN_ENGLISH.retold(verdict.why), "timeout_s": verdict.timeout_s,
        "on_timeout": "deny", "message": IN_ENGLISH.retold(verdict.message or "") or None,
        "programs": list(verdict.programs),
    }  # fmt: skip


def _document_text(document: Any) -> str:
    if document == "BUILTIN_FALLBACK":
        return _FALLBACK
    return document if isinstance(document, str) else json.dumps(document)


def _call(row: Mapping[str, Any]) -> PolicyCall:
    return PolicyCall(
        tools=str(row.get("tools", "")),
        tool=str(row.get("tool", "")),
        args=row.get("args") or {},
        cwd=row.get("cwd"),
        annotations=row.get("annotations"),
        trusted_annotations=row.get("trusted_annotations") is True,
    )
