"""OpenClaw: a plugin starts this hook for each `before_tool_call`, and blocks the call unless it is approved.

The plugin (`openclaw_plugin`) sends `{"toolName", "params", "toolCallId", "runId", "session", "directory"}` (measured
with 2026.9.6). OpenClaw blocks a call if its plugin throws or is late. But `openclaw agent exec` loads no plugin at
all, and no hook can prevent that.
"""

from __future__ import annotations

import os

from sayso_client.hooks.asked import Asked, arguments, only, text
from sayso_client.hooks.opencode import allowed, denied, unjudged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "openclaw"
PROGRAM, TRIED = "openclaw", (2026, 9, 6)
FILE = ".openclaw/openclaw.json"
MANAGED = None
#: The key of the sentence about `agent exec`, which asks nobody.
THEN = "hook.then.openclaw"
#: The folder of the plugin, and its name in OpenClaw's settings.
PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "openclaw_plugin")
_ID = "sayso"
#: The key of the sentence about settings that keep the plugin from loading.
UNGUARDED = "hook.unloaded"
#: Both plugins are ours, so they read the same answers.
__all__ = ["NAME", "allowed", "asked", "denied", "unjudged"]


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    only(event, "toolName")
    session, run, call = (text(event, name, "") for name in ("session", "runId", "toolCallId"))
    # A model may use an id again in another run. A call without an id is a new one each time.
    key = f"{NAME}/{session}/{run}/{call}" if session and run and call else ""
    return Asked(text(event, "toolName"), arguments(event, "params"), text(event, "directory"), session, key)


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our plugin, which runs this command for each call. Raises ValueError for other JSON."""
    from sayso_client.hooks.installing import as_json, from_json

    document = from_json(text)
    plugins = document.setdefault("plugins", {})
    if not _loads(plugins):
        raise ValueError("plugins.enabled is false, or plugins.deny names sayso")
    load, entries = plugins.setdefault("load", {}), plugins.setdefault("entries", {})
    load["paths"] = [*load.get("paths", []), PLUGIN]
    if "allow" in plugins and _ID not in plugins["allow"]:
        plugins["allow"] = [*plugins["allow"], _ID]
    entries[_ID] = {"enabled": True, "config": {"command": command, "waitMs": wait_s * 1000}}
    return as_json(document)


def take(text: str) -> str:
    """Return the settings without our plugin, and without the parts that held nothing else."""
    from sayso_client.hooks.installing import MARK, as_json, from_json

    document = from_json(text)
    plugins = document.get("plugins", {})
    if MARK not in str(plugins.get("entries", {}).get(_ID, "")):
        return text
    paths = [path for path in plugins.get("load", {}).get("paths", []) if not _is_ours(path)]
    entries = {name: entry for name, entry in plugins["entries"].items() if name != _ID}
    if "allow" in plugins:
        plugins = plugins | {"allow": [name for name in plugins["allow"] if name != _ID]}
    left = _filled(plugins | {"load": _filled(plugins.get("load", {}) | {"paths": paths}), "entries": entries})
    return as_json(_filled(document | {"plugins": left}))


def guarded(text: str) -> bool:
    """Return whether OpenClaw loads our plugin under these settings."""
    from sayso_client.hooks.installing import from_json

    plugins = from_json(text).get("plugins", {})
    entry, paths = plugins.get("entries", {}).get(_ID, {}), plugins.get("load", {}).get("paths", [])
    is_listed = _ID in plugins.get("allow", [_ID])
    is_there = any(_is_ours(path) and os.path.isdir(path) for path in paths)
    return _loads(plugins) and is_listed and entry.get("enabled") is True and is_there


def _is_ours(path: str) -> bool:
    """Return whether a path is that of our plugin, in this installation or another one."""
    return os.path.basename(path) == os.path.basename(PLUGIN)


def _loads(plugins: Mapping[str, Any]) -> bool:
    return plugins.get("enabled", True) is not False and _ID not in plugins.get("deny", [])


def _filled(document: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its empty lists and objects."""
    return {name: value for name, value in document.items() if value not in ({}, [])}
