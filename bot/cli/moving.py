"""`sayso init mcp CLIENT`: moves the servers of an MCP client behind the gateway, or back."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
from typing import TYPE_CHECKING

import typer

from bot.cli.common import fail
from bot.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from bot.mcp_clients import Move


def move(name: str | None, client_file: Path | None, settings: Path, folder: Path, *, yes: bool, remove: bool) -> None:
    """Move the servers of the named client behind the gateway, or back with `remove`. Exit 2 if that fails."""
    from bot.mcp_clients import McpClient, carry_out, plan, take_back, usual_file

    if name not in set(McpClient):
        fail(f"Name a client: {', '.join(McpClient)}. Nothing was written.", 2)
    client = McpClient(name)
    try:
        if remove:
            _taken_back(*take_back(client, folder))
            return
        relay = [shutil.which("sayso") or sys.argv[0], "mcp", "--config", str(settings.absolute())]
        found = plan(client, client_file or usual_file(client), settings, folder, relay)
        _show(found)
        if not yes and not (sys.stdin.isatty() and typer.confirm("Write this?")):
            fail("Nothing was written. Say --yes to write it.", 2)
        carry_out(found)
    except SettingsError as error:
        fail(str(error), 2)
    except OSError as error:
        fail(f"{error.filename} can't be written ({error.strerror}). Run the command again with --remove.", 2)
    typer.echo(f"Wrote {found.file} and {settings}; {found.backup} restores the former (--remove).")
    typer.echo("Next: restart sayso run, then the client.")


def _show(move: Move) -> None:
    """Show the changes of both files, with secrets masked, and the servers that stay with the client."""
    from hitl.cards.redaction import mask

    after = f"{move.settings.read_text('utf-8')}{move.block}"
    for file, old, new in (
        (move.file, move.before.decode(), move.after.decode()),
        (move.settings, move.settings.read_text("utf-8"), after),
    ):
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), str(file), str(file), lineterm="", n=2)
        typer.echo(mask(_hidden("\n".join(lines), move)))
    for server, argument in move.exposed:
        typer.echo(
            f"Warning: {server} has a secret in its argument {argument}, and {move.settings} would hold it as it is."
            " If the server takes it from a variable, use env_files instead."
        )
    for name, why in move.left.items():
        typer.echo(f"{name} stays with the client and isn't gated: {why}.")
    if move.left:
        typer.echo(
            f"To gate a server that stays, add it to {move.settings} by hand (docs/how-to/mcp.md), and remove it from"
            " the client."
        )


def _hidden(text: str, move: Move) -> str:
    """Return the text without private values of servers, even if they don't look like secrets."""
    for value in sorted(filter(None, move.private | set(move.secrets.values())), key=len, reverse=True):
        for written in (json.dumps(value), json.dumps(value, ensure_ascii=False), f"'{value}'"):
            text = text.replace(written, '"[hidden]"').replace(f"={written[1:]}", '=[hidden]"')
    return text


def _taken_back(file: Path, whole: bool) -> None:
    typer.echo(f"Restored {file} as it was.")
    if not whole:
        typer.echo(
            "The settings were edited or taken away since the move. If they have tables [mcp.servers...], these"
            " stay, with the files of their secrets. Remove what you don't need."
        )
