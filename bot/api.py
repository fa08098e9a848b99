"""Serves the API of the running service: builds the API's parts and starts its listeners."""

from __future__ import annotations

import contextlib
import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.executors.own_processes import is_kept
from adapters.terminal.surface import LOCAL
from bot.console import Console
from bot.descriptors import fitting_connections
from bot.errors import SettingsError
from bot.settings import HttpSettings
from bot.wording import say
from hitl.connections import Party
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AsyncExitStack
    from pathlib import Path
    from typing import TypeAlias

    from starlette.routing import Route

    from adapters.http.harombe import Gateway
    from adapters.http.listeners import Server
    from adapters.http.notices import Receiver
    from bot.conversation import StoredTurns
    from bot.service import Service
    from hitl.connections import Connections

    #: Reads the settings again, in the name of the given principal. Returns the policy that applies now, and the
    #: changed settings that need a restart. Raises SaysoError.
    Reload: TypeAlias = Callable[[str], Awaitable[Mapping[str, Any]]]
    Troubles: TypeAlias = Callable[[], Awaitable[Sequence[str]]]

_log = logging.getLogger(__name__)


async def untroubled() -> Sequence[str]:
    """Return (), which means no troubles. This function is the default for a service that doesn't check itself."""
    return ()


async def serve_api(  # noqa: PLR0913 - each parameter is a part, passed by keyword
    service: Service,
    folder: Path,
    parts: AsyncExitStack,
    *,
    http: HttpSettings | None = None,
    troubles: Troubles = untroubled,
    webhooks: Sequence[Route] = (),
    gateway: Gateway | None = None,
    place: str = LOCAL,
    turns: StoredTurns | None = None,
    reload: Reload | None = None,
    folder_identity: str | None = None,
    attended: Path | None = None,
    connections: Connections | None = None,
) -> Server:
    """Serve the API on a Unix socket in `folder`. If the settings name a port, serve the API and the webhooks on TCP
    too.

    Return the server. It stops when `parts` is closed.

    - `troubles` returns sentences about the faults that keep the service from gating calls.
    - `gateway` serves MCP.
    - `place` is the place in which people talk to the service's agent.
    - `turns` are the agent's stored turns, if there is an agent.
    - `reload` applies people, routes and policy again.
    - `folder_identity` is the identity of the state folder.
    - `attended` is a file in which the service notes, for the next process, which callers wait.
    - `connections` has the limits that all listeners of this process share.

    Raises Unavailable if the socket or the port can't be used, and SettingsError without the extra `http`.
    """
    try:
        from adapters.http import listeners
        from adapters.http.app import app
        from adapters.http.callers import Authenticator
        from adapters.http.connection import Limits
        from adapters.http.events import Feed
        from adapters.http.notices import Notices
        from adapters.http.operations import Operations
        from adapters.http.services import Chats
        from adapters.http.waits import Waits
    except ModuleNotFoundError as error:
        raise SettingsError(say("setting.extra.http", module=error.name)) from error

    waits = Waits()
    authenticator = Authenticator(service.gate, service.tokens)
    operations = Operations(service, waits, troubles, authenticator.check, folder_identity)
    feed = Feed(service.gate, waits.stopping, authenticator.check)
    for listener in (operations.asking.queues, operations.waiters.attendance):
        service.gate.follow(listener.changed)

    def attach(identity: str, show: Callable[[str], None]) -> Console:
        return Console(service, identity=identity, conversation=place, show=show, turns=turns)

    def stopping() -> None:
        waits.stop()
        feed.wake()

    state = {
        "operations": operations,
        "authenticator": authenticator,
        "feed": feed,
        "tokens": service.tokens,
        "reload": reload,
        "chats": Chats(attach, waits.stopping, authenticator.check),
    }
    http, path = http or HttpSettings(), folder / SOCKET_NAME
    notices = Notices(_receivers(http), service.gate.clock)
    service.gate.follow(notices.changed)
    parts.push_async_callback(notices.stop)
    served = app(troubles, webhooks, state, hosts=http.hosts, remote=_may_carry_tokens(http), gateway=gateway)
    listening = [listeners.tcp_listener(http.host, http.port)] if http.port is not None else []
    listening.append(listeners.unix_listener(path))
    parts.callback(_remove, path)
    limits = Limits(connections=connections or fitting_connections())
    server = listeners.Server(served, listening, limits, stopping=stopping, party_of=partial(party_of, service))
    parts.push_async_callback(server.stop)
    if attended is not None:
        await operations.waiters.attendance.resume(attended, service.store.get)
    await server.start()
    if http.port is not None:
        _log.info("http.ready", {"host": http.host, "port": server.port, "tokens": _may_carry_tokens(http)})
    return server


def _receivers(http: HttpSettings) -> dict[str, Receiver]:
    """Return token identity -> the receiver of the agent's notices. Raises SettingsError if a signing secret has a
    wrong form.
    """
    from adapters.http.notices import Receiver, key_of

    found = {}
    for name, secret in http.signing_secrets().items():
        try:
            found[f"token:{name}"] = Receiver(name, http.notify[name].url, key_of(secret))
        except ValueError as error:
            raise SettingsError(say("setting.notify.secret", name=name)) from error
    return found


def _may_carry_tokens(http: HttpSettings) -> bool:
    """Return whether bearer tokens are accepted over TCP: only on the loopback, or behind the operator's proxy with
    TLS.
    """
    return http.proxy or http.on_loopback


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def party_of(service: Service, uid: int, pid: int) -> Party:
    """Return the `Party` of a peer on a Unix socket, by its user id and its process id.

    A command that this service runs has the service's user id, but gets `Party.COMMAND`, which has no rights.
    """
    if uid == os.getuid() and is_kept(pid):
        return Party.COMMAND
    people = service.gate.people
    return Party.LISTED if people.is_listed(people.principal(f"local:{uid}")) else Party.UNLISTED
