"""GitHub Copilot CLI: the hook preToolUse (measured with 1.0.102).

A preToolUse hook that answers `allow` skips the hook permissionRequest. So the installer adds a permissionRequest hook
that always denies: without an allow of ours, nothing that needs a permission runs. We therefore always give an opinion.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, arguments, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "copilot"
PROGRAM, TRIED = "copilot", (1, 0, 102)
FILE = ".copilot/hooks/sayso.json"
MANAGED = "/etc/github-copilot/policy.d/sayso.json"
THEN = None


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event.

    Copilot has no id for a call, so one that is asked twice is two calls.
    """
    only(event, "toolName")
    tool, args = text(event, "toolName"), arguments(event, "toolArgs")
    return Asked(tool, args, text(event, "cwd"), text(event, "sessionId"))


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's yes."""
    del event
    return {"permissionDecision": "allow"}


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    del event
    return {"permissionDecision": "deny", "permissionDecisionReason": why}


#: The policy's allow is answered like a person's: without it the second hook would deny the call.
unjudged = allowed


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our hook, and the one behind it that denies whatever ours doesn't allow."""
    from sayso_client.hooks.installing import MARK, as_json, entries, from_json

    document = {"version": 1, **from_json(text)}
    no_answer = '{"behavior":"deny","message":"the gate gave no answer"}'
    entries(document, "preToolUse").append({"type": "command", "bash": command, "timeoutSec": wait_s})
    entries(document, "permissionRequest").append({"type": "command", "bash": f"printf '{no_answer}' # {MARK}"})
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without our hooks. A file that held nothing else is left empty of hooks."""
    from sayso_client.hooks.installing import without_hooks

    return without_hooks(text)
