"""Qwen Code: the hook PreToolUse, whose events and answers have the form of Claude Code's (measured with 0.24.4).

Qwen ignores a hook's changes to a call.
"""

from __future__ import annotations

from sayso_client.hooks import codex
from sayso_client.hooks.codex import allowed, denied, unjudged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sayso_client.hooks.asked import Asked

NAME = "qwen"
PROGRAM, TRIED = "qwen", (0, 24, 4)
FILE = ".qwen/settings.json"
MANAGED = None
MOVED = ()
THEN = None
__all__ = ["NAME", "allowed", "asked", "denied", "unjudged"]


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    found = codex.asked(event)
    found.key = f"{NAME}{found.key.removeprefix(codex.NAME)}"
    return found


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our hook. Its time limit is in seconds."""
    from sayso_client.hooks.installing import as_json, entries, from_json

    document = from_json(text)
    hook = {"type": "command", "command": command, "timeout": wait_s}
    entries(document, "PreToolUse").append({"matcher": "*", "hooks": [hook]})
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
    """Return the name of a setting with which Qwen asks no hook, or None."""
    from sayso_client.hooks.installing import from_json, hooks_off, odd_hooks

    document = from_json(text)
    return hooks_off(document) or odd_hooks(document, ("PreToolUse",))
