"""OpenCode: a plugin starts this hook for each `tool.execute.before`, and throws unless the call is approved.

The plugin (`opencode.js`) sends `{"tool", "sessionID", "callID", "args", "directory"}` (measured with 1.18.33).
OpenCode runs everything if a plugin doesn't load. So the installer sets `permission` to `ask`: OpenCode then asks
before each call, and the plugin says yes for the calls that were approved. Without the plugin, nothing says yes.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, arguments, only, text
from sayso_client.hooks.plugin import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "opencode"
PROGRAM, TRIED = "opencode", (1, 18, 33)
FILE = ".config/opencode/opencode.json"
MANAGED = None
MOVED = (("XDG_CONFIG_HOME", "opencode/opencode.json"),)
THEN = "hook.then.opencode"
#: The name of the plugin's file. The file is in the folder of the settings: in OpenCode's folder for plugins, it would
#: make OpenCode start a package manager.
BESIDE = "sayso_client.hooks.js"
_ASK, _REFUSALS = "ask", ("ask", "deny")


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    only(event, "tool")
    session, call = text(event, "sessionID"), text(event, "callID")
    key = f"{NAME}/{session}/{call}"
    return Asked(text(event, "tool"), arguments(event, "args"), text(event, "directory"), session, key)


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's approval, or if the policy allows the call."""
    del event
    return {"decision": "allow"}


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    del event
    return {"decision": "deny", "reason": why}


unjudged = allowed


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with the plugin, and with a `permission` that asks about every tool.

    `command` is the plugin's address (a `file:` URI).
    """
    from sayso_client.hooks.installing import as_json, from_json

    del wait_s
    document = from_json(text)
    document["plugin"] = [*document.get("plugin", []), command]
    document["permission"] = _asking(document.get("permission"))
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without the plugin.

    `permission` keeps its value, because without that value OpenCode would run more tools unasked.
    """
    from sayso_client.hooks.installing import MARK, as_json, from_json

    document = from_json(text)
    left = [plugin for plugin in document.get("plugin", []) if MARK not in str(plugin)]
    if left == document.get("plugin", []):
        return text
    rest = {key: value for key, value in document.items() if key != "plugin"}
    return as_json({**rest, "plugin": left} if left else rest)


def restored(text: str, before: str) -> str:
    """Return the settings with their former `permission`, unless it was changed since the installation."""
    from sayso_client.hooks.installing import as_json, from_json

    document, old = from_json(text), from_json(before)
    if document.get("permission") != _asking(old.get("permission")):
        return text
    rest = {key: value for key, value in document.items() if key != "permission"}
    return as_json({**rest, "permission": old["permission"]} if "permission" in old else rest)


def beside(command: str, wait_s: int) -> dict[str, str]:
    """Return the plugin's file. The plugin runs this command for each call."""
    return {BESIDE: program("opencode.js", command, wait_s)}


def ours(text: str) -> Any:
    """Return the part of the settings that loads our plugin, so that two versions of the file can be compared."""
    from sayso_client.hooks.installing import MARK, from_json

    return [plugin for plugin in from_json(text).get("plugin", []) if MARK in str(plugin)]


def off(text: str) -> str | None:
    """Return the name of a `permission` that lets tools run if the plugin doesn't load, or None."""
    from sayso_client.hooks.installing import from_json

    document = from_json(text)
    found = document.get("permission")
    if found is None or found != _asking(found):
        return "permission"
    for name, agent in document.get("agent", {}).items():
        if "permission" in agent and agent["permission"] != _asking(agent["permission"]):
            return f"agent.{name}.permission"
    return None


def _asking(permission: Any) -> Any:
    """Return a `permission` that asks about everything except what was denied. OpenCode applies the last pattern that
    matches.
    """
    if isinstance(permission, dict):
        found = {name: _asking(rule) for name, rule in permission.items()}
        return found if "*" in found else {"*": _ASK, **found}
    return permission if permission in _REFUSALS else _ASK
