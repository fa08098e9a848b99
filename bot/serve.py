"""`sayso run`: the composed service with its socket, from start to a clean stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

from adapters.database.folder import ATTENDED, FolderInUse, StateFolder
from bot import logs
from bot.agent import build_turns
from bot.api import serve_api
from bot.compose import compose, policy_library, sandbox_of
from bot.descriptors import fitting_connections
from bot.errors import SettingsError
from bot.platforms import Platforms
from bot.policies import Policies
from bot.reloading import Reloading
from bot.supervisor import tell
from bot.wording import say
from bot.workers.retention import RetentionWorker
from hitl.errors import SaysoError
from hitl.people import APPROVERS
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from bot.compose import TakeFolder
    from bot.settings import Settings

_log = logging.getLogger(__name__)
#: Seconds between two attempts to lock the state folder.
_LOOK_S = 0.1


async def serve(settings: Settings, source: Path | None, wait_s: float) -> None:
    """Run until SIGTERM or SIGINT. `source` is the settings file.

    If another service uses the state folder, wait at most `wait_s` seconds until it has stopped.

    Raises hitl.errors.Unavailable or SettingsError if it can't start.
    """
    logs.configure(settings.log, settings.log_level)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    async with contextlib.AsyncExitStack() as parts:
        with contextlib.suppress(_StoppedError):
            await _start(settings, source, parts, partial(_take, wait_s, stopping))
        await stopping.wait()
        tell("STOPPING=1")
        _log.info("service.stopping")
    _log.info("service.stopped")


class _StoppedError(Exception):
    """A signal asked the service to stop before the service had started."""


async def _take(wait_s: float, stopping: asyncio.Event, path: Path, keys: Path | None) -> StateFolder:
    """Return the locked state folder. If another service uses it, wait at most `wait_s` seconds until that service has
    stopped.

    A stopping service gives up the lock last, when its tools have ended, its answers are written and its ports are
    free. Raises FolderInUse at the end of the wait, and _StoppedError if a signal asks this service to stop.
    """
    clock = asyncio.get_running_loop().time
    give_up, said = clock() + wait_s, False
    while True:
        try:
            return StateFolder.open(path, keys)
        except FolderInUse as error:
            if (left := give_up - clock()) <= 0:
                raise
            if not said:
                _log.warning("service.waiting", {"pid": error.pid, "seconds": round(left)})
                said = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), min(left, _LOOK_S))
            raise _StoppedError


async def _start(settings: Settings, source: Path | None, parts: contextlib.AsyncExitStack, take: TakeFolder) -> None:
    """Start all parts in the order of their dependencies. `parts` stops them in the reverse order."""
    library = policy_library(settings.policy_folders(), resolve_hosts=settings.resolve_hosts)
    policies = Policies(library, settings.policy_name())
    servers = _mcp().build_servers(settings) if settings.mcp else None
    if servers is not None:
        parts.push_async_callback(servers.stop)

    def troubles() -> Sequence[str]:
        return [*policies.troubles(), *(servers.troubles() if servers else ())]

    platforms = Platforms(settings, troubles)
    parts.push_async_callback(platforms.close)
    traces = _traces().Traces.to(settings.traces.endpoint) if settings.traces.endpoint else None
    if traces is not None:
        parts.callback(traces.close)
    running = await compose(
        state=settings.folder("state"),
        workspace=settings.folder("workspace"),
        people=settings.directory(),
        allow=settings.tools.allow,
        limits=settings.gate_limits(),
        terms=settings.terms(),
        policies=policies,
        chats=platforms.make,
        sandbox=await asyncio.to_thread(sandbox_of, settings),
        mark=settings.mark_file(),
        keys=settings.given_keys(),
        keep_events=settings.retention.events,
        take=take,
        others=dict.fromkeys(servers.upstreams, servers) if servers else None,
    )
    parts.push_async_callback(running.close)
    turns = build_turns(settings.agent, running.service)
    if turns is not None:
        parts.push_async_callback(turns.agent.close)
    platforms.attach(running.service, turns)
    if traces is not None:
        running.store.follow(traces.heard)
    connections = fitting_connections()
    if settings.metrics.port is not None:
        await _metrics().serve_metrics(settings.metrics, running, parts, platforms.troubles, connections)

    parts.push_async_callback(policies.stop)
    await policies.start(running.store)
    reloading = Reloading(source, settings, running.service.gate, policies)
    _reload_on_hangup(reloading, parts)
    await running.service.start()
    kept = settings.retention
    retention = RetentionWorker(running.service.gate, arguments=kept.arguments, calls=kept.calls)
    parts.push_async_callback(retention.stop)
    retention.start()
    await platforms.start(parts)
    gateway = _mcp().build_gateway(running.service, servers) if servers is not None else None
    mount = _mcp().http_mount(gateway) if gateway is not None else None
    if mount is not None:
        parts.push_async_callback(mount.stop)
        await mount.start()
    await serve_api(
        running.service,
        settings.folder("runtime"),
        parts,
        http=settings.http,
        troubles=platforms.troubles,
        webhooks=platforms.routes(),
        turns=turns,
        gateway=mount,
        reload=reloading.reload,
        folder_identity=running.folder.identity,
        attended=running.folder.path / ATTENDED,
        connections=connections,
    )
    if gateway is not None:
        relays = _mcp().line_server(running.service, gateway, settings.folder("runtime"), connections)
        parts.push_async_callback(relays.stop)
        await relays.start()
    # Freeze the start-up objects, so that the garbage collector skips them. Without this, it examined them several
    # times a second under load. Each time, all answers came 50 ms later.
    gc.freeze()
    terms = {
        "agent": settings.agent.model or "offline",
        "stage": settings.stage,
        "mode": settings.mode.value,
        "policy": policies.name,
    }
    places = {
        "settings": str(source or ""),
        "socket": str(settings.folder("runtime") / SOCKET_NAME),
        "state": str(settings.folder("state")),
    }
    _log.info("service.ready", {**places, **terms})
    tell("READY=1")
    if sys.stderr.isatty():
        sys.stderr.writelines(f"{line}\n" for line in surface_lines(settings))


def surface_lines(settings: Settings) -> Iterator[str]:
    """Yield the sentences that `sayso run` prints: for each surface that is set up, its address or the places of its
    cards.
    """
    yield say("start.socket", path=settings.folder("runtime") / SOCKET_NAME)
    if settings.http.port is not None:
        yield say("start.http", host=settings.http.host, port=settings.http.port)
    people = settings.directory()
    for name, section in settings.set_up().items():
        way = getattr(section, "receive", "webhook")
        places = [
            route for route in sorted(people.named_routes()) if route.startswith(f"{name}:") or route == APPROVERS
        ]
        shown = ", ".join(places) or say("start.asked")
        yield say("start.platform", title=people.surfaces[name].title, way=way, places=shown)
    if settings.mcp:
        yield say("start.mcp", servers=", ".join(sorted(settings.mcp.servers)))


def _mcp() -> ModuleType:
    """Import the module that builds the MCP gateway. Raises SettingsError without the extra `mcp`."""
    try:
        return importlib.import_module("bot.mcp")
    except ModuleNotFoundError as error:
        raise SettingsError(say("setting.extra", what="[mcp]", module=error.name, extra="mcp")) from error


def _metrics() -> ModuleType:
    """Import the module for Prometheus metrics. Raises SettingsError without the extra `metrics`."""
    return importlib.import_module("bot.metrics")


def _traces() -> ModuleType:
    """Import the module that writes traces. Raises SettingsError without the extra `otel`."""
    return importlib.import_module("bot.traces")


def _reload_on_hangup(reloading: Reloading, parts: contextlib.AsyncExitStack) -> None:
    """From now on, each SIGHUP reloads the settings as `sayso reload` does. A refused reload is logged and recorded."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    async def reload() -> None:
        try:
            await reloading.reload()
        except SaysoError as error:
            _log.warning("service.not_reloaded", {"why": error.message})

    def begin() -> None:
        task = loop.create_task(reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGHUP, begin)
    parts.callback(loop.remove_signal_handler, signal.SIGHUP)
