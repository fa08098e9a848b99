"""Moves the MCP servers of a client behind the gateway, and back: `sayso init mcp CLIENT`.

After the move, the client's file names one server, the relay. Its former servers are in the settings; each value of an
environment or header is in a file of its own. A backup beside those files restores the client's file to the byte.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tomllib
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bot.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RELAY: Final = "sayso"
#: Matches a value that only the client can fill in: `${input:token}`, `${env:HOME}`, `$HOME`.
_FILLED_IN = re.compile(r"\$\{|\$[A-Za-z_]")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9-]+")
_TABLE = re.compile(r"\s*\[+\s*(?P<name>[^\]]+?)\s*\]+\s*(#.*)?")


class McpClient(StrEnum):
    """The MCP clients whose configuration files this module can change."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"


#: The file in which each client keeps a user's servers, and the key of the servers in that file.
_FILES: Mapping[McpClient, tuple[str, str]] = {
    McpClient.CLAUDE_DESKTOP: ("~/.config/Claude/claude_desktop_config.json", "mcpServers"),
    McpClient.CLAUDE_CODE: ("~/.claude.json", "mcpServers"),
    McpClient.CURSOR: ("~/.cursor/mcp.json", "mcpServers"),
    McpClient.VSCODE: ("~/.config/Code/User/mcp.json", "servers"),
    McpClient.CODEX: ("~/.codex/config.toml", "mcp_servers"),
}


def usual_file(client: McpClient) -> Path:
    """Return the file in which the client usually keeps its servers."""
    return Path(_FILES[client][0]).expanduser()


@dataclass(frozen=True, slots=True)
class Move:
    """A planned move: the files to write, and their contents."""

    client: McpClient
    file: Path
    before: bytes
    after: bytes
    #: The settings file. `block` is the text that is added to its end.
    settings: Path
    block: str
    #: The secret values that are moved to files: the file's path, and its content.
    secrets: Mapping[Path, str]
    backup: Path
    #: Servers that stay with the client, and the reason for each.
    left: Mapping[str, str] = field(default_factory=dict)


def plan(client: McpClient, file: Path, settings: Path, folder: Path, relay: list[str]) -> Move:
    """Plan the move of a client's servers, and write nothing. Raises SettingsError."""
    backup = folder / f"{client.value}.backup"
    if backup.exists():
        raise SettingsError(f"The servers of {client.value} were moved already. Take that back first with --remove.")
    before, taken = _read(file), _taken(settings)
    servers = _servers(client, file, before)
    left = {name: why for name, server in servers.items() if (why := _why_left(name, server))}
    moved = {name: server for name, server in servers.items() if name not in left}
    if not moved:
        raise SettingsError(f"{file} has no server that can be moved. Nothing was written.")
    names = {name: _group(name) for name in moved}
    if clash := sorted(group for group in names.values() if group in taken or list(names.values()).count(group) > 1):
        raise SettingsError(f"{settings} has a server {clash[0]} already, or would get two. Rename one first.")
    secrets: dict[Path, str] = {}
    block = "".join(_table(names[name], server, folder, secrets) for name, server in moved.items())
    after = _rewritten(client, before, moved, relay)
    return Move(client, file, before, after, settings, block, secrets, backup, left)


def carry_out(move: Move) -> None:
    """Write everything. The client's file comes last, so that an earlier failure changes nothing for the client."""
    move.backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, value in move.secrets.items():
        _write(file, value.encode())
    record = {
        "file": str(move.file),
        "before": base64.b64encode(move.before).decode(),
        "after": _hash(move.after),
        "settings": str(move.settings),
        "block": move.block,
        "secrets": [str(file) for file in move.secrets],
    }
    _write(move.backup, json.dumps(record).encode())
    with move.settings.open("a", encoding="utf-8") as handle:
        handle.write(move.block)
    _replace(move.file, move.after)


def take_back(client: McpClient, folder: Path) -> tuple[Path, bool]:
    """Restore the client's file, and remove the added block from the settings.

    Returns the client's file, and whether the block was removed from the settings: a block that somebody edited stays.
    Raises SettingsError, and changes nothing, if there is no backup or the client's file was changed since the move.
    """
    backup = folder / f"{client.value}.backup"
    try:
        record = json.loads(backup.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(f"{backup} can't be read: no servers of {client.value} were moved from here.") from error
    file, settings = Path(record["file"]), Path(record["settings"])
    before, now = base64.b64decode(record["before"]), _read(file)
    if now != before:  # If the files are equal, the move ended before it changed the client's file.
        if _hash(now) != record["after"]:
            raise SettingsError(
                f"{file} was changed since its servers were moved. Nothing was written; {backup} has it."
            )
        _replace(file, before)
    text = settings.read_text("utf-8")
    whole = record["block"] in text
    if whole:
        _replace(settings, text.replace(record["block"], "", 1).encode())
        for secret in record["secrets"]:
            Path(secret).unlink(missing_ok=True)
        backup.unlink()
    return file, whole


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingsError(f"{file} can't be read ({error.strerror}). Name the client's file with --from.") from error


def _taken(settings: Path) -> set[str]:
    try:
        values = tomllib.loads(settings.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{settings} can't be used ({error}). Write one first with sayso init.") from error
    servers = values.get("mcp", {}).get("servers", {})
    return {"workspace", "shell", *servers}


def _servers(client: McpClient, file: Path, held: bytes) -> dict[str, dict[str, Any]]:
    try:
        text = held.decode("utf-8")
        values = tomllib.loads(text) if client is McpClient.CODEX else json.loads(text)
    except ValueError as error:
        form = "TOML" if client is McpClient.CODEX else "JSON without comments"
        raise SettingsError(f"{file} isn't {form} ({error}). Nothing was written.") from error
    servers = values.get(_FILES[client][1]) if isinstance(values, dict) else None
    found = servers.items() if isinstance(servers, dict) else ()
    return {name: server for name, server in found if isinstance(server, dict) and name != RELAY}


def _why_left(name: str, server: Mapping[str, Any]) -> str | None:
    """Return why a server can't be put behind the gateway, or None if it can."""
    if not _group(name):
        return "its name has no letter or digit"
    if server.get("type") == "sse" or not (server.get("command") or server.get("url")):
        return "it has neither a command nor an address for streamable HTTP"
    if any(_FILLED_IN.search(text) for text in _texts(server)):
        return "the client fills in a part of it"
    return None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _group(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-")[:32]


def _table(group: str, server: Mapping[str, Any], folder: Path, secrets: dict[Path, str]) -> str:
    """Return one server as a table for the settings file.

    Its secret values are put into `secrets`, by the path of their file.
    """
    url = str(server.get("url") or "")
    lines = ["", f"[mcp.servers.{group}]"]
    if url:
        lines.append(f"url = {_toml(url)}")
        key, values = "header_files", {**server.get("headers", {}), **server.get("http_headers", {})}
    else:
        command = [str(server["command"]), *map(str, server.get("args", []))]
        lines.append(f"command = [{', '.join(map(_toml, command))}]")
        lines += [f"cwd = {_toml(str(server['cwd']))}"] if server.get("cwd") else []
        key, values = "env_files", server.get("env", {})
    # The files are numbered, because names that differ only in case or in special characters would share a file.
    files = {
        str(name): folder / f"{group}-{at}-{_NOT_IN_NAMES.sub('-', str(name).lower())}"
        for at, name in enumerate(values, start=1)
    }
    secrets.update({file: str(values[name]) for name, file in files.items()})
    if files:
        named = ", ".join(f"{_toml(name)} = {_toml(str(file))}" for name, file in files.items())
        lines.append(f"{key} = {{ {named} }}")
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rewritten(client: McpClient, before: bytes, moved: Mapping[str, Any], relay: list[str]) -> bytes:
    """Return the client's file with the relay in place of the moved servers. Everything else stays."""
    text, key = before.decode("utf-8"), _FILES[client][1]
    if client is McpClient.CODEX:
        return _rewritten_toml(text, moved, relay).encode()
    values = json.loads(text)
    kept = {name: server for name, server in values[key].items() if name not in moved}
    entry: dict[str, Any] = {"type": "stdio"} if client is McpClient.VSCODE else {}
    values[key] = {**kept, RELAY: {**entry, "command": relay[0], "args": relay[1:]}}
    return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode()


def _rewritten_toml(text: str, moved: Mapping[str, Any], relay: list[str]) -> str:
    """Do the same as `_rewritten` for TOML, table by table. Raises SettingsError if another table would be lost."""
    kept, drops = [], False
    for line in text.splitlines(keepends=True):
        if header := _TABLE.fullmatch(line.rstrip("\n")):
            drops = any(_is_below(header["name"], name) for name in moved)
        if not drops:
            kept.append(line)
    arguments = ", ".join(map(_toml, relay[1:]))
    after = (
        "".join(kept).rstrip("\n") + f"\n\n[mcp_servers.{RELAY}]\ncommand = {_toml(relay[0])}\nargs = [{arguments}]\n"
    )
    wanted = tomllib.loads(text)
    wanted["mcp_servers"] = {name: each for name, each in wanted["mcp_servers"].items() if name not in moved}
    wanted["mcp_servers"][RELAY] = {"command": relay[0], "args": relay[1:]}
    try:
        same = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise SettingsError("The client's file is written in a way that can't be edited safely. Nothing was written.")
    return after


def _is_below(header: str, server: str) -> bool:
    spellings = (server, f'"{server}"', f"'{server}'")
    return any(f"{header}.".startswith(f"mcp_servers.{spelling}.") for spelling in spellings)


def _hash(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()


def _write(file: Path, held: bytes) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as handle:
        os.fchmod(handle.fileno(), 0o600)
        handle.write(held)


def _replace(file: Path, held: bytes) -> None:
    """Replace a file's content in one step, and keep its mode. If it is a link, the link's target is replaced."""
    file = file.resolve()
    new = file.with_name(f".{file.name}.sayso")
    _write(new, held)
    new.chmod(file.stat().st_mode & 0o7777)
    new.replace(file)
