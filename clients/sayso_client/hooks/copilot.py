"""GitHub Copilot CLI: the hook preToolUse (measured with 1.0.102).

If a preToolUse hook answers `allow`, Copilot skips the hook permissionRequest. So the installer adds a
permissionRequest hook that always denies: without our `allow`, nothing that needs a permission runs. Therefore this
hook always answers `allow` or `deny`.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, arguments, inside, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "copilot"
PROGRAM, TRIED = "copilot", (1, 0, 102)
FILE = ".copilot/hooks/sayso.json"
MANAGED = "/etc/github-copilot/policy.d/sayso.json"
MOVED = (("COPILOT_HOME", "hooks/sayso.json"),)
OVER = (("../settings.json", "disableAllHooks", True),)
THEN = None


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event.

    Copilot gives a call no id, so asking about the same call twice makes two calls.
    """
    only(event, "toolName")
    tool, args = text(event, "toolName"), arguments(event, "toolArgs")
    who = inside(event, "agentType", "agentId")
    return Asked(tool, args, text(event, "cwd"), text(event, "sessionId"), inside=who)


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's approval."""
    del event
    return {"permissionDecision": "allow"}


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    del event
    return {"permissionDecision": "deny", "permissionDecisionReason": why}


#: If the policy allows a call, the answer is the same as after a person's approval. Otherwise the second hook would
#: deny the call.
unjudged = allowed


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our hook, and with a second hook that denies every call that ours doesn't allow."""
    from sayso_client.hooks.installing import MARK, as_json, entries, from_json

    document = {"version": 1, **from_json(text)}
    no_answer = '{"behavior":"deny","message":"the gate gave no answer"}'
    entries(document, "preToolUse").append({"type": "command", "bash": command, "timeoutSec": wait_s})
    entries(document, "permissionRequest").append({"type": "command", "bash": f"printf '{no_answer}' # {MARK}"})
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without our hooks. If the file held nothing else, the file stays, without hooks."""
    from sayso_client.hooks.installing import without_hooks

    return without_hooks(text)


def ours(text: str) -> Any:
    """Return the part of the settings that installs our hook, so that two versions of the file can be compared."""
    from sayso_client.hooks.installing import our_hooks_in

    return our_hooks_in(text)


def off(text: str) -> str | None:
    """Return the name of a setting with which Copilot asks no hook of this file, or None."""
    from sayso_client.hooks.installing import from_json, hooks_off

    document = from_json(text)
    return "version" if document.get("version") != 1 else hooks_off(document)
