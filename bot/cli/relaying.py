"""`sayso mcp`: the relay program that an MCP client starts, so that its tool calls go through the gate."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bot.cli.common import Config, SocketFile, socket_path

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the command `mcp`."""
    app.command()(mcp)


def mcp(config: Config = None, socket: SocketFile = None) -> None:
    """Relay an MCP client's messages to the gate.

    An MCP client starts this command, and exchanges MCP messages with it on standard input and output. The command only
    passes the messages to the running service. The service has the servers and their secrets: see docs/how-to/mcp.md.

    Example: claude mcp add sayso -- sayso mcp
    """
    from sayso_client.relay import MCP_SOCKET_NAME, relay

    path = socket_path(config, socket).with_name(MCP_SOCKET_NAME)
    relay(path, sys.stdin.fileno(), sys.stdout.fileno())
