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
    for name, why in move.left.items():
        typer.echo(f"{name} stays with the client: {why}.")


def _hidden(text: str, move: Move) -> str:
    """Return the text without the values that are moved to files of their own, even if they don't look like secrets."""
    for value in sorted(filter(None, move.secrets.values()), key=len, reverse=True):
        text = text.replace(json.dumps(value), '"[moved to a file]"')
    return text


def _taken_back(file: Path, whole: bool) -> None:
    typer.echo(f"Restored {file} as it was.")
    if not whole:
        typer.echo(
            "The tables [mcp.servers...] in the settings were edited since and stay. Remove what you don't need."
        )
