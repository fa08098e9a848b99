"""The offline agent: it understands a few commands, and turns each command into a tool call. It decides no call.

The offline agent takes the place of a model, so that people can try the whole service without an account, and so that
tests have an agent that behaves predictably.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hitl.cards.wording import Wording
    from hitl.ports import Turn

TOOLS = "workspace"


class Plan(Struct, frozen=True):
    """A tool call that the agent wants to make."""

    tool: str
    args: Mapping[str, object]


_COMMANDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Plan]], ...] = tuple(
    (re.compile(pattern, re.DOTALL | re.IGNORECASE), plan)
    for pattern, plan in (
        (r"(?:list|ls)(?:\s+(\S+))?", lambda m: Plan("list_files", {"path": m[1] or "."})),
        (r"(?:read|show|cat)\s+(\S+)", lambda m: Plan("read_file", {"path": m[1]})),
        (r"write\s+(\S+)\s+(.+)", lambda m: Plan("write_file", {"path": m[1], "text": m[2]})),
        (r"delete\s+all(?:\s+files)?", lambda _: Plan("delete_files", {"pattern": "*"})),
        (r"delete\s+(\S*[*?\[]\S*)", lambda m: Plan("delete_files", {"pattern": m[1]})),
        (r"(?:delete|rm)\s+(\S+)", lambda m: Plan("delete_file", {"path": m[1]})),
        (r"(?:run|\$)\s+(.+)", lambda m: Plan("bash", {"command": m[1]})),
    )
)


class Offline:
    """An agent without a model.

    The agent reads the text of a turn as one command, and makes that command's tool call. If the text isn't a command,
    the agent makes no call. The service sends the outcome to people.
    """

    name = "offline"

    def help(self, wording: Wording) -> str:
        """Return the list of commands, as a text for people."""
        return wording.say("offline.help")

    def understands(self, text: str) -> bool:
        """Return whether the text is one of the commands."""
        return understand(text) is not None

    async def take(self, turn: Turn) -> str:
        """Make the call that the command asks for, and return ''.

        Raises hitl.errors.SaysoError if the call can't be asked for.
        """
        plan = understand(turn.text)
        if plan is not None:
            await turn.call(TOOLS, plan.tool, plan.args)
        return ""


def understand(text: str) -> Plan | None:
    """Return the call that a command asks for, or None for any other text."""
    said = text.strip()
    for pattern, plan in _COMMANDS:
        if found := pattern.fullmatch(said):
            return plan(found)
    return None
