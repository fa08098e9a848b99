"""Gemini CLI: the hook BeforeTool (measured with 0.61.0). Our allow doesn't override Gemini's own rules."""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, NotUnderstoodError, arguments, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "gemini"
PROGRAM, TRIED = "gemini", (0, 61, 0)
FILE = ".gemini/settings.json"
MANAGED = "/etc/gemini-cli/settings.json"
THEN = None
_BEFORE = "BeforeTool"


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event.

    Gemini gives a call no id, so asking about the same call twice makes two calls.
    """
    if event.get("hook_event_name") != _BEFORE:
        raise NotUnderstoodError("hook_event_name")
    only(event, "tool_name")
    tool, args = text(event, "tool_name"), arguments(event, "tool_input")
    return Asked(tool, args, text(event, "cwd"), text(event, "session_id"))


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's approval."""
    del event
    return {"decision": "allow"}


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    del event
    return {"decision": "deny", "reason": why}


def unjudged(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer when the policy allows the call: Gemini's own rules decide."""
    del event
    return {}


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our hook. Its time limit is in milliseconds.

    A project could switch a hook off by its name, so ours gets a name that nobody can guess.
    """
    from secrets import token_hex

    from sayso_client.hooks.installing import as_json, entries, from_json

    document = from_json(text)
    document.setdefault("hooksConfig", {})["enabled"] = True
    hook = {"type": "command", "name": f"sayso-{token_hex(4)}", "command": command, "timeout": wait_s * 1000}
    entries(document, _BEFORE).append({"matcher": "*", "hooks": [hook]})
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without our hook. `hooksConfig` stays: other hooks may need it."""
    from sayso_client.hooks.installing import without_hooks

    return without_hooks(text)
