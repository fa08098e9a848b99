"""Claude Code: the hooks PreToolUse and PermissionRequest (tried with 2.1.332).

Claude calls PreToolUse for every tool call. If our hook gives no decision, Claude's own rules decide. If these rules
ask the user, Claude calls PermissionRequest.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, NotUnderstoodError, arguments, inside, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "claude-code"
PROGRAM, TRIED = "claude", (2, 1, 332)
FILE = ".claude/settings.json"
MANAGED = "/etc/claude-code/managed-settings.json"
MOVED = (("CLAUDE_CONFIG_DIR", "settings.json"),)
OVER = ((MANAGED, "disableAllHooks", True), (MANAGED, "allowManagedHooksOnly", True))
THEN = "hook.then.claude"
_BEFORE, _PROMPT = "PreToolUse", "PermissionRequest"


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    kind = text(event, "hook_event_name")
    if kind not in {_BEFORE, _PROMPT}:
        raise NotUnderstoodError(kind)
    only(event, "tool_name")
    session = text(event, "session_id")
    use = text(event, "tool_use_id") if kind == _BEFORE else ""
    return Asked(
        text(event, "tool_name"),
        arguments(event, "tool_input"),
        text(event, "cwd"),
        session,
        f"{NAME}/{session}/{use}" if use else "",
        must_ask=kind == _PROMPT,
        inside=inside(event, "agent_type", "agent_id"),
    )


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's approval."""
    return _answer(event, "allow", "")


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    return _answer(event, "deny", why)


def unjudged(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer when the policy allows the call: Claude's own rules decide."""
    return _answer(event, "allow", "") if event.get("hook_event_name") == _PROMPT else {}


def deferred() -> dict[str, Any]:
    """Return the answer that ends a headless run. The hook is called again when the session is resumed."""
    return {"hookSpecificOutput": {"hookEventName": _BEFORE, "permissionDecision": "defer"}}


def _answer(event: Mapping[str, Any], decision: str, why: str) -> dict[str, Any]:
    if event.get("hook_event_name") == _PROMPT:
        behaviour = {"behavior": decision, "message": why} if why else {"behavior": decision}
        return {"hookSpecificOutput": {"hookEventName": _PROMPT, "decision": behaviour}}
    told = {"permissionDecisionReason": why} if why else {}
    return {"hookSpecificOutput": {"hookEventName": _BEFORE, "permissionDecision": decision, **told}}


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our hook.

    With `onFailure`, the host blocks the tool if the hook crashes or is too late. Otherwise the host would run the
    tool.
    """
    from sayso_client.hooks.installing import as_json, entries, from_json

    document = from_json(text)
    hook = {"type": "command", "command": command, "timeout": wait_s, "onFailure": "block"}
    for event in (_BEFORE, _PROMPT):
        entries(document, event).append({"matcher": "*", "hooks": [hook]})
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without our hook."""
    from sayso_client.hooks.installing import without_hooks

    return without_hooks(text)


def ours(text: str) -> Any:
    """Return the part of the settings that installs our hook, so that two versions of the file can be compared."""
    from sayso_client.hooks.installing import our_hooks_in

    return our_hooks_in(text)


def off(text: str) -> str | None:
    """Return the name of a setting with which Claude asks no hook, or None (measured with 2.1.332).

    A rule under `permissions` or a hook of a wrong type makes Claude ignore the file without a message.
    """
    from sayso_client.hooks.installing import from_json, hooks_off, odd_hooks

    document = from_json(text)
    if switch := hooks_off(document):
        return switch
    if document.get("env", {}).get("CLAUDE_CODE_SIMPLE", "") not in {"", "0"}:
        return "env.CLAUDE_CODE_SIMPLE"
    for name in ("allow", "ask", "deny"):
        rules = document.get("permissions", {}).get(name, [])
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            return f"permissions.{name}"
    return odd_hooks(document, (_BEFORE, _PROMPT))
