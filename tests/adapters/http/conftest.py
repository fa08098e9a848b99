"""The API as it runs: a gate over memory behind both listeners, and clients that come by each."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.http.listeners import Server
from bot.api import serve_api
from bot.service import Service
from bot.settings import HttpSettings
from bot.surfaces import surfaces
from hitl.call import Risk, ToolInfo
from hitl.gate import Gate
from hitl.limits import Limits
from hitl.people import Directory
from hitl.testing import MemoryStore, ScriptedExecutor, SetClock
from sayso_client.wire import SOCKET_NAME
from tests import api_clients
from tests.hitl.world import GROUP, NOON, WRITE, Rules

#: The user of this machine who runs the tests: they ask and operate. Ann and the chief approve by tokens.
ME, OTHER = f"local:{os.getuid()}", "local:4322"


class Api:
    """A served API, with what a test looks at behind it."""

    def __init__(self, service: Service, folder: Path, parts: contextlib.AsyncExitStack) -> None:
        self.service = service
        self.store = service.store
        self.gate = service.gate
        self._folder = folder
        self._parts = parts
        self.url = ""
        self.server: Server | None = None

    @property
    def socket(self) -> Path:
        """The Unix socket."""
        return self._folder / SOCKET_NAME

    def local(self) -> httpx.AsyncClient:
        """A client on the Unix socket: this user."""
        return self._kept(api_clients.local(self.socket, timeout=60))

    def remote(self, token: str | None = None, **headers: str) -> httpx.AsyncClient:
        """A client over TCP, with a token if one is given."""
        return self._kept(api_clients.remote(self.url, token, headers=headers, timeout=60))

    def _kept(self, client: httpx.AsyncClient) -> httpx.AsyncClient:
        self._parts.push_async_callback(client.aclose)
        return client

    async def token(self, name: str, scope: str = "agent", **more: Any) -> str:
        """A new token; an agent's is this user's unless another owner is named."""
        owner = {"owner": ME} if scope == "agent" else {}
        made = await self.local().post("/v1/tokens", json={"name": name, "scope": scope, **owner, **more})
        assert 201 == made.status_code, made.text
        return str(made.json()["token"])

    async def agent(self, name: str = "ci", **more: Any) -> httpx.AsyncClient:
        """A client with a new agent's token."""
        return self.remote(await self.token(name, **more))

    async def approver(self, name: str = "ann") -> httpx.AsyncClient:
        """A client with a new approver's token; `token:ann` is listed."""
        return self.remote(await self.token(name, "approver"))

    async def events(self, ref: str) -> list[str]:
        """What the record says of a call."""
        return [line.event for line in await self.store.history(ref)]


@pytest.fixture
def clock() -> SetClock:
    """The service's clock, which stands."""
    return SetClock(NOON)


@pytest.fixture
def limits() -> Limits:
    """The gate's numbers."""
    return Limits()


#: The identity of the service's state folder.
FOLDER = "0a1b2c3d-1"


@pytest.fixture
async def api(clock: SetClock, limits: Limits) -> AsyncIterator[Api]:
    """The API on both listeners, over a gate in memory."""
    store = MemoryStore(clock)
    gate = Gate(
        store=store,
        policies=Rules(),
        people=Directory(
            approvers=("token:ann", "token:chief", "local:4321"),
            requesters=(ME, OTHER),
            operators=(ME,),
            surfaces=surfaces(),
            token_limits={"token:chief": Risk.CRITICAL},
        ),
        executor=ScriptedExecutor({("files", "write"): ToolInfo("local", "d" * 64)}),
        keys=store.keys,
        owner="service:test",
        limits=limits,
    )
    service = Service(gate)
    async with contextlib.AsyncExitStack() as parts:
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="api-"))) / "run"
        parts.push_async_callback(service.stop)
        await service.start()
        served = Api(service, folder, parts)
        server = await serve_api(service, folder, parts, http=HttpSettings(port=0), folder_identity=FOLDER)
        served.server = server
        served.url = f"http://127.0.0.1:{server.port}"
        yield served


CALL = {"tools": GROUP, "tool": WRITE, "args": {"path": "a.txt", "text": "hello"}}


async def asked(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    """A pending call that the client asked for."""
    answer = await client.post("/v1/calls", json=CALL | more)
    assert 202 == answer.status_code, answer.text
    found: dict[str, Any] = answer.json()
    return found
