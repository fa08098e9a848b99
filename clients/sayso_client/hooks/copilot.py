"""GitHub Copilot CLI: the hook preToolUse (measured with 1.0.102).

A preToolUse hook that answers `allow` skips the hook permissionRequest. So a permissionRequest hook that always denies
stands behind ours: without an allow of ours, nothing that needs a permission runs. An opinion is therefore always given.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, arguments, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "copilot"


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
