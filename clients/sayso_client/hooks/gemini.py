"""Gemini CLI: the hook BeforeTool (measured with 0.61.0). The hook's `allow` doesn't override Gemini's own rules."""

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
MOVED = (("GEMINI_CLI_HOME", ".gemini/settings.json"),)
OVER = ((MANAGED, "hooksConfig.enabled", False),)
THEN = None
_BEFORE, _NAMED = "BeforeTool", "sayso-"


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event.

    Gemini gives a call no id, so asking about the same call twice makes two calls.
    """
    if event.get("hook_event_name") != _BEFORE:
        raise NotUnderstoodError("hook_event_name")
    only(event, "tool_name")
    tool, args = text(event, "tool_name"), arguments(event, "tool_input")
    found = Asked(tool, args, text(event, "cwd"), text(event, "session_id"))
    # Gemini names the server of an MCP tool in the event. The tool's full name isn't enough: it joins the names of
    # server and tool with `_`, which may also be in these names.
    if isinstance(context := event.get("mcp_context"), dict):
        found.tools = f"mcp__{text(context, 'server_name')}"
    return found


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

    A project could switch off a hook by its name, so our hook gets a name that nobody can guess.
    """
    from secrets import token_hex

    from sayso_client.hooks.installing import as_json, entries, from_json

    document = from_json(text)
    document.setdefault("hooksConfig", {}).setdefault("enabled", True)
    hook = {"type": "command", "name": f"{_NAMED}{token_hex(4)}", "command": command, "timeout": wait_s * 1000}
    entries(document, _BEFORE).append({"matcher": "*", "hooks": [hook]})
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without our hook. `hooksConfig` stays: other hooks may need it."""
    from sayso_client.hooks.installing import without_hooks

    return without_hooks(text)


def ours(text: str) -> Any:
    """Return the part of the settings that installs our hook, so that two versions of the file can be compared.

    The hook's random name is left out.
    """
    from sayso_client.hooks.installing import from_json, our_hooks

    found = our_hooks(from_json(text))
    for group in found.get(_BEFORE, []):
        group["hooks"] = [{**hook, "name": str(hook.get("name"))[: len(_NAMED)]} for hook in group["hooks"]]
    return found


def off(text: str) -> str | None:
    """Return the name of a setting with which Gemini doesn't ask our hook, or None."""
    from sayso_client.hooks.installing import from_json

    config = from_json(text).get("hooksConfig", {})
    if config.get("enabled", True) is not True:
        return "hooksConfig.enabled"
    return "hooksConfig.disabled" if _NAMED in str(config.get("disabled", [])) else None
