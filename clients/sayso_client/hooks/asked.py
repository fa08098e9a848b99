"""A host's question about one tool call, in one form for all hosts. Each host's file builds it from an event."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: All keys under which hosts name a tool. An event with two of these keys is refused as ambiguous.
_NAMES = ("tool_name", "toolName", "toolCall", "tool")


class NotUnderstoodError(Exception):
    """The host isn't known to send such an event, so it isn't clear which call would run."""


class Asked:
    """A tool call that a host is about to make.

    `key` is the same whenever the host asks about this very call again, and empty if the host has no id for it.
    `must_ask` says that the host itself wants a person's answer. `tools` is the tool group of an MCP server, if the
    host names the server. `inside` is the type or the id of the sub-agent that makes the call.
    """

    __slots__ = ("args", "cwd", "inside", "key", "must_ask", "session", "tool", "tools")

    def __init__(
        self,
        tool: str,
        args: Mapping[str, Any],
        cwd: str,
        session: str = "",
        key: str = "",
        *,
        must_ask: bool = False,
        inside: str = "",
    ) -> None:
        self.tool = tool
        self.args = args
        self.cwd = cwd
        self.session = session
        self.key = key
        self.must_ask = must_ask
        self.tools = ""
        self.inside = inside


def text(event: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return the text under a key of the event.

    Raises NotUnderstoodError if the key is missing and there is no default.
    """
    found = event.get(name, default)
    if not isinstance(found, str) or (default is None and not found):
        raise NotUnderstoodError(name)
    return found


def arguments(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the tool's arguments from the event. Raises NotUnderstoodError if they aren't an object."""
    found = event.get(name)
    if not isinstance(found, dict):
        raise NotUnderstoodError(name)
    return found


def inside(event: Mapping[str, Any], *names: str) -> str:
    """Return the first text under these keys, which name the sub-agent that makes a call, or ''."""
    return next((found for name in names if isinstance(found := event.get(name), str) and found), "")


def only(event: Mapping[str, Any], name: str) -> None:
    """Raise NotUnderstoodError if the event names its tool under another key too."""
    if [key for key in _NAMES if key in event] != [name]:
        raise NotUnderstoodError(name)
