"""What the tests of executors start from: a workspace, a registry with all tools, calls and leases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from adapters.executors.bash import Shell, register_shell
from adapters.executors.folder import Folder
from adapters.executors.registry import Registry
from adapters.executors.workspace import register_workspace
from hitl.call import Action, Ask, Call, Lease, Preparation, Ran, Reason, Risk, Runs, State, Verdict

NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)
TOOLS = (
    "list_files",
    "read_file",
    "write_file",
    "edit_file",
    "apply_patch",
    "delete_file",
    "delete_files",
    "bash",
)


def an_ask(tool: str, tools: str = "workspace", **args: Any) -> Ask:
    """A call of a tool, asked by an agent."""
    return Ask(tools, tool, args, "token:agent", "terminal:1", Runs.SERVICE)


def a_lease(registry: Registry, ask: Ask, prepared: Preparation) -> Lease:
    """The permission to run what was asked, as it was prepared."""
    info = registry.info(ask.tools, ask.tool)
    call = Call(
        ref="0198c0de-1234-7abc-8def-0123456789ab",
        short="ABC123",
        digest="",
        tools=ask.tools,
        tool=ask.tool,
        args=json.dumps(ask.args).encode(),
        executor=registry.name,
        definition=info.definition if info else "",
        cwd=prepared.cwd,
        preconditions=prepared.preconditions,
        sentence=prepared.sentence,
        preview=prepared.preview,
        notes=prepared.notes,
        note="",
        requester=ask.requester,
        agent="",
        session="",
        origin=ask.origin,
        runs=ask.runs,
        key=None,
        previous=None,
        verdict=Verdict(Action.APPROVE, Risk.LOW, None, Reason.DEFAULT_ACTION, "", ""),
        approvers=(),
        routes=(),
        created_at=NOON,
        deadline=NOON,
        row_mac="",
        state=State.EXECUTING,
        version=1,
    )
    return Lease(call, "executor", NOON)


async def soon(holds: Callable[[], bool]) -> None:
    """Waits until something outside of the event loop has come about; fails after twenty seconds."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110  nothing outside tells the loop
            await asyncio.sleep(0.01)


def names(folder: Path) -> list[str]:
    """What is in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


class Run(Protocol):
    """Prepares and runs a call of a workspace tool."""

    async def __call__(self, tool: str, *, limit_s: float = 10, **args: Any) -> Ran:
        """How it ended."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace, with a file beside it that no tool may reach."""
    (tmp_path / "secret.txt").write_text("out of reach")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return workspace


@pytest.fixture
def registry(root: Path) -> Registry:
    """All of the workspace's tools, all allowed."""
    folder = Folder(root)
    made = Registry("workspace", TOOLS, folder=folder.root)
    register_workspace(made, folder)
    register_shell(made, Shell(root))
    return made


@pytest.fixture
def run(registry: Registry) -> Run:
    """Runs a call at once, as if it had been approved."""

    async def prepare_and_run(tool: str, *, limit_s: float = 10, **args: Any) -> Ran:
        """As the protocol says."""
        ask = an_ask(tool, **args)
        lease = a_lease(registry, ask, await registry.prepare(ask))
        return await registry.run(lease, limit_s=limit_s)

    return prepare_and_run
