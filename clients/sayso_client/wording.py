"""Every sentence of the client's own. All others come from the service, in its answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # when the service can't be spoken with
    "reach.none": "No service answers on {path} ({error}). Start it with `sayso run`, or name another with --socket; nothing was done.",
    "reach.foreign": (
        "{folder} isn't yours, and lies where anybody may make one, so whoever answers there needn't be the service."
        " Set `runtime` to a folder that only its user can make; nothing was done."
    ),
    "reach.broken": "The service on {path} broke off. What it had recorded is kept; ask again with the same key.",
    "relay.none": "No MCP gateway answers on {path} ({error}). Add [mcp] to the settings, and start `sayso run`; nothing was done.",
    # a command on the caller's machine
    "command.not_started": "{program} can't be run in {folder}: {error}",
    "command.changed": "{path} has changed since it was shown. Nothing was run; ask again.",
    "command.otherwise": "The service on the socket gave out another command than was asked for. Nothing was run.",
    "command.taken": "{short} was approved, and another waiter got the approval, which is good for one run. Nothing was run here.",
    "command.status": "exit status {status}",
}


def say(key: str, /, **facts: object) -> str:
    """Return the sentence of that key. Raises KeyError for a key or fact that is missing: a bug, caught by a test."""
    return ENGLISH[key].format(**facts)
