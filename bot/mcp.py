"""Builds the configured MCP servers and the gateway in front of them, for `sayso run`."""

from __future__ import annotations

import logging
import os
import shutil
from functools import partial
from typing import TYPE_CHECKING

from adapters.executors.confinement import kept_program
from adapters.http.callers import CALLER
from adapters.mcp.callers import Caller
from adapters.mcp.executor import Servers
from adapters.mcp.gateway import Gateway
from adapters.mcp.http import HttpMount
from adapters.mcp.lines import LineServer
from adapters.mcp.targets import Target
from bot.api import party_of
from bot.errors import SettingsError
from bot.settings import read_secret
from bot.wording import say
from hitl.connections import Party
from hitl.credentials import Scope as Credentials
from hitl.errors import NotApprover
from hitl.outcomes import Refusal, fact
from hitl.question import GROUP
from sayso_client.relay import MCP_SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from starlette.types import Scope

    from bot.service import Service
    from bot.settings import McpServerSettings, Settings
    from hitl.connections import Connections

#: Names that an MCP server can't have, because they are tool groups already: the workspace's tools, the group of `sayso
#: ask`, and the service's own group.
_TAKEN = frozenset({"workspace", "shell", GROUP})
#: Loggers that log each request: the address of a server, which may hold its key, and the arguments and results of
#: calls. Their lines below the level of a warning are dropped.
_TALKATIVE = ("httpx2", "httpcore2", "mcp")
#: Seconds after which a server that doesn't end is killed. The MCP library itself waits two seconds for it.
_GRACE_S = 1.0
#: The origin and the credential of calls that arrive over the service's MCP socket.
_LOCAL, _SOCKET = "local", "socket"


def build_servers(settings: Settings) -> Servers:
    """Return the MCP servers that the settings describe. No server is started yet. Raises SettingsError."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    configured = settings.mcp.servers if settings.mcp else {}
    targets = [_target(name, server) for name, server in configured.items()]
    return Servers(targets, folder=settings.folder("state") / "mcp", keep=_kept)


def build_gateway(service: Service, servers: Servers) -> Gateway:
    """Return the MCP gateway of a running service, in front of these servers."""
    return Gateway(service, servers)


def line_server(service: Service, gateway: Gateway, folder: Path, connections: Connections) -> LineServer:
    """Return the server for `sayso mcp`, the relay that this machine's users run, on a socket in the service's runtime
    folder.

    `connections` limits the connections of all listeners of this process together.
    """

    async def admit(uid: int, party: Party) -> Caller:
        identity = f"local:{uid}"
        if party is not Party.LISTED:
            raise await service.gate.refuse_peer(identity, command=party is Party.COMMAND)
        return Caller(service.gate.people.principal(identity), _LOCAL, _SOCKET)

    def check(caller: Caller) -> None:
        if not service.gate.people.is_listed(caller.principal):
            raise NotApprover(fact(Refusal.REQUESTER, who=caller.principal))

    return LineServer(folder / MCP_SOCKET_NAME, gateway, connections, partial(party_of, service), admit, check)


def http_mount(gateway: Gateway) -> HttpMount:
    """Return the gateway as an application for the path `/mcp`.

    The HTTP application that contains it authenticates callers. This application checks that a caller may ask.
    """

    def who(scope: Scope) -> Caller:
        caller = scope["state"][CALLER]
        scope["app"].state.authenticator.check(caller)
        if Credentials.AGENT not in caller.scopes:
            raise NotApprover(fact(Refusal.SCOPE, who=caller.identity))
        return Caller(caller.principal, caller.conversation, caller.name or _SOCKET)

    return HttpMount(gateway, who)


def _target(name: str, server: McpServerSettings) -> Target:
    if name in _TAKEN:
        raise SettingsError(say("setting.mcp.taken", name=name))
    env_files = _read(name, "env_files", server.env_files)
    header_files = _read(name, "header_files", server.header_files)
    passed = {variable: _passed(name, variable) for variable in server.env_pass}
    return Target(
        name,
        command=tuple(server.command),
        url=server.url,
        env={**server.env, **env_files, **passed},
        headers={**server.headers, **header_files},
        secrets=(*env_files.values(), *header_files.values(), *passed.values()),
        cwd=str(server.cwd.expanduser()),
        start_s=server.start_s,
    )


def _read(server: str, key: str, files: Mapping[str, Path]) -> dict[str, str]:
    return {
        name: read_secret(f"mcp.servers.{server}.{key}", name, file).get_secret_value() for name, file in files.items()
    }


def _passed(server: str, variable: str) -> str:
    if variable.upper().startswith("SAYSO_"):
        raise SettingsError(say("setting.mcp.own", server=server, variable=variable))
    if variable not in os.environ:
        raise SettingsError(say("setting.mcp.unset", server=server, variable=variable))
    return os.environ[variable]


def _kept(command: Sequence[str]) -> Sequence[str]:
    """Return the command line that starts an MCP server as the child of a keeper, which is a small process.

    The keeper ends the server when this service ends. The server has the service's user id, but the service recognises
    processes under a keeper and refuses their requests.
    """
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(2, f"{command[0]} isn't installed")
    return kept_program([os.path.abspath(program), *command[1:]], _GRACE_S)  # noqa: PTH100 - `Path.resolve` would follow links, which must stay as they are
