"""How long the next card, press and view take while the service has much to do.

`python -m benchmarks.load FOLDER WHAT`. The service is the real one with the Telegram adapter at Telegram's pace. In
Telegram's place a request object answers at once, so that what is measured is ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop
from telegram import Bot
from telegram.request import BaseRequest

from adapters.telegram.chat import TelegramChat
from adapters.telegram.delivery import Delivery
from adapters.telegram.pace import Pace
from benchmarks.figures import Spread
from benchmarks.workers import tell
from bot.compose import Running, compose, policy_library
from bot.policies import Policies
from hitl.call import Ask, Post, PostKind, Reply, ReplyKind, Runs, Verb
from hitl.cards.data import view
from hitl.limits import Limits
from hitl.people import Directory
from hitl.ports import Change, adding

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from hitl.call import Call
    from hitl.ports import Chat

ROOM, APPROVER, REQUESTER = "telegram:-100", "telegram:42", "local:1001"
_LARGE, _OPEN = 20, 100
#: A group has 20 messages a minute, so not many more new cards can be measured after a restart.
_PROBES_AFTER_A_RESTART = 6
_BETWEEN_S = 0.05
#: The user id of the agent that holds connections, and how often the command line is timed meanwhile.
_AGENT, _CLI_PROBES = 65_534, 10
#: Seconds after which the agent opens lost connections again.
_AGAIN_S = 0.2


class Answers(BaseRequest):
    """Telegram as the client library sees it: every message is taken at once. `sent` tells when, by its text."""

    def __init__(self) -> None:
        self.sent: dict[str, float] = {}
        self._ids = count(1)

    @property
    def read_timeout(self) -> float:
        """For how long an answer is waited for."""
        return 1.0

    async def initialize(self) -> None:
        """Do nothing."""

    async def shutdown(self) -> None:
        """Do nothing."""

    async def do_request(
        self, url: str, method: str, request_data: Any = None, *_: Any, **__: Any
    ) -> tuple[int, bytes]:
        """Take a message."""
        del method
        parameters = request_data.parameters if request_data else {}
        if url.endswith("/sendMessage"):
            self.sent[str(parameters["text"])] = time.perf_counter()
        message = {"message_id": next(self._ids), "date": 0, "chat": {"id": -100, "type": "group", "title": "Ops"}}
        return 200, json.dumps({"ok": True, "result": message}).encode()


@dataclass(slots=True)
class Room:
    """A service with a group on Telegram, and how long each probe of it took, in seconds."""

    running: Running
    telegram: Answers
    card: list[float] = field(default_factory=list)
    press: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    @classmethod
    async def open(cls, folder: Path, *, scale: float = 1.0) -> Room:
        """Start the service on a state folder. `scale` is the part of Telegram's pace that is kept."""
        telegram = Answers()

        async def make(store: Any, keys: Any) -> Mapping[str, Chat]:
            pace = Pace(asyncio.get_running_loop().time, scale=scale)
            bot = Bot("1:token", request=telegram, get_updates_request=telegram)
            delivery = Delivery(pace, say=store.say)
            chat = TelegramChat(bot, keys, delivery, stands=store.adopt, fresh=store.get, bind=store.bind)
            return {"telegram": chat}

        policies = Policies(policy_library([]), "default")
        running = await compose(
            state=folder,
            workspace=folder.with_name(f"{folder.name}-workspace"),
            people=Directory(approvers=(APPROVER,), requesters=(REQUESTER,), routes=(ROOM,)),
            allow=(),
            limits=Limits(asks=1_000_000, asks_within_s=0, open_per_requester=1_000_000),
            policies=policies,
            chats=make,
        )
        await policies.start(running.store)
        await running.service.start()
        gc.freeze()
        running.parts.push_async_callback(policies.stop)
        return cls(running, telegram)

    async def ask(self, args: Mapping[str, Any]) -> Call:
        """Ask as a way in does: the answer holds the view of the call."""
        ask = Ask("shell", "deploy", args, REQUESTER, "local", Runs.CALLER, agent="ask", cwd="/srv", must_ask=True)
        call = (await self.running.service.submit(ask)).call
        view(call)
        return call

    async def probe(self) -> None:
        """One small request: the time to its card, to the answer to a press on it, and to its view before that."""
        began = time.perf_counter()
        call = await self.ask({"argv": ["./deploy.sh", str(next(self._numbers))], "cwd": "/srv"})
        while not (at := next((at for text, at in self.telegram.sent.items() if call.short in text), 0.0)):  # noqa: ASYNC110 - the answer to a message is nobody's event
            await asyncio.sleep(0.001)
        self.card.append(at - began)
        began = time.perf_counter()
        found = await self.running.service.gate.find(call.short)
        view(found or call)
        self.shown.append(time.perf_counter() - began)
        began = time.perf_counter()
        reply = Reply(APPROVER, "telegram", conversation=ROOM, kind=ReplyKind.BUTTON, verb=Verb.REJECT, target=call.ref)
        await self.running.service.decide(reply)
        self.press.append(time.perf_counter() - began)

    def measured(self) -> dict[str, Any]:
        """The longest and the median of each probe."""
        times = {"card": self.card, "press": self.press, "shown": self.shown}
        return {name: {"p50": Spread.of(found).p50, "max": max(found)} for name, found in times.items()}


async def _while(room: Room, work: Awaitable[object]) -> dict[str, Any]:
    """Probe for as long as the work takes, at least once."""
    task, began = asyncio.ensure_future(work), time.perf_counter()
    while True:
        await room.probe()
        if task.done():
            break
        await asyncio.sleep(_BETWEEN_S)
    await task
    return {**room.measured(), "took": time.perf_counter() - began}


async def megabytes(folder: Path) -> dict[str, Any]:
    """Twenty requests of a megabyte of text at once."""
    room = await Room.open(folder, scale=0)
    texts = ["\n".join(f"line {n} of text {number}" for n in range(42_000)) for number in range(_LARGE)]
    asks = [room.ask({"text": text}) for text in texts]
    told = await _while(room, asyncio.gather(*asks))
    await room.running.close()
    return told


async def words(folder: Path) -> dict[str, Any]:
    """Requests of 200,000 words each, twenty at once."""
    room = await Room.open(folder, scale=0)
    asks = [room.ask({"argv": ["rm", str(n), *["w"] * 200_000], "cwd": "/srv"}) for n in range(_LARGE)]
    told = await _while(room, asyncio.gather(*asks))
    await room.running.close()
    return told


async def restart(folder: Path) -> dict[str, Any]:
    """A hundred cards are open in one group, and each is to be refreshed."""
    before = await Room.open(folder, scale=0)
    calls = [await before.ask({"argv": ["./old.sh", str(n)], "cwd": "/srv"}) for n in range(_OPEN)]
    while len(before.telegram.sent) < _OPEN:  # noqa: ASYNC110 - the answer to a message is nobody's event
        await asyncio.sleep(0.01)
    await before.running.close()
    room = await Room.open(folder)
    for call in calls:
        await room.running.store.commit(adding(Change(posts=(Post(call.ref, ROOM, PostKind.EDIT),))))
        room.running.service.changed(call)
    for _ in range(_PROBES_AFTER_A_RESTART):
        await room.probe()
        # A chat gets one message a second; the outcome of the probe is one too.
        await asyncio.sleep(2.0)
    told = room.measured()
    await room.running.close()
    return told


async def half_open(folder: Path) -> dict[str, Any]:
    """400 connections of the agent's user that never end their request, under the usual limit of open files."""
    return await _crowded(folder, 400, 0)


async def few_files(folder: Path) -> dict[str, Any]:
    """318 such connections, while the service may open 400 files."""
    return await _crowded(folder, 318, 400)


async def _crowded(folder: Path, connections: int, open_files: int) -> dict[str, Any]:
    """Time the approver's `sayso pending`, alone and while the agent's user holds connections.

    That user opens lost connections again. Without root, both are the same user: the service can't tell them apart, and
    refuses the approver too.
    """
    service, config, path = _started(folder, open_files)
    pending = (Path(sys.executable).with_name("sayso"), "pending", "--config", config)
    try:
        while not path.is_socket():  # noqa: ASYNC110 - a process of its own makes it
            await asyncio.sleep(0.05)
        alone = [await _timed(*pending) for _ in range(_CLI_PROBES)]
        holding = asyncio.create_task(_hold(path, connections))
        await asyncio.sleep(1.0)
        times = [await _timed(*pending) for _ in range(_CLI_PROBES)]
        holding.cancel()
    finally:
        service.terminate()
        service.wait()
    return {"cli": {"p50": Spread.of(times).p50, "max": max(times)}, "alone": Spread.of(alone).p50}


def _started(folder: Path, open_files: int) -> tuple[subprocess.Popen[bytes], Path, Path]:
    """Start the service. Return its process, its settings file and the path of its socket."""
    folder.mkdir(parents=True)
    config = folder / "sayso.toml"
    folders = {"state": "state", "workspace": "workspace", "runtime": "run"}
    people = f'requesters = ["local:{_AGENT}"]\napprovers = ["local:{os.getuid()}"]\ntools = {{allow = []}}\n'
    config.write_text("".join(f'{name} = "{folder / place}"\n' for name, place in folders.items()) + people)
    limit = f"ulimit -n {open_files}; " if open_files else ""
    program = ["/bin/sh", "-c", f'{limit}exec "$0" "$@"', str(Path(sys.executable).with_name("sayso"))]
    with (folder / "log").open("wb") as log:
        service = subprocess.Popen([*program, "run", "--config", str(config)], stderr=log)
    return service, config, folder / "run" / "sayso.sock"


async def _hold(path: Path, wanted: int) -> None:
    """Keep so many connections open, each with half a request."""
    held: list[socket.socket] = []
    while True:
        held = [each for each in held if _is_open(each)]
        while len(held) < wanted:
            one = socket.socket(socket.AF_UNIX)
            _as_agent(one, path)
            held.append(one)
        await asyncio.sleep(_AGAIN_S)


def _as_agent(one: socket.socket, path: Path) -> None:
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(_AGENT)
    try:
        one.connect(str(path))
    finally:
        os.seteuid(mine)
    one.settimeout(0)
    with contextlib.suppress(OSError):
        one.send(b"GET /v1/me HTTP/1.1\r\n")


def _is_open(one: socket.socket) -> bool:
    """Return whether the service has neither answered nor ended a connection. Close it otherwise."""
    try:
        one.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        pass
    one.close()
    return False


async def _timed(*command: object) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=subprocess.DEVNULL)
    if await process.wait():
        raise RuntimeError("sayso pending got no answer")
    return time.perf_counter() - began


WHAT: Mapping[str, Callable[[Path], Coroutine[Any, Any, dict[str, Any]]]] = {
    "megabytes": megabytes,
    "words": words,
    "restart": restart,
    "half_open": half_open,
    "few_files": few_files,
}


if __name__ == "__main__":
    gc.set_threshold(10_000, 10, 10)
    tell(uvloop.run(WHAT[sys.argv[2]](Path(sys.argv[1]))))
