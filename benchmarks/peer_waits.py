"""Other services that ask people over HTTP: `python -m benchmarks.peer_waits FOLDER PEER CYCLES`, in their environment.

Each runs as its own command starts it, on its own SQLite file, and is asked as `benchmarks.over_http` asks us: 1 KB of
arguments, a decision with a token, and, if the service has one, a claim. `started` is the time from the decision to the
start of the tool of an agent that waits as the service's own client waits; `served` is that of the requests alone.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Spread
from benchmarks.telling import tell
from benchmarks.wire import HOST, Wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ARGUMENT_CHARS = 1000
_WARM_UP, _SERVED = 10, 200
_READY_WITHIN_S = 60.0
#: The client of holdmyagent looks once a second; the long-poll of awaithumans looks into its database as often.
_LOOK_S = 1.0
_TOKEN = "bench" * 8


class Peer(ABC):
    """One service. `agent` and `approver` are connections with their credentials."""

    agent: Wire
    approver: Wire

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._number = 0

    @abstractmethod
    def command(self) -> Sequence[str]:
        """What starts it."""

    @abstractmethod
    def environment(self) -> Mapping[str, str]:
        """Its settings."""

    @abstractmethod
    async def connect(self) -> None:
        """Open both connections."""

    @abstractmethod
    async def ask(self) -> str:
        """Ask for a call; its id."""

    @abstractmethod
    async def wait(self, call: str) -> None:
        """Wait for the decision as the service's own client does."""

    @abstractmethod
    async def decide(self, call: str) -> None:
        """Approve."""

    @abstractmethod
    async def claim(self, call: str) -> None:
        """Take the permission to run it, in a service that gives one."""

    def text(self) -> str:
        """Arguments that nobody sent before."""
        self._number += 1
        return f"{self._number:020}".ljust(_ARGUMENT_CHARS, "x")

    async def started(self) -> float:
        """Seconds from the decision to the tool of an agent that waits."""
        call = await self.ask()
        waiting = asyncio.ensure_future(self.wait(call))
        await asyncio.sleep(0.05 + self._number % 10 / 10)
        before = time.perf_counter()
        await self.decide(call)
        await waiting
        await self.claim(call)
        return time.perf_counter() - before

    async def served(self) -> float:
        """Seconds that decision and claim take, without the wait."""
        call = await self.ask()
        before = time.perf_counter()
        await self.decide(call)
        await self.claim(call)
        return time.perf_counter() - before


class AwaitHumans(Peer):
    """awaithumans: tasks with a long-poll."""

    def command(self) -> Sequence[str]:
        """Its production server."""
        return ("awaithumans", "serve", "--host", HOST, "--port", str(self.port), "--log-level", "error")

    def environment(self) -> Mapping[str, str]:
        """A database, a key and the operator's token."""
        key = base64.urlsafe_b64encode(b"k" * 32).decode()
        named = {"DB_PATH": str(self.folder / "tasks.db"), "PAYLOAD_KEY": key, "ADMIN_API_TOKEN": _TOKEN}
        return {f"AWAITHUMANS_{name}": value for name, value in named.items()}

    async def connect(self) -> None:
        """Agents and people without a session have the same token there."""
        self.agent, self.approver = await Wire.to(self.port, _TOKEN), await Wire.to(self.port, _TOKEN)

    async def ask(self) -> str:
        """A task."""
        text = self.text()
        task = {"task": "write_note", "payload": {"text": text}, "payload_schema": {}, "response_schema": {}}
        made = await self.agent.post("/api/tasks", {**task, "timeout_seconds": 3600, "idempotency_key": text[:20]})
        return str(made["id"])

    async def wait(self, call: str) -> None:
        """Its long-poll."""
        self.agent.get(f"/api/tasks/{call}/poll?timeout=30")
        assert (await self.agent.answer())["status"] == "completed"

    async def decide(self, call: str) -> None:
        """A person's response."""
        who = {"completed_by_email": "ann@example.org"}
        await self.approver.post(f"/api/tasks/{call}/complete", {"response": {"approved": True}, **who})

    async def claim(self, call: str) -> None:
        """There is nothing to take: whoever reads the response may run."""


class HoldMyAgent(Peer):
    """holdmyagent: requests bound to a hash, and a verdict that is consumed once."""

    def command(self) -> Sequence[str]:
        """Its server."""
        credentials = ("agent_token", "app_token", "admin_password", "session_secret")
        lines = [
            "[server]",
            f'host = "{HOST}"',
            f"port = {self.port}",
            f'db_path = "{self.folder / "requests.db"}"',
            "[auth]",
            *(f'{name} = "{name * 4}"' for name in credentials),
            "[policy]",
            "rate_limit_per_minute = 1000000",
        ]
        self._settings.write_text("\n".join(lines))
        return ("hma", "serve", "--config", str(self._settings))

    @property
    def _settings(self) -> Path:
        return self.folder / "config.toml"

    def _token(self, role: str) -> str:
        """A new token, made as its operator makes one."""
        words = [_bin("hma"), "token", "create", f"bench-{role}", "--role", role, "--config", str(self._settings)]
        made = subprocess.run(words, env=_inherited(self.environment()), capture_output=True, text=True, check=True)
        return made.stdout.partition("token: ")[2].split()[0]

    def environment(self) -> Mapping[str, str]:
        """Where its settings are."""
        return {"HMA_CONFIG": str(self._settings)}

    async def connect(self) -> None:
        """A warden, which may consume, and the approver's app."""
        warden, app = [await asyncio.to_thread(self._token, role) for role in ("warden", "app")]
        self.agent, self.approver = await Wire.to(self.port, warden), await Wire.to(self.port, app)

    async def ask(self) -> str:
        """A request bound to its action."""
        text = self.text()
        action = json.dumps({"text": text})
        bound = {"canonical_action": action, "action_hash": hashlib.sha256(action.encode()).hexdigest()}
        asked = {"title": f"write_note {text[:20]}", "payload": {"text": text}, "ttl_seconds": 3600}
        return str((await self.agent.post("/v1/requests", {**asked, **bound}))["id"])

    async def wait(self, call: str) -> None:
        """As its own client: a look each second."""
        while True:
            self.agent.get(f"/v1/requests/{call}")
            if (await self.agent.answer())["status"] != "pending":
                return
            await asyncio.sleep(_LOOK_S)

    async def decide(self, call: str) -> None:
        """The app's decision."""
        await self.approver.post(f"/v1/requests/{call}/decision", {"decision": "approve"})

    async def claim(self, call: str) -> None:
        """Consume the verdict."""
        await self.agent.post(f"/v1/requests/{call}/consume", {})


PEERS: Mapping[str, type[Peer]] = {"awaithumans": AwaitHumans, "holdmyagent": HoldMyAgent}


async def measure(peer: Peer, cycles: int) -> dict[str, Any]:
    """Start it, measure both, and end it."""
    command, *words = peer.command()
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet
        [_bin(command), *words],
        cwd=peer.folder,
        env=_inherited(peer.environment()),
        **quiet,  # type: ignore[call-overload]
    )
    try:
        await _listens(peer.port)
        await peer.connect()
        for _ in range(_WARM_UP):
            await peer.served()
        served = [await peer.served() for _ in range(_SERVED)]
        return {"served": Spread.of(served), "started": Spread.of([await peer.started() for _ in range(cycles)])}
    finally:
        process.terminate()
        process.wait()


async def _listens(port: int) -> None:
    async with asyncio.timeout(_READY_WITHIN_S):
        while True:
            try:
                (await Wire.to(port)).close()
            except OSError:
                await asyncio.sleep(0.1)
            else:
                return


def _bin(command: str) -> str:
    return str(Path(sys.executable).with_name(command))


def _inherited(more: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **more}


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    place, name, number = sys.argv[1:]
    tell(asyncio.run(measure(PEERS[name](Path(place).absolute()), int(number))))
