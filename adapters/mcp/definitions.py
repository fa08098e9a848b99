"""What a server declares of its tools: which of them may be called, and what the digest of a call binds."""

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

#: What reading a resource and getting a prompt are called as tools. No server's tool may have these names.
READ_RESOURCE: Final = "resources/read"
GET_PROMPT: Final = "prompts/get"
OPERATIONS: Final = (READ_RESOURCE, GET_PROMPT)
#: What a changed definition means. Icons and other decoration of a tool aren't part of what people agreed to.
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
    """Return the tools that can be called, by name. A tool that can't be told from another one is left out, and logged.

    So is a tool whose name is empty, too long, unprintable or one of OPERATIONS, or whose declaration can't be hashed.
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
    """Return what is known of an operation that the protocol has beside tools, or None for any other name."""
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
    # Never idempotent: a server's hint isn't the operator's word, and nothing is run again because of a hint.
    return ToolInfo(target.executor, definition, schema=written["inputSchema"], annotations=annotations, foreign=True)


def _hashed(declaration: object) -> str:
    return hashlib.sha256(canonical(declaration)).hexdigest()


class Shelf:
    """What each server declared last, one file a server: known again after a restart, before the server is started.

    A call that was asked before the restart can then be judged and approved at once. Whether the definition is still
    the same is looked at when the call runs, with the server that is there then.
    """

    def __init__(self, folder: Path | None) -> None:
        """`folder` None keeps nothing."""
        self._folder = folder

    def read(self, server: str) -> Sequence[Tool]:
        """Return the tools, none where no file is there or the file can't be used."""
        if self._folder is None:
            return ()
        try:
            kept = json.loads(self._file(self._folder, server).read_text("utf-8"))
            return [Tool.model_validate(tool) for tool in kept]
        except (OSError, ValueError, TypeError, ValidationError):
            return ()

    def write(self, server: str, tools: Iterable[Tool]) -> None:
        """Keep the tools. A failure is logged: calls still run, but not before the server is started again."""
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
    """Return the names that clients see, each with its server and the server's own name for it.

    A name is the server's own, unless another server or this one (`reserved`) has the same: then SERVER_NAME. Where
    that isn't unique either, it is left out: two things must never be called by one name.
    """
    everything = [(server, name) for server, names in listed.items() for name in names]
    own = Counter([name for _, name in everything] + list(reserved))
    shown = [(name if own[name] == 1 else f"{server}_{name}", server, name) for server, name in everything]
    counts = Counter([name for name, _, _ in shown] + list(reserved))
    return {as_shown: (server, name) for as_shown, server, name in shown if counts[as_shown] == 1}
