"""Qwen Code: the hook PreToolUse, with Claude's names and shapes (measured with 0.24.4). Qwen ignores edits."""

from __future__ import annotations

from sayso_client.hooks import codex
from sayso_client.hooks.codex import allowed, denied, unjudged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sayso_client.hooks.asked import Asked

NAME = "qwen"
__all__ = ["NAME", "allowed", "asked", "denied", "unjudged"]


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    found = codex.asked(event)
    found.key = f"{NAME}{found.key.removeprefix(codex.NAME)}"
    return found
