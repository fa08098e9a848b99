"""Moves the MCP servers of a client behind the gateway, and back: `sayso init mcp CLIENT`.

After the move, the client's file names one server, the relay. The client's former servers are in the settings. Each
value of their environments and headers is in a separate file. A backup in the folder of these files can restore the
client's file exactly.
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
from bot.files import replace, write_private
from bot.toml import read_toml
from bot.wording import say
from sayso_client.errors import why_unread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RELAY: Final = "sayso"
#: Matches a value that only the client can complete: `${input:token}`, `${env:HOME}`, `$HOME`.
_FILLED_IN = re.compile(r"\$\{|\$[A-Za-z_]")
#: Matches the name of an argument whose value is a secret: `--api-key`, `--token`, and `API_KEY` in `API_KEY=...`.
_SECRET = re.compile(r"-{0,2}[\w-]*(?:key|token|secret|password)", re.IGNORECASE)
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
#: The file in a project's folder in which a client keeps servers for that project alone.
_PROJECT_FILES: Mapping[McpClient, str] = {
    McpClient.CLAUDE_CODE: ".mcp.json",
    McpClient.CURSOR: ".cursor/mcp.json",
    McpClient.VSCODE: ".vscode/mcp.json",
    McpClient.CODEX: ".codex/config.toml",
}
#: Keys of a server's entry in the client's file that move with the server behind the gateway.
_MOVED_KEYS = frozenset({"type", "command", "args", "env", "cwd", "url", "headers", "http_headers"}) | {
    "bearer_token_env_var",
    "startup_timeout_sec",
    "enabled",
    "disabled",
}
#: Keys that the move drops. `timeout` and `tool_timeout_sec` say how long the client waits for this server, but after
#: the move the client waits for the relay. `gallery` and `version` say where VS Code found the server.
_DROPPED_KEYS = frozenset({"timeout", "tool_timeout_sec", "gallery", "version"})
_TYPES = frozenset({None, "stdio", "http", "streamable-http", "streamableHttp"})


def usual_file(client: McpClient) -> Path:
    """Return the usual file of the client's servers."""
    return Path(_FILES[client][0]).expanduser()


@dataclass(frozen=True, slots=True)
class Server:
    """A server in a client's file."""

    name: str
    values: Mapping[str, Any]
    #: The keys in the client's file that lead to the table of servers, such as ("projects", FOLDER, "mcpServers").
    place: tuple[str, ...]
    #: The folder of the project to which the server belongs, or '' if it belongs to all projects of the user.
    project: str = ""

    @property
    def label(self) -> str:
        """The server's name for people, unique in the file."""
        return say("move.of_project", name=self.name, project=self.project) if self.project else self.name


@dataclass(frozen=True, slots=True)
class Move:
    """A planned move of a client's MCP servers behind the gateway: the files to write, and their contents."""

    client: McpClient
    file: Path
    before: bytes
    after: bytes
    #: The settings file. `block` is the text that is added to its end.
    settings: Path
    block: str
    #: The secret values that move to separate files: path -> content.
    secrets: Mapping[Path, str]
    backup: Path
    #: Servers that stay with the client and aren't gated, and the reason for each.
    left: Mapping[str, str] = field(default_factory=dict)
    #: (server, argument) of each argument whose value looks like a secret and will be in the settings.
    exposed: Sequence[tuple[str, str]] = ()
    #: The private values of all servers: their environments, headers and secret arguments. They must not be shown to
    #: anybody.
    private: frozenset[str] = frozenset()


def plan(client: McpClient, file: Path, settings: Path, folder: Path, relay: list[str]) -> Move:
    """Return the planned move of a client's servers, and write nothing.

    `file` is the client's file, `settings` is the settings file, `folder` gets the files of secrets and the backup, and
    `relay` is the relay's command line. Raises SettingsError.
    """
    file, settings, folder = file.absolute(), settings.absolute(), folder.absolute()
    backup = folder / f"{client.value}.backup"
    if backup.exists():
        raise SettingsError(say("move.already", client=client.value))
    before, taken = _read(file), _taken(settings)
    values = _parsed(client, file, before)
    servers = _servers(client, values)
    left = {server.label: why for server in servers if (why := _why_left(server))}
    moved = [server for server in servers if server.label not in left]
    left |= _of_projects(client, values, file)
    if not moved:
        stay = [say("move.left", server=name, why=why) for name, why in left.items()]
        raise SettingsError("\n".join([say("move.nothing", file=file), *stay]))
    names = _groups(moved)
    if clash := sorted(group for group in names if group in taken or names.count(group) > 1):
        raise SettingsError(say("move.clash", settings=settings, server=clash[0]))
    secrets: dict[Path, str] = {}
    block = "".join(_table(group, server, folder, secrets) for group, server in zip(names, moved, strict=True))
    after = _rewritten(client, before, moved, relay)
    exposed = [(server.label, name) for server in moved for name, _ in _secret_arguments(server.values)]
    private = frozenset(value for server in servers for value in _private(server.values) if value)
    return Move(client, file, before, after, settings, block, secrets, backup, left, exposed, private)


def carry_out(move: Move) -> None:
    """Write the files of a move.

    The client's file comes last: if an earlier write fails, nothing changes for the client.
    """
    move.backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, value in move.secrets.items():
        write_private(file, value.encode())
    record = {
        "file": str(move.file),
        "before": base64.b64encode(move.before).decode(),
        "after": _hash(move.after),
        "settings": str(move.settings),
        "block": move.block,
        "secrets": [str(file) for file in move.secrets],
    }
    write_private(move.backup, json.dumps(record).encode())
    replace(move.settings, move.settings.read_bytes() + move.block.encode())
    replace(move.file, move.after)


def take_back(client: McpClient, folder: Path) -> tuple[Path, bool]:
    """Restore the client's file, and remove the added block from the settings.

    Return the client's file, and whether the block was removed. If somebody edited the block, the block and the files
    of its secrets stay. If the settings file no longer exists, the files of the secrets stay too.

    Raises SettingsError, and changes nothing, if there is no backup, if the settings can't be read or if the client's
    file was changed since the move.
    """
    backup = folder / f"{client.value}.backup"
    try:
        record = json.loads(backup.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(say("move.no_backup", file=backup, client=client.value)) from error
    file, settings = Path(record["file"]), Path(record["settings"])
    text = _settings_text(settings, file)
    before, now = base64.b64decode(record["before"]), _read(file)
    if now != before:  # If the file is unchanged, the move failed before it wrote this file.
        if _hash(now) != record["after"]:
            raise SettingsError(say("move.changed", file=file, backup=backup))
        replace(file, before)
    whole = record["block"] in text
    if whole:
        _without_block(settings, text.replace(record["block"], "", 1), file)
        for secret in record["secrets"]:
            Path(secret).unlink(missing_ok=True)
    backup.unlink()
    return file, whole


def _settings_text(settings: Path, file: Path) -> str:
    """Return the text of the settings, or '' if the file no longer exists. Raises SettingsError if it can't be read.

    Older backups have a relative path. From another folder, such a path finds no file, although the file still exists.
    """
    try:
        return settings.read_text("utf-8")
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and settings.is_absolute():
            return ""
        key = "move.not_restored" if settings.is_absolute() else "move.not_restored.folder"
        raise SettingsError(say(key, settings=settings, why=why_unread(error), file=file)) from error


def _without_block(settings: Path, text: str, restored: Path) -> None:
    """Write `text`, the settings without the moved servers, to the settings file. Raises SettingsError."""
    try:
        replace(settings, text.encode())
    except OSError as error:
        told = say("move.half_restored", restored=restored, settings=settings, why=error.strerror)
        raise SettingsError(told) from error


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingsError(say("move.unreadable", file=file, why=error.strerror)) from error


def _taken(settings: Path) -> set[str]:
    try:
        values = read_toml(settings)
    except OSError as error:
        raise SettingsError(say("move.no_settings", settings=settings, why=error.strerror)) from error
    servers = values.get("mcp", {}).get("servers", {})
    return {"workspace", "shell", *servers}


def _parsed(client: McpClient, file: Path, held: bytes) -> dict[str, Any]:
    try:
        text = held.decode("utf-8")
        values = tomllib.loads(text) if client is McpClient.CODEX else json.loads(text)
    except ValueError as error:
        key = "move.no_toml" if client is McpClient.CODEX else "move.no_json"
        raise SettingsError(say(key, file=file, why=why_unread(error))) from error
    return values if isinstance(values, dict) else {}


def _servers(client: McpClient, values: Mapping[str, Any]) -> list[Server]:
    """Return the servers of a client's file, the servers for all projects first.

    By default, Claude Code gives a server the scope `local`: the server is for one project. These servers are in the
    same file.
    """
    key = _FILES[client][1]
    found = [Server(name, each, (key,)) for name, each in _tables(values.get(key))]
    projects = _tables(values.get("projects")) if client is McpClient.CLAUDE_CODE else ()
    for project, held in projects:
        found += [Server(name, each, ("projects", project, key), project) for name, each in _tables(held.get(key))]
    return [server for server in found if server.name != RELAY]


def _tables(values: Any) -> list[tuple[str, dict[str, Any]]]:
    items = values.items() if isinstance(values, dict) else ()
    return [(name, each) for name, each in items if isinstance(each, dict)]


def _of_projects(client: McpClient, values: Mapping[str, Any], file: Path) -> dict[str, str]:
    """Return the name of each server in a project's file -> the reason why the server stays there. This module never
    changes these files.

    The search covers the current folder, and all projects that Claude Code knows.
    """
    known = [name for name, _ in _tables(values.get("projects"))] if client is McpClient.CLAUDE_CODE else []
    found: dict[str, str] = {}
    for folder in dict.fromkeys([Path.cwd(), *map(Path, known)]):
        held = folder / _PROJECT_FILES[client] if client in _PROJECT_FILES else file
        try:
            if held == file or not held.is_file():
                continue
            servers = _servers(client, _parsed(client, held, _read(held)))
        except (SettingsError, OSError):
            found[str(held)] = say("move.why.unreadable")
            continue
        found |= {say("move.in_file", name=server.name, file=held): say("move.why.project") for server in servers}
    return found


def _why_left(server: Server) -> str | None:
    """Return the reason why a server stays with the client, or None if it can be moved behind the gateway."""
    values = server.values
    if not _group(server.name):
        return say("move.why.name")
    if values.get("type") not in _TYPES or not (values.get("command") or values.get("url")):
        return say("move.why.kind")
    if unknown := sorted(values.keys() - _MOVED_KEYS - _DROPPED_KEYS):
        return say("move.why.setting", names=", ".join(unknown))
    if values.get("enabled", True) is not True or values.get("disabled", False) is not False:
        return say("move.why.off")
    token = values.get("bearer_token_env_var")
    if token and not os.environ.get(str(token)):
        return say("move.why.token", variable=token)
    return say("move.why.filled") if any(map(_FILLED_IN.search, _texts(values))) else None


def _groups(moved: Sequence[Server]) -> list[str]:
    """Return the tool group of each server.

    If the name of a project's server is taken, the project's name is added to it.
    """
    names: list[str] = []
    for server in moved:
        group = _group(server.name)
        if server.project and group in names:
            group = _group(f"{server.name}-{Path(server.project).name}")
        names.append(group)
    return names


def _secret_arguments(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (name, value) of each argument that looks like a secret, as `--api-key VALUE` and `--api-key=VALUE`."""
    found: list[tuple[str, str]] = []
    arguments = [str(each) for each in values.get("args") or ()]
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        name, equals, value = argument.partition("=")
        if _SECRET.fullmatch(name) and (equals or name.startswith("-")):
            found.append((name, value if equals else following))
    return [(name, value) for name, value in found if value]


def _private(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of a server's environment, headers and secret arguments."""
    for key in ("env", "headers", "http_headers"):
        yield from _texts(values.get(key))
    yield from (value for _, value in _secret_arguments(values))


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


def _table(group: str, found: Server, folder: Path, secrets: dict[Path, str]) -> str:
    """Return the settings file's table for one server.

    The server's secret values are added to `secrets` (path of the file -> value).
    """
    server = found.values
    url = str(server.get("url") or "")
    lines = ["", f"[mcp.servers.{group}]"]
    if url:
        lines.append(f"url = {_toml(url)}")
        key, values = "header_files", {**server.get("headers", {}), **server.get("http_headers", {})}
        if token := server.get("bearer_token_env_var"):
            values["Authorization"] = f"Bearer {os.environ[token]}"
    else:
        command = [str(server["command"]), *map(str, server.get("args", []))]
        lines.append(f"command = [{', '.join(map(_toml, command))}]")
        cwd = str(server.get("cwd") or found.project)
        lines += [f"cwd = {_toml(cwd)}"] if cwd else []
        key, values = "env_files", server.get("env", {})
    # The number in a file's name is needed, because names that differ only in case or in special characters would give
    # the same file.
    files = {
        str(name): folder / f"{group}-{at}-{_NOT_IN_NAMES.sub('-', str(name).lower())}"
        for at, name in enumerate(values, start=1)
    }
    secrets.update({file: str(values[name]) for name, file in files.items()})
    lines += [f"start_s = {server['startup_timeout_sec']}"] if server.get("startup_timeout_sec") else []
    if files:
        named = ", ".join(f"{_toml(name)} = {_toml(str(file))}" for name, file in files.items())
        lines.append(f"{key} = {{ {named} }}")
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rewritten(client: McpClient, before: bytes, moved: Sequence[Server], relay: list[str]) -> bytes:
    """Return the client's file with the relay in place of the moved servers. Everything else stays."""
    text, key = before.decode("utf-8"), _FILES[client][1]
    if client is McpClient.CODEX:
        return _rewritten_toml(text, [server.name for server in moved], relay).encode()
    values = json.loads(text)
    for server in moved:
        table = values
        for step in server.place:
            table = table[step]
        del table[server.name]
    entry: dict[str, Any] = {"type": "stdio"} if client is McpClient.VSCODE else {}
    values[key] = {**values.get(key, {}), RELAY: {**entry, "command": relay[0], "args": relay[1:]}}
    return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode()


def _rewritten_toml(text: str, moved: Sequence[str], relay: list[str]) -> str:
    """Return the client's TOML file with the relay in place of the moved servers, table by table. Raises SettingsError
    if this would change another table.

    If somebody has added the relay by hand, its table is replaced.
    """
    kept, drops = [], False
    for line in text.splitlines(keepends=True):
        if header := _TABLE.fullmatch(line.rstrip("\n")):
            drops = any(_is_below(header["name"], name) for name in (*moved, RELAY))
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
        raise SettingsError(say("move.unsafe"))
    return after


def _is_below(header: str, server: str) -> bool:
    spellings = (server, f'"{server}"', f"'{server}'")
    return any(f"{header}.".startswith(f"mcp_servers.{spelling}.") for spelling in spellings)


def _hash(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()
