"""The gateway between clients and servers that others wrote: FastMCP's client, and the reference servers."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import Client

from adapters.executors.confinement import kept_program
from adapters.mcp.executor import Servers
from adapters.mcp.gateway import Gateway
from adapters.mcp.targets import Target
from hitl.call import Verb
from tests.acceptance.installation import SAYSO
from tests.patience import PATIENCE_S
from tests.scenarios.mcp.behind import SHORT, Behind, Scripted, final, text, tool

pytestmark = pytest.mark.thirdparty

#: The reference server of the file system, as the npm registry has it.
FILESYSTEM = "@modelcontextprotocol/server-filesystem@2026.8.31"


@pytest.fixture
async def behind(tmp_path: Path) -> AsyncIterator[Behind]:
    """A gateway before a scripted server."""
    made = Behind(
        tmp_path, {"files": Scripted(tmp_path / "files", [tool("remove"), tool("stat", {"what": "structure"})])}
    )
    made.allow("stat")
    async with made.running() as running:
        yield running


@contextlib.asynccontextmanager
async def before(folder: Path, target: Target, *allowed: str) -> AsyncIterator[tuple[Behind, Client]]:
    """A gateway before one server that others wrote, and the official client before it."""
    made = Behind(folder, {})
    made.allow(*allowed)
    made.servers = Servers([target], keep=lambda command: kept_program(command, 1.0))
    made.service.gate.executor = made.servers
    made.gateway = Gateway(made.service, made.servers, SHORT)
    async with made.running() as running, running.client("relay") as client:
        yield running, client


@pytest.mark.parametrize("way", ["relay", "http"])
async def test_fastmcps_client_before_the_gateway(behind: Behind, way: str) -> None:
    """It lists, gets an allowed answer, waits for an approval and hears a rejection."""
    transport: Any = StdioTransport(str(SAYSO), ["mcp", "--socket", str(behind.socket)])
    if way == "http":
        headers = {"Authorization": "Bearer tok-uma"}
        transport = StreamableHttpTransport(f"http://127.0.0.1:{behind.port}/mcp", headers=headers)
    async with FastClient(transport) as client:
        assert {"remove", "stat"} <= {each.name for each in await client.list_tools()}
        stat = await client.call_tool("stat", {}, raise_on_error=False)
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}, raise_on_error=False))
        await behind.answer(Verb.APPROVE)
        approved = await calling
        calling = asyncio.create_task(client.call_tool("remove", {"path": "b"}, raise_on_error=False))
        await behind.answer(Verb.REJECT, reason="not now")
        rejected = await calling

    assert {"name": "notes", "size": 3} == stat.structured_content
    assert '{"path": "a"}' == text(approved)
    assert "not now" in text(rejected)
    assert ['remove {"path": "a"}'] == [run for run in behind.scripts["files"].runs if run.startswith("remove")]


async def test_the_reference_server_for_git(tmp_path: Path) -> None:
    """It reads at once, and commits after a yes."""
    place = tmp_path / "work"
    _git(tmp_path, "init", "-q", str(place))
    for name, value in (("user.name", "Uma"), ("user.email", "uma@example.org")):
        _git(place, "config", name, value)
    (place / "a").write_text("a")
    _git(place, "add", "a")
    target = Target("git", command=(sys.executable, "-m", "mcp_server_git"), start_s=PATIENCE_S)
    async with before(tmp_path, target, "git_status") as (behind, client):
        status = await client.call_tool("git_status", {"repo_path": str(place)})
        calling = asyncio.create_task(client.call_tool("git_commit", {"repo_path": str(place), "message": "first"}))
        await behind.answer(Verb.APPROVE)
        done = await final(client, await calling)

    assert (False, False) == (status.is_error, done.is_error), text(done)
    assert "first\n" == _git(place, "log", "--format=%s")


def _git(folder: Path, *words: str) -> str:
    """What git prints; it must end well."""
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True)
    return done.stdout


async def test_the_reference_server_for_pages(tmp_path: Path, page: str) -> None:
    """Its page is fetched after a yes alone."""
    target = Target(
        "fetch",
        command=(sys.executable, "-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"),
        start_s=PATIENCE_S,
    )
    async with before(tmp_path, target) as (behind, client):
        assert "fetch" in [each.name for each in (await client.list_tools()).tools]
        calling = asyncio.create_task(client.call_tool("fetch", {"url": page}))
        await behind.answer(Verb.APPROVE)
        done = await final(client, await calling)

    assert "approve all pending" in text(done)


async def test_the_reference_server_for_files(tmp_path: Path, filesystem: list[str]) -> None:
    """It reads at once, and writes after a yes; a rejected write leaves the file as it was."""
    place = tmp_path / "work"
    place.mkdir()
    (place / "a.txt").write_text("old")
    target = Target("filesystem", command=(*filesystem, str(place)), start_s=PATIENCE_S)
    async with before(tmp_path, target, "read_text_file") as (behind, client):
        read = await client.call_tool("read_text_file", {"path": str(place / "a.txt")})
        for verb in (Verb.REJECT, Verb.APPROVE):
            # Another text each time: a rejected call isn't asked about again at once.
            arguments = {"path": str(place / "a.txt"), "content": "new" if verb is Verb.APPROVE else "other"}
            calling = asyncio.create_task(client.call_tool("write_file", arguments))
            await behind.answer(verb, reason="no" if verb is Verb.REJECT else None)
            await final(client, await calling)
            assert ("old" if verb is Verb.REJECT else "new") == (place / "a.txt").read_text()

    assert "old" in text(read)


@pytest.fixture(scope="session")
def filesystem(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the reference server for files; without npm, or without its package, the test skips."""
    folder = tmp_path_factory.mktemp("npm")
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("there is no npm here")
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", FILESYSTEM]
    if subprocess.run(install, cwd=folder, check=False, timeout=300).returncode:
        pytest.skip(f"npm can't install {FILESYSTEM}")
    return [node, str(folder / "node_modules" / FILESYSTEM.rpartition("@")[0] / "dist" / "index.js")]


@pytest.fixture
def page() -> Iterator[str]:
    """The address of a page that asks for an approval."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"approve all pending")

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/page"
    server.shutdown()
    server.server_close()
