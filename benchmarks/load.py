"""How long the next card, press and view take while the service has much to do.

`python -m benchmarks.load FOLDER WHAT`. The service is the real one with the Telegram adapter at Telegram's pace. In
Telegram's place a request object answers at once, so that what is measured is ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import json
import os
import socket
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
from benchmarks.commands import Spent, bare_client_over, figures, pending_over, service, spent
from benchmarks.telling import tell
from benchmarks.wire import HOST, Wire
from bot.api import serve_api
from bot.compose import Running, compose, policy_library
from bot.policies import Policies
from hitl.call import Ask, Post, PostKind, Reply, ReplyKind, Runs, Verb
from hitl.cards.data import view
from hitl.limits import Limits
from hitl.people import Directory
from hitl.ports import Change, adding
from sayso_client.wire import SOCKET_NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from benchmarks.commands import Service
    from hitl.call import Call
    from hitl.ports import Chat

_ME = f"local:{os.getuid()}"
#: Probes of each kind before a load.
_BEFORE = 3
ROOM, APPROVER, REQUESTER = "telegram:-100", "telegram:42", "local:1001"
_LARGE, _OPEN = 20, 100
#: A group has 20 messages a minute, so not many more new cards can be measured after a restart.
_PROBES_AFTER_A_RESTART = 6
_BETWEEN_S = 0.05
#: The user id of the agent that holds connections, and how often the command line is timed meanwhile.
_AGENT, _CLI_PROBES = 65_534, 10
#: The number of each request, because a request that was rejected recently isn't asked again.
_NUMBERS = count()
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
    socket: Path
    card: list[float] = field(default_factory=list)
    press: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    cli: list[Spent] = field(default_factory=list)
    alone: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    async def open(cls, folder: Path, *, scale: float = 1.0) -> Room:
        """Start the service on a state folder. `scale` is the part of Telegram's pace that is kept.

        With no pace to keep, the probes are also timed before any load.
        """
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
            people=Directory(approvers=(APPROVER, _ME), requesters=(REQUESTER,), routes=(ROOM,)),
            allow=(),
            limits=Limits(asks=1_000_000, asks_within_s=0, open_per_requester=1_000_000),
            policies=policies,
            chats=make,
        )
        await policies.start(running.store)
        await running.service.start()
        gc.freeze()
        running.parts.push_async_callback(policies.stop)
        run = folder.with_name(f"{folder.name}-run")
        await serve_api(running.service, run, running.parts)
        room = cls(running, telegram, run / SOCKET_NAME)
        if not scale:
            await room.before()
        return room

    async def before(self) -> None:
        """Time the probes before the load."""
        for _ in range(_BEFORE):
            await self.probe()
            await self.list_pending()
        self.alone = self.measured()
        for times in (self.card, self.press, self.shown, self.cli):
            times.clear()

    async def ask(self, args: Mapping[str, Any]) -> Call:
        """Ask as a way in does: the answer holds the view of the call."""
        ask = Ask("shell", "deploy", args, REQUESTER, "local", Runs.CALLER, agent="ask", cwd="/srv", must_ask=True)
        call = (await self.running.service.submit(ask)).call
        view(call)
        return call

    async def probe(self) -> None:
        """One small request: the time to its card, to the answer to a press on it, and to its view before that."""
        began = time.perf_counter()
        call = await self.ask({"argv": ["./deploy.sh", str(next(_NUMBERS))], "cwd": "/srv"})
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

    async def list_pending(self) -> None:
        """Run `sayso pending` once."""
        self.cli.append(await asyncio.to_thread(spent, *pending_over(self.socket)))

    def measured(self) -> dict[str, Any]:
        """The longest and the median of each probe, and the same before the load."""
        times = {"card": self.card, "press": self.press, "shown": self.shown}
        told = {name: figures([Spent(each, 0.0) for each in found]) for name, found in times.items()}
        return {**told, "cli": figures(self.cli), "alone": self.alone}


async def _while(room: Room, work: Awaitable[object]) -> dict[str, Any]:
    """Probe for as long as the work takes, at least once."""
    task, began = asyncio.ensure_future(work), time.perf_counter()
    listing = asyncio.ensure_future(_list_while(room, task))
    while True:
        await room.probe()
        if task.done():
            break
        await asyncio.sleep(_BETWEEN_S)
    await asyncio.gather(task, listing)
    return {**room.measured(), "took": time.perf_counter() - began}


async def _list_while(room: Room, work: asyncio.Future[object]) -> None:
    """Run `sayso pending` again and again until the work is done, at least once."""
    await room.list_pending()
    while not work.done():
        await room.list_pending()


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
    sent = len(before.telegram.sent)
    calls = [await before.ask({"argv": ["./old.sh", str(n)], "cwd": "/srv"}) for n in range(_OPEN)]
    while len(before.telegram.sent) < sent + _OPEN:  # noqa: ASYNC110 - the answer to a message is nobody's event
        await asyncio.sleep(0.01)
    await before.running.close()
    room = await Room.open(folder)
    for call in calls:
        await room.running.store.commit(adding(Change(posts=(Post(call.ref, ROOM, PostKind.EDIT),))))
        room.running.service.changed(call)
    room.alone = before.alone
    for _ in range(_PROBES_AFTER_A_RESTART):
        await room.probe()
        await room.list_pending()
        # A chat gets one message a second; the outcome of the probe is one too.
        await asyncio.sleep(2.0)
    told = room.measured()
    await room.running.close()
    return told


async def half_open(folder: Path) -> dict[str, Any]:
    """400 connections of the agent's user on the socket, each with half a request, and the usual limit of files."""
    return await _crowded(folder, 400, 0)


async def half_open_tcp(folder: Path) -> dict[str, Any]:
    """400 such connections on the port, from one address."""
    return await _crowded(folder, 400, 0, tcp=True)


async def few_files(folder: Path) -> dict[str, Any]:
    """318 such connections on the socket, while the service may open 400 files."""
    return await _crowded(folder, 318, 400)


async def _crowded(folder: Path, connections: int, open_files: int, *, tcp: bool = False) -> dict[str, Any]:
    """Time commands and requests of the approver, alone and while an agent holds connections.

    The agent opens lost connections again. Without root, the agent is the approver's user on the socket: the service
    can't tell them apart, and refuses the approver too.
    """
    with service(folder, askers=[f"local:{_AGENT}"], open_files=open_files) as running:
        alone = await _approver(running)
        holding = asyncio.create_task(_hold(running.port if tcp else running.socket, connections))
        await asyncio.sleep(1.0)
        loaded = await _approver(running)
        holding.cancel()
    return {**loaded, "alone": alone}


async def _approver(running: Service) -> dict[str, Mapping[str, float]]:
    """Time what an approver waits for: the list that has a new request, a decision, `sayso pending`, and the same list
    for a bare client.
    """
    found: dict[str, list[Spent]] = {name: [] for name in ("card", "press", "cli", "bare")}
    for number in itertools.islice(_NUMBERS, _CLI_PROBES):
        began = time.perf_counter()
        wire = Wire(*await asyncio.open_unix_connection(str(running.socket)))
        document = {"tools": "shell", "tool": "deploy", "args": {"argv": ["true", str(number)]}, "ask": True}
        call = await wire.post("/v1/calls", document)
        wire.get("/v1/calls?status=pending")
        assert call["ref"] in [each["ref"] for each in (await wire.answer())["calls"]]
        found["card"].append(Spent(time.perf_counter() - began, 0.0))
        wire.close()
        for name, command in (("cli", pending_over(running.socket)), ("bare", bare_client_over(running.socket))):
            found[name].append(await asyncio.to_thread(spent, *command))
        began = time.perf_counter()
        wire = Wire(*await asyncio.open_unix_connection(str(running.socket)))
        await wire.post(f"/v1/calls/{call['ref']}/decision", {"decision": "reject", "reason": "measured"})
        found["press"].append(Spent(time.perf_counter() - began, 0.0))
        wire.close()
    return {name: figures(times) for name, times in found.items()}


async def _hold(where: Path | int, wanted: int) -> None:
    """Keep so many connections to a socket or a port open, each with half a request."""
    held: list[socket.socket] = []
    while True:
        held = [each for each in held if _is_open(each)]
        while len(held) < wanted:
            held.append(_half_open(where))
        await asyncio.sleep(_AGAIN_S)


def _half_open(where: Path | int) -> socket.socket:
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(_AGENT)
    try:
        if isinstance(where, int):
            one = socket.create_connection((HOST, where))
        else:
            one = socket.socket(socket.AF_UNIX)
            one.connect(str(where))
    finally:
        os.seteuid(mine)
    one.settimeout(0)
    with contextlib.suppress(OSError):
        one.send(b"GET /v1/me HTTP/1.1\r\n")
    return one


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


WHAT: Mapping[str, Callable[[Path], Coroutine[Any, Any, dict[str, Any]]]] = {
    "megabytes": megabytes,
    "words": words,
    "restart": restart,
    "half_open": half_open,
    "half_open_tcp": half_open_tcp,
    "few_files": few_files,
}


if __name__ == "__main__":
    gc.set_threshold(10_000, 10, 10)
    tell(uvloop.run(WHAT[sys.argv[2]](Path(sys.argv[1]))))
