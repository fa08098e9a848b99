"""`sayso init mcp CLIENT`: moves an MCP client's servers to Sayso's gateway, or back to the client."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
from typing import TYPE_CHECKING

import typer

from bot.cli.common import fail
from bot.errors import SettingsError
from bot.wording import say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.mcp_clients import Move


def move(name: str | None, client_file: Path | None, settings: Path, folder: Path, *, yes: bool, remove: bool) -> None:
    """Move the named client's servers to the gateway. With `remove`, move them back to the client. Exit 2 if that
    fails.
    """
    from bot.files import uninterrupted
    from bot.mcp_clients import McpClient, carry_out, plan, take_back, usual_file

    if name not in set(McpClient):
        fail(say("move.client", clients=", ".join(McpClient)), 2)
    client = McpClient(name)
    try:
        if remove:
            with uninterrupted():
                _taken_back(*take_back(client, folder))
            return
        relay = [shutil.which("sayso") or sys.argv[0], "mcp", "--config", str(settings.absolute())]
        found = plan(client, client_file or usual_file(client), settings, folder, relay)
        _show(found)
        if not yes and not (sys.stdin.isatty() and typer.confirm(say("move.write"))):
            fail(say("move.not_written"), 2)
        with uninterrupted():
            carry_out(found)
            typer.echo(say("move.written", file=found.file, settings=settings, backup=found.backup))
    except SettingsError as error:
        fail(str(error), 2)
    except OSError as error:
        fail(say("move.unwritable", file=error.filename, why=error.strerror), 2)


def _show(move: Move) -> None:
    """Print the changes of the client's file and of the settings, with secrets masked, and the servers that can't be
    moved.
    """
    after = f"{move.settings.read_text('utf-8')}{move.block}"
    for file, old, new in (
        (move.file, move.before.decode(), move.after.decode()),
        (move.settings, move.settings.read_text("utf-8"), after),
    ):
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), str(file), str(file), lineterm="", n=2)
        typer.echo(_masked("\n".join(lines), move))
    for server, argument in move.exposed:
        typer.echo(say("move.exposed", server=server, argument=argument, settings=move.settings))
    for name, why in move.left.items():
        typer.echo(say("move.left", server=name, why=why))
    if move.left:
        typer.echo(say("move.by_hand", settings=move.settings))


def _masked(text: str, move: Move) -> str:
    """Return the text with secrets masked.

    In the settings, the path of a secret's file comes after the name of the secret. Such a path isn't masked.
    """
    from hitl.cards.redaction import mask

    paths = {f"<file {number} of a secret>": str(file) for number, file in enumerate(move.secrets)}
    text = _hidden(text, move)
    for stand_in, path in paths.items():
        text = text.replace(json.dumps(path, ensure_ascii=False), json.dumps(stand_in))
    text = mask(text)
    for stand_in, path in paths.items():
        text = text.replace(json.dumps(stand_in), json.dumps(path, ensure_ascii=False))
    return text


def _hidden(text: str, move: Move) -> str:
    """Return the text with each private value of the servers hidden, even if the value doesn't look like a secret."""
    for value in sorted(filter(None, move.private | set(move.secrets.values())), key=len, reverse=True):
        for written in (json.dumps(value), json.dumps(value, ensure_ascii=False), f"'{value}'"):
            text = text.replace(written, '"[hidden]"').replace(f"={written[1:]}", '=[hidden]"')
    return text


def _taken_back(file: Path, whole: bool) -> None:
    typer.echo(say("move.restored", file=file))
    if not whole:
        typer.echo(say("move.edited"))
