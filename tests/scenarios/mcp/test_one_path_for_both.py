"""`/mcp` is MCP's path and the harombe design's: the Accept header of a request says whose it is."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from bot.api import serve_api
from bot.mcp import http_mount
from bot.settings import HttpSettings
from hitl.call import Decision, Risk, Runs
from hitl.records import replace
from sayso_client.wire import SOCKET_NAME
from tests.api_clients import local, remote
from tests.patience import PATIENCE_S
from tests.scenarios.mcp.behind import Behind, Held, Scripted, final, text

READ = {"Accept": "application/json"}


def tool_call(tool: str, **arguments: Any) -> dict[str, Any]:
    """The body of a tool call, as the design writes it."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


class Served:
    """The API with the gateway of a service, and a client for each token."""

    def __init__(
        self,
        behind: Behind,
        url: str,
        tokens: dict[str, str],
        parts: contextlib.AsyncExitStack,
        owner: httpx.AsyncClient,
    ) -> None:
        self.behind = behind
        self.owner = owner
        self.url = url
        self.tokens = tokens
        self._parts = parts

    async def http(self, who: str) -> httpx.AsyncClient:
        """A plain HTTP client."""
        return await self._parts.enter_async_context(remote(self.url, self.tokens[who], timeout=PATIENCE_S))

    @contextlib.asynccontextmanager
    async def mcp(self, mode: str) -> AsyncIterator[Client]:
        """The official client of MCP."""
        headers = {"Authorization": f"Bearer {self.tokens['ci']}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(PATIENCE_S)) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode, cache=None) as client,
        ):
            yield client


@pytest.fixture
async def served(behind: Behind) -> AsyncIterator[Served]:
    """The gateway behind the one API, as `sayso run` serves it."""
    gate = behind.service.gate
    limits = {"token:boss": Risk.HIGH}
    gate.people = replace(gate.people, operators=("uma",), approvers=("ann", "token:boss"), token_limits=limits)
    async with contextlib.AsyncExitStack() as parts:
        mount = http_mount(behind.gateway)
        parts.push_async_callback(mount.stop)
        await mount.start()
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="api-"))) / "run"
        server = await serve_api(behind.service, folder, parts, http=HttpSettings(port=0), gateway=mount)
        made = {}
        owner = await parts.enter_async_context(local(folder / SOCKET_NAME))
        for name, scope in {"ci": {"scope": "agent", "owner": "uma"}, "boss": {"scope": "approver"}}.items():
            made[name] = (await owner.post("/v1/tokens", json={"name": name, **scope})).json()["token"]
        yield Served(behind, f"http://127.0.0.1:{server.port}", made, parts, owner)


async def test_a_parked_tool_runs_behind_the_gateway_after_the_approval(served: Served, files: Scripted) -> None:
    """202 with an approval_id; once another client approves, the service runs the tool, and the result is read."""
    agent, boss = await served.http("ci"), await served.http("boss")
    parked = await agent.post("/mcp", json=tool_call("remove", path="a.txt"))
    ref, before = parked.json()["approval_id"], list(files.runs)
    call = await served.behind.store.get(ref)
    await boss.post(f"/hitl/decide/{ref}", json={"decision": "approve"})
    await agent.get(f"/v1/calls/{ref}?wait=30&until=ended")
    result = (await agent.get(f"/hitl/result/{ref}")).json()

    assert call is not None
    assert (202, "remove", "files", Runs.SERVICE) == (parked.status_code, call.tool, call.tools, call.runs)
    assert (0, 1) == (len(before), len(files.runs))
    assert ("approved", "token:boss", True) == (result["status"], result["approved_by"], "a.txt" in result["result"])


async def test_an_allowed_tool_answers_with_its_result(served: Served, files: Scripted) -> None:
    """200 `auto_approved`, once it has run."""
    stat = await (await served.http("ci")).post("/mcp", json=tool_call("stat"), headers=READ)

    assert (200, "auto_approved", True) == (stat.status_code, stat.json()["status"], bool(stat.json()["result"]))
    assert 1 == len(files.runs)


async def test_the_same_tool_call_under_a_key_runs_once(served: Served, files: Scripted) -> None:
    """A request that is sent again with its Idempotency-Key gets the first result; other arguments are a conflict."""
    agent, key = await served.http("ci"), {"Idempotency-Key": "k", **READ}
    first, again, other = [
        await agent.post("/mcp", json=tool_call("stat", path=path), headers=key) for path in ("a", "a", "b")
    ]

    assert (200, first.json()["approval_id"]) == (first.status_code, again.json()["approval_id"])
    assert (409, 1) == (other.status_code, len(files.runs))


async def test_a_tool_that_no_server_offers_is_not_asked_for(served: Served) -> None:
    """404; nothing is recorded, so nobody is asked about a misspelt tool."""
    answer = await (await served.http("ci")).post("/mcp", json=tool_call("remvoe"))

    assert 404 == answer.status_code
    assert [] == list(await served.behind.store.pending())


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/event-stream"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": ""},
        {"Authorization": "Bearer made-up"},
        {"Origin": "https://evil.test"},
        {"Host": "evil.test"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_page_in_a_browser_reaches_nothing(
    served: Served, files: Scripted, headers: dict[str, str], accept: str
) -> None:
    """Without a good token, or from another site, no request reaches the gateway, not even for an allowed tool."""
    agent = await served.http("ci")
    refused = await agent.post("/mcp", json=tool_call("stat"), headers={"Accept": accept, **headers})
    runs = list(files.runs)
    await agent.post("/mcp", json=tool_call("stat"), headers=READ)

    assert refused.status_code in {400, 401, 403}
    assert ([], 1) == (runs, len(files.runs))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_of_mcp_do_not_notice(served: Served, files: Scripted, mode: str) -> None:
    """On the same path the official client lists tools, calls them, and gets the result of an approved call."""
    boss = await served.http("boss")
    async with served.mcp(mode) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        allowed = text(await client.call_tool("stat", {}))
        result = await client.call_tool("remove", {"path": "b.txt"})
        call = await served.behind.asked("remove")
        await boss.post(f"/hitl/decide/{call.ref}", json={"decision": "approve"})
        done = text(await final(client, result))

    stored = await served.behind.store.get(call.ref)
    assert {"remove", "stat"} <= listed
    assert allowed is not None
    assert stored is not None
    assert (Decision.APPROVED, 2, True) == (stored.decision, len(files.runs), "b.txt" in done)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("revoked", ["token", "owner"])
async def test_a_request_that_waits_ends_with_its_token(
    served: Served, files: Scripted, mode: str, revoked: str
) -> None:
    """If a token or its owner is revoked while an approved call runs, the token's holder doesn't get its result."""
    boss, gate = await served.http("boss"), served.behind.service.gate
    gate.executor = held = Held(gate.executor)
    async with served.mcp(mode) as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "c.txt"}))
        call = await served.behind.asked("remove")
        await boss.post(f"/hitl/decide/{call.ref}", json={"decision": "approve"})
        await held.begun.wait()
        if revoked == "token":
            await served.owner.delete("/v1/tokens/ci")
        else:
            gate.people = replace(gate.people, revoked=frozenset({"uma"}))
        held.go.set()
        await served.behind.service.ended(call, PATIENCE_S)
        with pytest.raises(MCPError) as refused:
            await calling

    assert "c.txt" not in str(refused.value)
    assert 1 == len(files.runs)


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
async def test_other_verbs_are_the_gateways(served: Served, verb: str) -> None:
    """A stream is opened, and a session ended, by verbs that the design doesn't have; without a session, 4xx."""
    answer = await (await served.http("ci")).request(verb, "/mcp", headers={"Accept": "text/event-stream"})

    assert answer.status_code in {400, 404, 405}
    assert "jsonrpc" in answer.text or 405 == answer.status_code
