"""OpenClaw: a plugin starts this hook for each `before_tool_call`, and blocks the call unless it is approved.

The plugin (`openclaw_plugin`) sends `{"toolName", "params", "toolCallId", "runId", "session", "directory"}` (measured
with 2026.9.6). OpenClaw blocks a call if its plugin throws or is late, and doesn't start if the plugin's program is
missing or broken. But OpenClaw runs everything if the plugin's folder or manifest is missing. So the installer copies
the plugin into the folder of the settings: the copy is still there if the hook's Python and its packages are deleted.
`openclaw agent exec` loads no plugin at all, and no hook can prevent that.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, arguments, only, text
from sayso_client.hooks.opencode import allowed, denied, unjudged
from sayso_client.hooks.plugin import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "openclaw"
PROGRAM, TRIED = "openclaw", (2026, 9, 6)
FILE = ".openclaw/openclaw.json"
MANAGED = None
MOVED = (
    ("OPENCLAW_CONFIG_PATH", ""),
    ("OPENCLAW_STATE_DIR", "openclaw.json"),
    ("OPENCLAW_HOME", ".openclaw/openclaw.json"),
)
#: The longest limit that OpenClaw takes for a hook, in seconds. If the hook takes longer, OpenClaw blocks the call.
LONGEST_S = 600
#: The key of the sentence about `agent exec`, which asks nobody.
THEN = "hook.then.openclaw"
#: The folder of the plugin in the folder of the settings, and the path of its program.
_FOLDER = "sayso_client.hooks"
BESIDE = f"{_FOLDER}/index.js"
#: The ends of the plugin's path in the settings: as this version writes them, and as an earlier version wrote them.
_PLACES = (f"/{_FOLDER}", "/sayso_client/hooks/openclaw_plugin")
#: The name of the plugin in OpenClaw's settings.
_ID = "sayso"
#: Some of these functions are OpenCode's: we wrote both plugins, and they read the same answers.
__all__ = ["NAME", "allowed", "asked", "denied", "unjudged"]


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    only(event, "toolName")
    session, run, call = (text(event, name, "") for name in ("session", "runId", "toolCallId"))
    # A model may use an id again in another run. A call without an id counts as a new call each time.
    key = f"{NAME}/{session}/{run}/{call}" if session and run and call else ""
    return Asked(text(event, "toolName"), arguments(event, "params"), text(event, "directory"), session, key)


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our plugin. `command` is the address of its program (a `file:` URI).

    Raises ValueError or TypeError if the text isn't a JSON object.
    """
    from urllib.parse import unquote

    from sayso_client.hooks.installing import as_json, from_json

    del wait_s
    document = from_json(text)
    plugins = document.setdefault("plugins", {})
    load, entries = plugins.setdefault("load", {}), plugins.setdefault("entries", {})
    folder = unquote(command.removeprefix("file://")).removesuffix("/index.js")
    load["paths"] = [*load.get("paths", []), folder]
    if "allow" in plugins and _ID not in plugins["allow"]:
        plugins["allow"] = [*plugins["allow"], _ID]
    entries[_ID] = {"enabled": True}
    return as_json(document)


def beside(command: str, wait_s: int) -> dict[str, str]:
    """Return the plugin's files. The plugin runs this command for each call."""
    from pathlib import Path

    plugin = Path(__file__).parent / "openclaw_plugin"
    others = ("openclaw.plugin.json", "package.json")
    files = {f"{_FOLDER}/{name}": (plugin / name).read_text("utf-8") for name in others}
    return {BESIDE: program("openclaw_plugin/index.js", command, wait_s), **files}


def take(text: str) -> str:
    """Return the settings without our plugin, and without the parts that held nothing else."""
    from sayso_client.hooks.installing import as_json, from_json

    document = from_json(text)
    plugins = document.get("plugins", {})
    found, entries = plugins.get("load", {}).get("paths", []), plugins.get("entries", {})
    paths = [path for path in found if not _is_ours(path)]
    if paths == found and _ID not in entries:
        return text
    entries = {name: entry for name, entry in entries.items() if name != _ID}
    if "allow" in plugins:
        plugins = plugins | {"allow": [name for name in plugins["allow"] if name != _ID]}
    load = _with(plugins.get("load", {}), "paths", paths)
    left = _with(_with(plugins, "load", load), "entries", entries)
    return as_json(_with(document, "plugins", left))


def restored(text: str, before: str) -> str:
    """Return the settings with the empty objects and the empty list that were there before the installation."""
    from sayso_client.hooks.installing import as_json, from_json

    document, old = from_json(text), from_json(before)
    if "plugins" not in old:
        return text
    plugins, was = document.setdefault("plugins", {}), old["plugins"]
    for name in {"load", "entries"} & was.keys():
        plugins.setdefault(name, {})
    if "paths" in was.get("load", {}):
        plugins["load"].setdefault("paths", [])
    return as_json(document)


def ours(text: str) -> Any:
    """Return the parts of the settings that load our plugin, so that two versions of the file can be compared."""
    from sayso_client.hooks.installing import from_json

    plugins = from_json(text).get("plugins", {})
    paths = [path for path in plugins.get("load", {}).get("paths", []) if _is_ours(path)]
    return [paths, plugins.get("entries", {}).get(_ID)]


def off(text: str) -> str | None:
    """Return the name of a setting that keeps OpenClaw from loading our plugin, or None."""
    from sayso_client.hooks.installing import from_json

    plugins = from_json(text).get("plugins", {})
    if plugins.get("enabled", True) is not True:
        return "plugins.enabled"
    if _ID in plugins.get("deny", []):
        return "plugins.deny"
    if _ID not in plugins.get("allow", [_ID]):
        return "plugins.allow"
    if plugins.get("entries", {}).get(_ID, {}).get("enabled") is not True:
        return "plugins.entries.sayso.enabled"
    paths = plugins.get("load", {}).get("paths", [])
    return None if any(map(_is_ours, paths)) else "plugins.load.paths"


def _is_ours(path: str) -> bool:
    """Return whether a path leads to our plugin, next to these settings or elsewhere."""
    return f"/{path}".rstrip("/").endswith(_PLACES)


def _with(document: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a copy of the object in which `name` has this value. If the value is empty, the copy has no such name."""
    return {key: kept for key, kept in {**document, name: value}.items() if key != name or value}
