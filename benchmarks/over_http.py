"""Agents and an approver over TCP, against a service in a process of its own.

`python -m benchmarks.over_http FOLDER flight AGENTS CYCLES` and `... waiting AGENTS`; `... serve` is the service.

An agent asks, and waits in a request that claims the call. The approver's decision is timed from before it is sent
until the agent holds the claim: then its tool starts. Beside it, in the same process and under as many connections, a
bare application answers a request of the same size: one bare round trip.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hashlib
import json
import os
import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import uvicorn
import uvloop

from adapters.executors.registry import Registry
from benchmarks.desk import ARGUMENT_CHARS, TOOL, TOOLS, Patient
from benchmarks.figures import Spread
from benchmarks.telling import tell
from benchmarks.wire import HOST, Wire
from bot.api import serve_api
from bot.compose import compose
from bot.settings import HttpSettings
from bot.surfaces import surfaces
from hitl.limits import Limits
from hitl.people import Directory
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from starlette.types import Receive, Scope, Send

ME = f"local:{os.getuid()}"
SECRET = "what only the agent knows"  # noqa: S105 - of a measurement
SECRET_HASH = hashlib.sha256(SECRET.encode()).hexdigest()
#: Floods are measured, not refused.
LIMITS = Limits(asks=1_000_000, asks_within_s=0, open_per_requester=1_000_000)
#: From the agent's request that waits to the decision: long enough that the request is there.
_LEAD_S = 0.01
_WARM_UP, _BARE = 20, 2_000
#: An idle connection is closed after 30 s. The approver sends something each time that so many agents have come.
_STILL = 50
_TOKENS = {"agent": {"name": "ci", "owner": ME}, "approver": {"name": "ann"}}


# -- the service --------------------------------------------------------------------------------------------------


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with as many bytes as it has."""
    del scope
    body = b""
    while (message := await receive()).get("more_body"):
        body += message["body"]
    body += message["body"]
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def serve(folder: Path) -> None:
    """Serve both applications until the input ends; the first line of output says where."""
    people = Directory(approvers=("token:ann",), requesters=(ME,), operators=(ME,), surfaces=surfaces())
    running = await compose(
        state=folder,
        workspace=folder / "workspace",
        people=people,
        allow=(),
        limits=LIMITS,
        policies=Patient(),
        executor=Registry(TOOLS, ()),
    )
    await running.service.start()
    run = folder / "run"
    server = await serve_api(running.service, run, running.parts, http=HttpSettings(host=HOST, port=0))
    config = uvicorn.Config(bare, host=HOST, port=0, log_config=None, lifespan="off", http="httptools")
    floor = uvicorn.Server(config)
    floor.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    serving = asyncio.create_task(floor.serve())
    while not floor.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    gc.freeze()
    told = {"port": server.port, "bare": floor.servers[0].sockets[0].getsockname()[1], "socket": str(run / SOCKET_NAME)}
    print(json.dumps(told), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    floor.should_exit = True
    await serving
    await running.close()


# -- the agents and the approver ----------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def service(folder: Path) -> AsyncIterator[dict[str, Any]]:
    """The service in a process of its own: its ports, and a token of each scope."""
    pipe = asyncio.subprocess.PIPE
    words = (sys.executable, "-m", "benchmarks.over_http", str(folder), "serve")
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told: dict[str, Any] = json.loads(await process.stdout.readline())
        local = Wire(*await asyncio.open_unix_connection(told["socket"]))
        for scope, more in _TOKENS.items():
            told[scope] = (await local.post("/v1/tokens", {"scope": scope, **more}))["token"]
        local.close()
        yield told
    finally:
        process.stdin.close()
        await process.wait()


class Pair:
    """An agent that waits in a request, and the approver who answers it."""

    def __init__(self, agent: Wire, approver: Wire, name: str) -> None:
        self.agent, self.approver = agent, approver
        self._name, self._number = name, 0

    @classmethod
    async def sit(cls, told: Mapping[str, Any], number: int) -> Self:
        """Both have a connection."""
        agent, approver = [await Wire.to(told["port"], told[scope]) for scope in ("agent", "approver")]
        return cls(agent, approver, str(number))

    async def wait(self) -> str:
        """Ask, and wait in a request from now on. Returns the ref."""
        self._number += 1
        args = {"text": f"{self._name}/{self._number} ".ljust(ARGUMENT_CHARS, "x")}
        ref = str((await self.agent.post("/v1/calls", {"tools": TOOLS, "tool": TOOL, "args": args}))["ref"])
        self.agent.send(f"/v1/calls/{ref}/claim", {"secret_hash": SECRET_HASH}, "Prefer: wait=60")
        return ref

    async def to_tool(self, ref: str) -> float:
        """Approve. Returns the seconds until the agent holds the claim, when its tool starts."""
        before = time.perf_counter()
        deciding = asyncio.ensure_future(self.approver.post(f"/v1/calls/{ref}/decision", {"decision": "approve"}))
        assert (await self.agent.answer())["call"]["status"] == "running"
        started = time.perf_counter() - before
        await deciding
        return started

    async def cycle(self) -> float:
        """One call from asking to its durable result."""
        ref = await self.wait()
        await asyncio.sleep(_LEAD_S)
        measured = await self.to_tool(ref)
        await self.agent.post(f"/v1/calls/{ref}/finish", {"secret": SECRET, "result": "succeeded"})
        return measured


async def flight(folder: Path, agents: int, cycles: int) -> dict[str, Any]:
    """So many agents at once, each with one call after the other, between bare round trips as many at once."""
    async with service(folder) as told:
        pairs = [await Pair.sit(told, number) for number in range(agents)]
        for _ in range(max(1, _WARM_UP // agents)):
            await asyncio.gather(*(pair.cycle() for pair in pairs))
        floors = [await round_trips(told["bare"], agents)]

        async def work(pair: Pair) -> list[float]:
            return [await pair.cycle() for _ in range(max(1, cycles // agents))]

        started = [*chain(*await asyncio.gather(*map(work, pairs)))]
        floors.append(await round_trips(told["bare"], agents))
    return {"started": Spread.of(started), "bare": Spread.of([*chain(*floors)])}


async def round_trips(port: int, connections: int) -> list[float]:
    """Seconds of bare round trips, with so many connections at once."""

    async def work() -> list[float]:
        wire, found = await Wire.to(port), []
        for _ in range(max(10, _BARE // connections)):
            before = time.perf_counter()
            await wire.post("/", {"text": "x" * ARGUMENT_CHARS})
            found.append(time.perf_counter() - before)
        wire.close()
        return found

    return [*chain(*await asyncio.gather(*(work() for _ in range(connections))))]


async def waiting(folder: Path, agents: int) -> dict[str, Any]:
    """So many agents wait at once, and are decided one after the other: when each tool started, and how many errors."""
    async with service(folder) as told:
        approver, waits = await Wire.to(told["port"], told["approver"]), []
        for number in range(agents):
            pair = Pair(await Wire.to(told["port"], told["agent"]), approver, str(number))
            waits.append((pair, await pair.wait()))
            if number % _STILL == 0:
                await approver.post("/v1/replies/parse", {"text": "yes"})
        errors, started = 0, []
        for pair, ref in waits:
            try:
                started.append(await pair.to_tool(ref))
            except (AssertionError, OSError, EOFError):
                errors += 1
    return {"agents": agents, "errors": errors, "started": Spread.of(started)}


_MEASUREMENTS: Mapping[str, Callable[..., Coroutine[Any, Any, dict[str, Any]]]] = {"flight": flight, "waiting": waiting}

if __name__ == "__main__":
    gc.set_threshold(10_000, 10, 10)
    place, what, *numbers = sys.argv[1:]
    if what == "serve":
        uvloop.run(serve(Path(place)))
    else:
        tell(uvloop.run(_MEASUREMENTS[what](Path(place), *map(int, numbers))))
