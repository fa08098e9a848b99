"""A real service with the gateway before scripted MCP servers, and the official client before the gateway."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Mount

from adapters.executors.confinement import kept_program
from adapters.mcp.callers import Caller
from adapters.mcp.executor import Servers
from adapters.mcp.gateway import Gateway
from adapters.mcp.http import HttpMount
from adapters.mcp.ladder import WaitTimes
from adapters.mcp.targets import Target
from bot.mcp import line_server
from bot.service import Service
from hitl.call import Action, Call, PolicyCall, Reply, ReplyKind, Risk, Verb, Verdict
from hitl.connections import Connections
from hitl.gate import Gate
from hitl.limits import Limits
from hitl.people import Directory
from hitl.proof.keyring import Keyring
from hitl.testing import SetClock
from tests.canaries import CANARIES, KEY
from tests.forked_commands import command
from tests.hitl.world import NOON, Rules, Store, verdict
from tests.patience import PATIENCE_S
from tests.scenarios.harness import record_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from hitl.call import Lease, Ran
    from hitl.ports import Executor

ME = f"local:{os.getuid()}"
ANN = "local:99"
TOKENS = {"tok-uma": ("uma", "one"), "tok-two": ("uma", "two"), "tok-bob": ("bob", "three")}
#: Short, so that a test waits for a person as often as a client does, and not as long.
SHORT = WaitTimes(shortest_leg_s=0.3, unknown_s=0.6, known_s={}, tick_s=0.05)
#: The two transports, and the two generations of the protocol.
WAYS = [(transport, mode) for transport in ("relay", "http") for mode in ("auto", "legacy")]


def tool(name: str, does: Mapping[str, Any] | None = None, **declared: Any) -> dict[str, Any]:
    """A tool of a script."""
    return {"name": name, "description": f"does {name}", "does": dict(does or {}), **declared}


class Asking(Rules):
    """Asks about every tool that the test didn't say otherwise of."""

    def judge(self, call: PolicyCall) -> Verdict:
        """What was set for the tool."""
        return self.verdicts.get(call.tool) or verdict(Action.APPROVE, Risk.HIGH)


class Scripted:
    """The folder of one scripted server."""

    def __init__(self, folder: Path, tools: Sequence[Mapping[str, Any]], **more: Any) -> None:
        folder.mkdir()
        self.folder = folder
        self.write(tools, **more)

    def write(self, tools: Sequence[Mapping[str, Any]], **more: Any) -> None:
        """Give the server another script."""
        new = self.folder / "script.new"
        new.write_text(json.dumps({"tools": list(tools), **more}))
        new.replace(self.folder / "script.json")

    @property
    def runs(self) -> list[str]:
        """A line for each call that reached the server."""
        file = self.folder / "runs"
        return file.read_text().splitlines() if file.exists() else []

    def target(self, name: str, **more: Any) -> Target:
        """How it is started."""
        secret = CANARIES.plant("the secret of an MCP server", "canary-of-the-mcp-server", for_a_child=True)
        env = {"FILES_TOKEN": secret, **more.pop("env", {})}
        return Target(name, command=command("mcp-server", str(self.folder)), env=env, start_s=PATIENCE_S, **more)


class Held:
    """An executor whose runs begin when the test says so. `begun` is set when a run would begin."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.info, self.prepare, self.still_holds = executor.info, executor.prepare, executor.still_holds
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Wait, then run the call."""
        self.begun.set()
        await self.go.wait()
        return await self._executor.run(lease, limit_s=limit_s)


class Behind:
    """A service with its gateway, on a socket and on HTTP, and the scripted servers behind it."""

    def __init__(
        self,
        folder: Path,
        scripts: Mapping[str, Scripted],
        waits: WaitTimes = SHORT,
        *,
        store: Store | None = None,
        **targets: Any,
    ) -> None:
        self.clock = SetClock(NOON)
        self.store = store or Store(self.clock)
        self.rules = Asking()
        self.scripts = scripts
        self._folder = folder
        made = [script.target(name, **targets.get(name, {})) for name, script in scripts.items()]
        self.servers = Servers(made, folder=folder / "kept", keep=lambda command: kept_program(command, 1.0))
        people = Directory(
            approvers=("ann", "bob"), requesters=("uma", "bob"), principals={"uma": (ME,), "ann": (ANN,)}
        )
        self.service = Service(
            Gate(
                store=self.store,
                policies=self.rules,
                people=people,
                executor=self.servers,
                keys=Keyring([("k1", KEY)]),
                owner="service:test",
                limits=Limits(asks=1000, open_per_requester=1000),
            )
        )
        self.gateway = Gateway(self.service, self.servers, waits)
        self.connections = Connections()
        self.port = 0
        self.calls: list[Call] = []
        self.service.gate.follow(self.changed)
        CANARIES.look("the record", lambda: record_of(self.store))

    def changed(self, call: Call) -> None:
        """Remember every change of a call, oldest first."""
        self.calls.append(call)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Behind]:
        """Everything, until the end."""
        async with contextlib.AsyncExitStack() as parts:
            parts.push_async_callback(self.servers.stop)
            await self.service.start()
            parts.push_async_callback(self.service.stop)
            await self._listen(parts)
            await self._serve(parts)
            yield self

    async def _listen(self, parts: contextlib.AsyncExitStack) -> None:
        (self._folder / "run").mkdir(mode=0o711, exist_ok=True)
        relays = line_server(self.service, self.gateway, self._folder / "run", self.connections)
        await relays.start()
        parts.push_async_callback(relays.stop)
        self.socket = relays.path

    async def _serve(self, parts: contextlib.AsyncExitStack) -> None:
        mount = HttpMount(self.gateway, _caller)
        await mount.start()
        config = uvicorn.Config(Starlette(routes=[Mount("/", mount)]), port=0, log_config=None, lifespan="off")
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        self.port = server.servers[0].sockets[0].getsockname()[1]

        async def stop() -> None:
            server.should_exit = True
            await serving
            await mount.stop()

        parts.push_async_callback(stop)

    @contextlib.asynccontextmanager
    async def client(
        self, transport: str, mode: str = "auto", token: str = "tok-uma", **more: Any
    ) -> AsyncIterator[Client]:
        """The official client: before the relay that users start, or before HTTP."""
        more = {"mode": mode, "cache": None, **more}
        if transport == "relay":
            program, *words = command("sayso", "mcp", "--socket", str(self.socket))
            async with Client(StdioServerParameters(command=program, args=words), **more) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {CANARIES.plant(token, token)}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(PATIENCE_S)) as http,
            Client(streamable_http_client(f"http://127.0.0.1:{self.port}/mcp", http_client=http), **more) as client,
        ):
            yield client

    def allow(self, *tools: str) -> None:
        """Have the policy allow these tools; it asks about all others."""
        self.rules.verdicts |= {tool: verdict(Action.ALLOW, Risk.LOW) for tool in tools}

    async def asked(self, tool: str = "") -> Call:
        """The oldest pending call, once one is there."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                waiting = [call for call in await self.store.pending() if tool in {"", call.tool}]
                if waiting:
                    return waiting[0]
                await asyncio.sleep(0.005)

    async def answer(self, verb: Verb, call: Call | None = None, reason: str | None = None) -> Call:
        """Ann decides the pending call, over the socket."""
        call = call or await self.asked()
        reply = Reply(ANN, "socket", "local", ReplyKind.API, verb=verb, target=call.ref, reason=reason)
        (answer,) = await self.service.decide(reply)
        assert answer.error is None, answer.text
        return call


def _caller(scope: Any) -> Caller:
    bearer = dict(scope["headers"])[b"authorization"].decode().removeprefix("Bearer ")
    principal, token = TOKENS[bearer]
    return Caller(principal, "local", token)


async def final(client: Client, result: Any) -> Any:
    """What came of a call, where its answer said that it waits: asked for until it is over."""
    while found := re.search(r"sayso_status with ref (\w+)", text(result)):
        result = await client.call_tool("sayso_status", {"ref": found[1]})
    return result


def meta(**more: Any) -> Any:
    """What a request says beside its parameters."""
    return more


def text(result: Any) -> str:
    """What a result says."""
    return "\n".join(getattr(block, "text", f"[{block.type}]") for block in result.content)
