"""Builds the service from concrete classes.

Each dependency is an argument. By default, the dependency is an object of the class that `sayso run` uses.
"""

from __future__ import annotations

import logging
import os
import secrets
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from adapters.agents.offline import TOOLS
from adapters.database.folder import StateFolder
from adapters.executors.groups import Groups
from bot.clock import SystemClock
from bot.database import open_store
from bot.names import names_of
from bot.paths import is_within
from bot.service import Service
from bot.wording import say
from bot.workers.computing import OneThread
from hitl.errors import Unavailable
from hitl.gate import Gate
from hitl.limits import KEEP_EVENTS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
    from datetime import timedelta
    from pathlib import Path

    from adapters.executors.confinement import Sandbox
    from adapters.executors.registry import Registry
    from bot.policies import Library
    from bot.settings import Settings
    from hitl.limits import Limits
    from hitl.operating_mode import Terms
    from hitl.people import Directory
    from hitl.ports import Chat, Clock, Executor, PolicySource, Store
    from hitl.proof.keyring import Keyring

_log = logging.getLogger(__name__)
#: Makes the chat platforms: surface name -> chat. They need the open store, and the keyring for the MACs of their
#: buttons.
MakeChats: TypeAlias = "Callable[[Store, Keyring], Awaitable[Mapping[str, Chat]]]"


#: A function that opens and locks a state folder. Its arguments are the folder's path, and the path of the master keys'
#: file if that isn't in the folder.
TakeFolder: TypeAlias = "Callable[[Path, Path | None], Awaitable[StateFolder]]"


class Running(Struct, frozen=True):
    """A service, with its store and its state folder. `close` stops all three in the right order."""

    service: Service
    store: Store
    folder: StateFolder
    parts: AsyncExitStack

    async def close(self) -> None:
        """Stop the service, then the store, then release the folder."""
        await self.parts.aclose()


async def compose(  # noqa: PLR0913 - each parameter is a dependency, passed by keyword
    *,
    state: Path,
    workspace: Path,
    people: Directory,
    allow: Collection[str] | None,
    policies: PolicySource,
    limits: Limits | None = None,
    terms: Terms | None = None,
    clock: Clock | None = None,
    executor: Executor | None = None,
    others: Mapping[str, Executor] | None = None,
    sandbox: Sandbox | None = None,
    chats: MakeChats | None = None,
    mark: Path | None = None,
    keys: Path | None = None,
    keep_events: timedelta = KEEP_EVENTS,
    take: TakeFolder | None = None,
) -> Running:
    """Return a service for the state folder, ready to `start`.

    - `allow` names the workspace tools that may run; None allows all tools.
    - `others` are the executors of other tool groups.
    - `sandbox` says how commands run. If it is None, the first command finds the best sandbox of this machine.
    - `take` opens and locks the state folder. Without `take`, the folder is opened immediately, which fails if another
      service uses it.

    By default, the mark (`adapters.database.mark`) is next to the state folder, and the master keys are in the state
    folder.

    Raises hitl.errors.Unavailable if a part can't be opened, and the errors that the function `chats` raises. Parts
    that were opened before are then closed.
    """
    clock = clock or SystemClock()
    _keep_apart(state, workspace)
    async with AsyncExitStack() as parts:
        folder = await take(state, keys) if take else StateFolder.open(state, keys)
        parts.callback(folder.close)
        store = await open_store(folder, clock, keep_events)
        parts.push_async_callback(store.close)
        current = await store.keep_mark(mark or mark_beside(state))
        beside = OneThread()
        parts.callback(beside.close)
        gate = Gate(
            store=store,
            policies=policies,
            people=people,
            executor=executor or Groups({TOOLS: workspace_tools(workspace, allow, sandbox), **(others or {})}),
            keys=store.keys,
            owner=f"service:{folder.id}:{secrets.token_hex(4)}",
            limits=limits,
            terms=terms,
            names=names_of(people),
            exposed=_logged(folder.exposed),
            beside=beside,
        )
        service = Service(gate, await chats(store, store.keys) if chats else None, older=not current)
        parts.push_async_callback(service.stop)
        return Running(service, store, folder, parts.pop_all())


def _logged(exposed: Callable[[], str | None]) -> Callable[[], str | None]:
    """Return a check that returns the result of `exposed`, and logs each change of this result.

    A result that isn't None is the reason why tools could read the state folder. While there is a reason, no call runs.
    """
    last: str | None = None

    def look() -> str | None:
        nonlocal last
        why = exposed()
        if why != last:
            _log.log(logging.ERROR if why else logging.INFO, "state.exposed" if why else "state.closed", {"why": why})
            last = why
        return why

    return look


def mark_beside(state: Path) -> Path:
    """Return the default path of the mark (`adapters.database.mark`) for a state folder."""
    return state.with_name(state.name + ".mark")


def _keep_apart(state: Path, workspace: Path) -> None:
    """Raise Unavailable if tools in the workspace could read the keys, because they could then forge decisions."""
    if is_within(state, workspace):
        raise Unavailable(say("compose.apart", state=state, workspace=workspace))


def policy_library(folders: Sequence[Path], *, resolve_hosts: bool = False) -> Library:
    """Return the library of the policies in these folders and of the presets.

    Policies with conditions on paths follow links on this machine. With `resolve_hosts`, policies also look up the
    addresses of hosts.
    """
    from adapters.policies import FolderSource
    from adapters.policies.surroundings import RealPaths, SystemResolver
    from bot.policies import Library
    from hitl.policy.presets import PresetSource

    sources = FolderSource(folders), PresetSource()
    return Library(sources, paths=RealPaths(), resolver=SystemResolver() if resolve_hosts else None)


def sandbox_of(settings: Settings) -> Sandbox | None:
    """Return the sandbox that the settings describe. Return None if they ask for nothing special.

    For None, the first command finds the best sandbox of this machine. Raises Unavailable if commands can't run as
    `tools_user`, or if that user can't work in the workspace.
    """
    from adapters.executors.confinement import User, best, runs
    from adapters.executors.confining.plan import Bounds

    tools = settings.tools
    bounds = Bounds(tools.memory_mb << 20, tools.processes, tools.file_mb << 20)
    if not settings.tools_user:
        return None if bounds == Bounds() else best(None, bounds)
    user, workspace = User.named(settings.tools_user), settings.folder("workspace")
    if not workspace.exists():
        workspace.mkdir(parents=True)
        os.chown(workspace, user.uid, user.gid)
    found = best(user, bounds)
    if not runs(found, workspace.resolve(), "test -w ."):
        raise Unavailable(say("compose.user", user=user.name, workspace=workspace))
    return found


def workspace_tools(workspace: Path, allow: Collection[str] | None, sandbox: Sandbox | None = None) -> Registry:
    """Return the tools for one folder. If the folder is missing, make it.

    Only the tools in `allow` may run; None allows all tools.

    Raises Unavailable if the folder can't be used, or a tool in `allow` doesn't exist.
    """
    # This module is imported only here because it loads pydantic, which a service with other tools doesn't need.
    from adapters.executors.bash import Shell, register_shell
    from adapters.executors.folder import Folder
    from adapters.executors.registry import Registry
    from adapters.executors.workspace import register_workspace

    try:
        workspace.mkdir(parents=True, exist_ok=True)
        folder = Folder(workspace)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(say("compose.workspace", workspace=workspace, why=why)) from error
    registry = Registry(TOOLS, allow, folder=folder.root)
    register_workspace(registry, folder)
    register_shell(registry, Shell(folder.root, sandbox))
    if unknown := ", ".join(registry.unknown()):
        raise Unavailable(say("compose.tools", tools=unknown))
    return registry
