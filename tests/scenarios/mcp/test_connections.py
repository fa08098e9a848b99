"""One client takes neither the MCP socket from others nor a connection without using it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import MCPError

from adapters.mcp.callers import Caller
from adapters.mcp.http import HttpMount
from adapters.mcp.lines import LineServer
from hitl.call import Verb
from hitl.connections import Connections, Party
from hitl.errors import TooManyPending
from hitl.records import replace
from tests.mcp_messages import INITIALIZE
from tests.patience import PATIENCE_S
from tests.scenarios.mcp.behind import Behind, Held, Scripted


async def greeting(path: Path) -> tuple[dict[str, object], asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, and return the first line of the service with the open connection."""
    reader, writer = await asyncio.open_unix_connection(path)
    return json.loads(await reader.readline()), reader, writer


async def test_the_listeners_of_the_service_share_one_room(tmp_path: Path, files: Scripted) -> None:
    """A user has a quarter of all connections, whatever the socket. A further one is refused, and told why."""
    behind = Behind(tmp_path, {"files": files})
    behind.connections = Connections(12)
    me = (f"uid:{os.getuid()}", Party.LISTED)
    async with behind.running():
        assert behind.connections.enter(*me)
        held = [await greeting(behind.socket) for _ in range(2)]
        refused, _, writer = await greeting(behind.socket)
        writer.close()
        for _, _, other in held:
            other.close()
        async with asyncio.timeout(PATIENCE_S):
            while not behind.connections.enter(*me):  # noqa: ASYNC110 - the relay has no event for it
                await asyncio.sleep(0.005)
        behind.connections.leave(*me)
        async with behind.client("relay") as client:
            tools = (await client.list_tools()).tools

    assert [{"ok": True}] * 2 == [told for told, _, _ in held]
    assert (False, TooManyPending.code) == (refused["ok"], dict(refused["error"])["code"])  # type: ignore[call-overload]
    assert tools


async def test_a_connection_is_worth_no_more_than_its_users_right(behind: Behind, files: Scripted) -> None:
    """A user who is taken off all lists while a call runs gets nothing more: no list, no state, no result."""
    behind.allow("stat")
    gate = behind.service.gate
    gate.executor = held = Held(gate.executor)
    async with behind.client("relay") as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a.txt"}))
        call = await behind.asked("remove")
        await behind.answer(Verb.APPROVE, call)
        await held.begun.wait()
        gate.people = replace(gate.people, requesters=("bob",))
        held.go.set()
        await behind.service.ended(call, PATIENCE_S)
        refused = [
            await asyncio.gather(asked, return_exceptions=True)
            for asked in (
                calling,
                client.call_tool("stat", {}),
                client.call_tool("sayso_status", {"ref": call.short}),
                client.list_tools(),
            )
        ]

    assert [MCPError] * len(refused) == [type(came) for (came,) in refused]
    assert "a.txt" not in str(refused)
    assert ['remove {"path": "a.txt"}'] == files.runs


async def test_a_client_that_sends_nothing_is_disconnected(behind: Behind, tmp_path: Path) -> None:
    """A client has a limited time for its first message, however many bytes of it arrive."""

    async def admit(_uid: int, _party: Party) -> Caller:
        return Caller("uma", "local", "socket")

    connections = Connections()
    server = LineServer(
        tmp_path / "s", behind.gateway, connections, lambda _uid, _pid: Party.LISTED, admit, lambda _: None, first_s=0.1
    )
    await server.start()
    told, reader, writer = await greeting(tmp_path / "s")
    writer.write(b"{")
    async with asyncio.timeout(PATIENCE_S):
        rest = await reader.read()
    writer.close()
    await server.stop()

    assert ({"ok": True}, b"") == (told, rest)


async def test_one_caller_does_not_take_the_sessions_from_others(behind: Behind) -> None:
    """A caller that has its share gets no further session until it ends one. Other callers still get theirs."""
    mount = HttpMount(behind.gateway, lambda scope: scope["state"]["caller"], most_sessions=2)
    await mount.start()

    async def sent(method: str, token: str, **headers: str) -> httpx.Response:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await mount({**scope, "state": {"caller": Caller("uma", "local", token)}}, receive, send)

        accepted = {"Accept": "application/json, text/event-stream", **headers}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://here", headers=accepted
        ) as http:
            return await http.request(method, "/mcp", json=INITIALIZE if method == "POST" else None)

    try:
        first, second = await sent("POST", "one"), await sent("POST", "one")
        with pytest.raises(TooManyPending):
            await sent("POST", "one")
        other = await sent("POST", "two")
        ended = await sent("DELETE", "one", **{"Mcp-Session-Id": first.headers["mcp-session-id"]})
        again = await sent("POST", "one")
    finally:
        await mount.stop()

    assert [200] * 5 == [answer.status_code for answer in (first, second, other, ended, again)]
