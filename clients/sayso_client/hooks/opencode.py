"""OpenCode: a plugin starts this for each `tool.execute.before`, and throws unless the answer is a yes.

The plugin (`opencode.js`) sends `{"tool", "sessionID", "callID", "args", "directory"}` (measured with 1.18.33).
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, arguments, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "opencode"


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    only(event, "tool")
    session, call = text(event, "sessionID"), text(event, "callID")
    key = f"{NAME}/{session}/{call}"
    return Asked(text(event, "tool"), arguments(event, "args"), text(event, "directory"), session, key)


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's yes, or where the policy allows the call."""
    del event
    return {"decision": "allow"}


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    del event
    return {"decision": "deny", "reason": why}


unjudged = allowed
