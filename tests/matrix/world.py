"""A world: one installation, the real `sayso run` in it, and its many deaths.

People and scripts (`people.py`) go on as if nothing happened; the service is killed with SIGKILL beneath them and
started again. Lives that end by a kill are forks (`forks.py`); the last one is started as the README starts it. Nothing
here knows which point of the code a kill hits: half of them come some acts after the start, and a few milliseconds, the
others anywhere in the start itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.installation import ME, Installation
from tests.forks import Fork
from tests.matrix.rooms import PATIENCE_S, Room

#: The part of the lives that end before the service is ready, and of those in which one press is waited for.
EARLY, CALM = 0.4, 0.1
#: Other lives end so many acts after the service is ready, or so many seconds, or when requests end that are to end
#: within that time, and a moment later.
ACTS, LONGEST_S, MOMENT_S = 12, 2.0, 0.06
LOG = "runs.log"
#: Where this harness lies: the service is started from the same tree, so that a changed copy tests itself.
TREE = Path(__file__).parents[2]
SETTINGS = """
requesters = [{asker}, {me}]
approvers = [{deciders}, {me}, {tokens}]
operators = [{me}]
self_approval_socket = "high"

[conversations.local]
routes = [{place}]

[limits]
asks = 1000000
again_s = 0
open_per_requester = 1000

[http]
host = {host}
port = {port}
tokens = {{ {risks} }}

"""
#: Where TCP is served, and the names of tokens that may decide.
HOST, APPROVERS = "127.0.0.1", tuple(f"boss{number}" for number in range(20))


@dataclass
class Asked:
    """A request: `recorded` tells whether it was answered for, `exits` how the processes that wait for it ended."""

    mark: str
    amount: int
    recorded: Callable[[], bool] | bool = False
    exits: list[int] = field(default_factory=list)


@dataclass
class Act:
    """A decision that somebody sent: what `checker.py` reads of it."""

    mark: str
    by: str
    verb: str
    at: float
    trace: str = ""
    answered: Callable[[], bool] | bool = False
    decided: bool = False
    calm: bool = False
    told: Callable[[], bool] | bool = True


class World:
    """The service, and what was asked of it and decided.

    Everybody draws from `sure`. `patience_s` is how long a living service may take to answer a press, and to come to
    rest at the end.
    """

    def __init__(self, root: Path, room: Room, sure: random.Random, patience_s: float) -> None:
        self.room = room
        self.sure = sure
        self.patience_s = patience_s
        self.asks: list[Asked] = []
        self.acts: list[Act] = []
        self.kills = 0
        #: When requests that end together end, in Unix seconds: a life goes on until such a moment if it is near.
        self.deadlines: list[float] = []
        quoted = ", ".join(map(json.dumps, room.deciders))
        names = {"asker": room.asker, "place": room.place, "me": ME, "host": HOST}
        tokens = {
            "tokens": ", ".join(json.dumps(f"token:{name}") for name in APPROVERS),
            "risks": ", ".join(f'{name} = "high"' for name in APPROVERS),
        }
        self.port = _free_port()
        told = {name: json.dumps(text) for name, text in names.items()}
        settings = SETTINGS.format(deciders=quoted, port=self.port, **told, **tokens) + room.settings
        self.service = Installation(root, settings, {**room.environment, "PYTHONPATH": f"{TREE}:{TREE / 'clients'}"})
        self.service.workspace.mkdir()
        self._process: Fork | subprocess.Popen[bytes] | None = None
        self._start_s = 1.0

    @property
    def log(self) -> Path:
        """What the tools append to."""
        return self.service.workspace / LOG

    def did(self, act: Act) -> Act:
        """Keep what somebody did: it brings the next kill nearer."""
        self.acts.append(act)
        return act

    async def live(self, calm: Callable[[], Any]) -> None:
        """Start the service, and kill it at a random moment; `calm` is what a calm life waits for."""
        began, draw = time.monotonic(), self.sure.random()
        self.room.launched()
        self._process = self.sayso("run", "--config", str(self.service.config), errors=self.service.root / "log")
        if draw < EARLY:
            await asyncio.sleep(self.sure.uniform(0.0, self._start_s))
        else:
            await self.ready()
            self._start_s = (self._start_s + time.monotonic() - began) / 2
            await (calm() if draw < EARLY + CALM else self._until_something())
        await self.kill()

    def sayso(self, *words: str, errors: Path = Path(os.devnull)) -> Fork:
        """Run the command in a fork, in the workspace; its stderr is appended to `errors`."""
        return Fork([*words], self.service.surroundings(), self.service.workspace, errors)

    def launch(self) -> None:
        """Start the service for the last time, by its own command."""
        self.room.launched()
        self._process = self.service.launch()

    async def ready(self) -> None:
        """Wait until the platform and the socket are connected. Raises TimeoutError after PATIENCE_S."""
        await self.room.connected()
        async with asyncio.timeout(PATIENCE_S):
            while not await self._listens():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)

    async def _listens(self) -> bool:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_unix_connection(self.service.socket)
            writer.close()
            return True
        return False

    async def _until_something(self) -> None:
        enough = len(self.acts) + self.sure.randrange(ACTS)
        until = time.monotonic() + LONGEST_S
        while len(self.acts) < enough and time.monotonic() < until:  # noqa: ASYNC110 - also for time
            await asyncio.sleep(0.005)
        now = time.time()
        left = min((deadline - now for deadline in self.deadlines if deadline > now), default=0.0)
        await asyncio.sleep((left if left < LONGEST_S else 0.0) + self.sure.uniform(0.0, MOMENT_S))

    @property
    def process(self) -> Fork | subprocess.Popen[bytes]:
        """The living service. Raises AssertionError if it has ended by itself."""
        assert self._process is not None
        assert self._process.poll() is None, self.service.log[-3000:]
        return self._process

    async def kill(self) -> None:
        """Send SIGKILL, and wait for the end. Raises as `process`."""
        process = self.process
        process.kill()
        await asyncio.to_thread(process.wait)
        self.kills += 1

    def close(self) -> None:
        """Leave nothing running."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    async def frozen(self, until: float) -> None:
        """Stop the process until then, as a suspended machine does; its timers and its peers go on meanwhile."""
        process = self._process
        assert process is not None
        if process.poll() is None:
            os.kill(process.pid, signal.SIGSTOP)
            try:
                await asyncio.sleep(until - time.time())
            finally:
                if process.poll() is None:
                    os.kill(process.pid, signal.SIGCONT)

    async def rest(self, gone: Callable[[], bool]) -> None:
        """Wait until people are `gone`, and nothing waits to be handled or decided, and no tool of the service runs.

        Give up once no further call was decided for `patience_s` seconds: `checker.py` reports what is open then.
        """
        decided, give_up = -1, 0.0
        while not gone() or self._unsettled():
            if (now_decided := self._count("calls where decision is not null")) != decided:
                decided, give_up = now_decided, time.monotonic() + self.patience_s
            if time.monotonic() > give_up:
                return
            await asyncio.sleep(0.05)

    def _unsettled(self) -> int:
        running = "state = 'executing' and runs = 'service'"
        return self._count("inbox where handled_at is null") + self._count(
            f"calls where state = 'awaiting_confirmation' or ({running})"
        )

    def _count(self, rows: str) -> int:
        with self.service.database() as database:
            (number,) = database.execute(f"select count(*) from {rows}").fetchone()  # noqa: S608 - ours
        return int(number)

    async def leave(self, folder: Path) -> None:
        """Stop the service for good, and put what `checker.py` reads into the folder. Raises as `process`."""
        process = self.process
        process.terminate()
        await asyncio.to_thread(process.wait, PATIENCE_S)
        history = {
            "asks": [asdict(_fixed(one)) for one in self.asks],
            "acts": [asdict(_fixed(one)) for one in self.acts],
        }
        (folder / "history.json").write_text(json.dumps(history, indent=1))
        with self.service.database() as database:
            database.execute("vacuum into ?", (str(folder / "sayso.db"),))
        if self.log.exists():
            shutil.copy(self.log, folder / LOG)


def _free_port() -> int:
    """A port of HOST that nobody listens on."""
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def _fixed(one: Any) -> Any:
    """A record with what was to be asked at the end."""
    for name in ("recorded", "answered", "told"):
        if callable(asking := getattr(one, name, None)):
            setattr(one, name, asking())
    return one
