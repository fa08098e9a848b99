"""Reads a server's declarations of its tools: which tools can be called, and what the digest of a call covers."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mcp_types import Tool
from pydantic import ValidationError

from hitl.call import ToolInfo
from hitl.errors import InvalidConfirmation
from hitl.proof.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from adapters.mcp.targets import Target

_log = logging.getLogger(__name__)

#: The tool names for reading a resource and getting a prompt. No server's tool may have these names.
READ_RESOURCE: Final = "resources/read"
GET_PROMPT: Final = "prompts/get"
OPERATIONS: Final = (READ_RESOURCE, GET_PROMPT)
#: The fields that define a tool. The digest covers these fields, but not icons and other decoration.
_DEFINING = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_LONGEST_NAME = 128
_MOST_TOOLS = 2000


@dataclass(frozen=True, slots=True)
class Declared:
    """One tool as its server declares it."""

    tool: Tool
    info: ToolInfo


def declared(target: Target, tools: Sequence[Tool]) -> dict[str, Declared]:
    """Return the tools that can be called, by name. Tools that share a name are left out, and logged.

    A tool is also left out if its name is empty, too long, unprintable or in OPERATIONS, or if its declaration can't be
    hashed.
    """
    counts = Counter(tool.name for tool in tools)
    found: dict[str, Declared] = {}
    for tool in tools[:_MOST_TOOLS]:
        info = _info(target, tool) if _is_fit(tool.name) and counts[tool.name] == 1 else None
        if info is None:
            _log.warning("upstream.tool_left_out", {"server": target.name, "tool": tool.name[:_LONGEST_NAME]})
        else:
            found[tool.name] = Declared(tool, info)
    return found


def operation(target: Target, name: str) -> ToolInfo | None:
    """Return the information about an operation in OPERATIONS, or None for any other name."""
    return ToolInfo(target.executor, _hashed([name])) if name in OPERATIONS else None


def _is_fit(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_NAME and name.isprintable() and name == name.strip() and name not in OPERATIONS


def _info(target: Target, tool: Tool) -> ToolInfo | None:
    written = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    hints = written.get("annotations") or {}
    annotations = {hint: hints[hint] for hint in _HINTS if isinstance(hints.get(hint), bool)}
    try:
        definition = _hashed({key: written.get(key) for key in _DEFINING})
    except InvalidConfirmation:
        return None
    # The server's hint doesn't set `idempotent`, because only the operator's registry can allow a second run of a call.
    return ToolInfo(target.executor, definition, schema=written["inputSchema"], annotations=annotations, foreign=True)


def _hashed(declaration: object) -> str:
    return hashlib.sha256(canonical(declaration)).hexdigest()


class Shelf:
    """Stores the latest tool declarations of each server in a file, so that they are known after a restart.

    So after a restart, the policy can decide a call, and people can approve it, even if the call's server hasn't
    started yet. When the call runs, its tool's definition is compared with the definition that the server lists at that
    time.
    """

    def __init__(self, folder: Path | None) -> None:
        """Store the declarations in `folder`. If `folder` is None, store no declarations."""
        self._folder = folder

    def read(self, server: str) -> Sequence[Tool]:
        """Return the stored tools, or nothing if the file doesn't exist or can't be read."""
        if self._folder is None:
            return ()
        try:
            kept = json.loads(self._file(self._folder, server).read_text("utf-8"))
            return [Tool.model_validate(tool) for tool in kept]
        except (OSError, ValueError, TypeError, ValidationError):
            return ()

    def write(self, server: str, tools: Iterable[Tool]) -> None:
        """Store the tools. If the file can't be written, log a warning and continue.

        After the next restart, the service then knows the tools only after the server has started.
        """
        if self._folder is None:
            return
        text = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])
        file = self._file(self._folder, server)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(file, text)
        except OSError as error:
            _log.warning("upstream.not_kept", {"server": server, "why": str(error.strerror)})

    @staticmethod
    def _file(folder: Path, server: str) -> Path:
        return folder / f"{server}.json"


def _replace(file: Path, text: str) -> None:
    new = file.with_suffix(".new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as handle:
        handle.write(text)
    new.replace(file)


def shown_names(listed: Mapping[str, Iterable[str]], reserved: Iterable[str] = ()) -> dict[str, tuple[str, str]]:
    """Return the names under which clients see tools or prompts, each with its server and the server's own name for it.

    The name for clients is the server's own name, unless another server or this gateway (`reserved`) uses that name
    too. In that case the name is SERVER_NAME. If SERVER_NAME isn't unique either, the tool or prompt is left out,
    because two of them must never have the same name.
    """
    everything = [(server, name) for server, names in listed.items() for name in names]
    own = Counter([name for _, name in everything] + list(reserved))
    shown = [(name if own[name] == 1 else f"{server}_{name}", server, name) for server, name in everything]
    counts = Counter([name for name, _, _ in shown] + list(reserved))
    return {as_shown: (server, name) for as_shown, server, name in shown if counts[as_shown] == 1}
