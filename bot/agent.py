"""The offline agent: understands a handful of commands and turns them into tool calls. It decides nothing.

It stands where a model would: so that the whole loop can be tried without an account, and so that tests have
an agent that does what it is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TOOLS = "workspace"


@dataclass(frozen=True, slots=True)
class Plan:
    """A tool call that the agent wants made."""

    tool: str
    args: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Question:
    """Somebody asks what a waiting call does."""


_ABOUT = re.compile(
    r"(?:what (?:does|would|will) (?:it|this|that) do|show (?:me )?(?:it|the )?details?|details|why)\s*\??"
)
_COMMANDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Plan]], ...] = (
    (re.compile(r"(?:list|ls)(?:\s+(\S+))?"), lambda m: Plan("list_files", {"path": m[1] or "."})),
    (re.compile(r"(?:read|show|cat)\s+(\S+)"), lambda m: Plan("read_file", {"path": m[1]})),
    (
        re.compile(r"write\s+(\S+)\s+(.+)", re.DOTALL),
        lambda m: Plan("write_file", {"path": m[1], "text": m[2]}),
    ),
    (re.compile(r"delete\s+all(?:\s+files)?"), lambda _: Plan("delete_files", {"pattern": "*"})),
    (re.compile(r"delete\s+(\S*[*?\[]\S*)"), lambda m: Plan("delete_files", {"pattern": m[1]})),
    (re.compile(r"(?:delete|rm)\s+(\S+)"), lambda m: Plan("delete_file", {"path": m[1]})),
    (re.compile(r"(?:run|\$)\s+(.+)", re.DOTALL), lambda m: Plan("bash", {"command": m[1]})),
)


def understand(text: str) -> Plan | Question | None:
    """What the text asks for, or None."""
    said = text.strip()
    if _ABOUT.fullmatch(said.casefold()):
        return Question()
    for pattern, plan in _COMMANDS:
        if found := re.compile(pattern.pattern, pattern.flags | re.IGNORECASE).fullmatch(said):
            return plan(found)
    return None
