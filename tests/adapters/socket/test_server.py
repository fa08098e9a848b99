"""The socket's listening side: clear refusals for whatever comes in, and it goes on answering."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.socket.server import SocketServer, nobodys
from bot.surfaces import surfaces
from hitl.answers import Answer, Submitted
from hitl.errors import Unavailable
from hitl.gate import Gate
from hitl.model import Ask, Call, Reply
from hitl.people import Directory
from hitl.testing import MemoryStore, ScriptedExecutor, SetClock
from hitl.tokens import Keyring
from sayso_client.wire import LONGEST_LINE
from tests.hitl.world import Rules
from tests.patience import PATIENCE_S

ME = f"local:{os.getuid()}"


class Service:
    """A gate over memory, as far as the socket needs a service."""

    def __init__(self, *, listed: bool = True) -> None:
        me = (ME,) if listed else ()
        clock = SetClock(datetime(2026, 11, 27, 12, 0, tzinfo=UTC))
        self.gate = Gate(
            store=MemoryStore(clock),
            policies=Rules(),
            people=Directory(approvers=(*me, "local:99"), requesters=me, surfaces=surfaces()),
            executor=ScriptedExecutor({}),
            keys=Keyring([("one", b"k" * 32)]),
            owner="service:test",
        )
        self.broken = False

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call."""
        return await self.gate.submit(ask)

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Decide one; broken, it has a bug."""
        if self.broken:
            raise ValueError("a bug that quotes ghp_9aK2mXq7Lw4ZtRv8NcYb3Ud6Fg1Hj5Ps0EoI")
        return await self.gate.decide(reply)

    async def decided(self, call: Call, limit_s: float | None = None) -> Call:
        """The call as it is."""
        del limit_s
        return call

    async def explained(self, call: Call, limit_s: float | None = None) -> Call:
        """The call as it is."""
        return await self.decided(call, limit_s)

    async def ended(self, call: Call, limit_s: float | None = None) -> Call:
        """The call as it is."""
        return await self.decided(call, limit_s)


class Echo:
    """A conversation that says everything back."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self.left = False

    async def hear(self, line: str) -> None:
        """Say it back."""
        self._show(line.upper())

    def leave(self) -> None:
        """Remember it."""
        self.left = True


class Peer:
    """A raw connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        """Bytes, as they are. What the other side no longer wants to hear is no failure here."""
        self.writer.write(data)
        try:
            await self.writer.drain()
        except ConnectionError:
            return

    async def answer(self) -> dict[str, Any]:
        """The next line."""
        async with asyncio.timeout(PATIENCE_S):
            told: dict[str, Any] = json.loads(await self.reader.readline())
        return told

    async def ask(self, request: object) -> dict[str, Any]:
        """One request and its answer."""
        await self.send(json.dumps(request).encode() + b"\n")
        return await self.answer()


class World:
    """A server, and those who connect to it."""

    def __init__(self, folder: Path, service: Service, kept: Callable[[int], bool] = nobodys) -> None:
        self.service = service
        self.attached: list[Echo] = []
        self.server = SocketServer(folder, service, self._attach, kept=kept)
        self._peers: list[Peer] = []

    def _attach(self, _: str, show: Callable[[str], None]) -> Echo:
        self.attached.append(Echo(show))
        return self.attached[-1]

    async def peer(self) -> Peer:
        """One more connection."""
        made = Peer(*await asyncio.open_unix_connection(self.server.path, limit=2 * LONGEST_LINE))
        self._peers.append(made)
        return made

    async def close(self) -> None:
        """Everybody goes."""
        for peer in self._peers:
            peer.writer.close()
        await self.server.stop()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A server that knows us."""
    made = World(tmp_path / "run", Service())
    await made.server.start()
    yield made
    await made.close()


def refusal(answer: dict[str, Any]) -> str:
    """The code of a refusal."""
    assert answer["ok"] is False
    assert answer["error"]["message"].endswith(".")
    return str(answer["error"]["code"])


async def test_who_we_are_is_what_the_kernel_says(world: World) -> None:
    """Nobody sends their name."""
    peer = await world.peer()

    told = await peer.ask({"op": "ping"})
    assert (True, ME, ME) == (told["ok"], told["identity"], told["principal"])


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"{",
        b"[]",
        b"null",
        b'"ping"',
        b"{}",
        b'{"op": "shutdown"}',
        b'{"op": null}',
        b'{"op": "ping", "extra": 1}',
        b'{"op": "ask", "tool": "write", "args": {}, "requester": "local:0"}',
        b'{"op": "ask", "tool": "write", "args": {}, "runs": "service"}',
        b'{"op": "ask", "tool": "write", "args": []}',
        b'{"op": "ask", "args": {}}',
        b'{"op": "show"}',
        b'{"op": "decide", "target": "x", "verb": "delete"}',
        b'{"op": "decide", "target": "x", "verb": "approve", "identity": "local:0"}',
        b'{"op": "claim", "ref": "x", "secret_hash": "short"}',
        b'{"op": "finish", "ref": "x", "secret": "s", "result": "refused"}',
        b'{"op": "wait", "ref": "x", "limit_s": -1}',
        b'{"op": "wait", "ref": "x", "limit_s": 1e9}',
        b"[" * 100_000,
        b'{"op": "ask", "tool": "write", "args": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
        b"\xff\xfe",
        b"\x00",
    ],
)
async def test_what_is_no_request_is_refused_and_the_next_is_answered(world: World, line: bytes) -> None:
    """Same connection, next line: all is well."""
    peer = await world.peer()
    await peer.send(line + b"\n")

    assert "HITL_001" == refusal(await peer.answer())
    assert (await peer.ask({"op": "ping"}))["ok"]
    assert [] == await world.service.gate.store.pending()


async def test_a_line_that_is_too_long_is_refused(world: World) -> None:
    """In words; that connection is over, and others aren't."""
    peer, other = await world.peer(), await world.peer()
    await peer.send(b'{"op": "ping", "x": "' + b"x" * LONGEST_LINE + b'"}\n')

    assert "HITL_001" == refusal(await peer.answer())
    assert (await other.ask({"op": "ping"}))["ok"]


async def test_a_line_that_is_just_not_too_long_is_taken(world: World) -> None:
    """A mebibyte of arguments is recorded, whole, however long the line; of more the asker is told."""
    peer = await world.peer()
    most = world.service.gate.limits.args_bytes - len('{"text":""}')
    for size in (most, most + 1):
        line = b'{"op": "ask", "tool": "write", "args": {"text": "%s"}' % (b"x" * size)
        await peer.send(line + b" " * (LONGEST_LINE - len(line) - 2) + b"}\n")
        answer = await peer.answer()
        assert answer["ok"] is (size == most), answer

    assert "HITL_001" == refusal(answer)
    (call,) = await world.service.gate.store.pending()
    assert most == len(call.arguments["text"])


@pytest.mark.parametrize("half", [b"{", b'{"op": "ask", "tool": "write", "args": {}}'])
async def test_half_a_line_does_nothing(world: World, half: bytes) -> None:
    """Who breaks off in the middle has asked for nothing, though it may read like a request."""
    peer = await world.peer()
    await peer.send(half)
    peer.writer.write_eof()

    assert "HITL_001" == refusal(await peer.answer())
    assert b"" == await peer.reader.readline()
    assert [] == await world.service.gate.store.pending()


async def test_a_line_in_pieces_is_one_line(world: World) -> None:
    """However the bytes arrive."""
    peer = await world.peer()
    for piece in (b'{"op"', b': "pi', b'ng"}', b"\n"):
        await peer.send(piece)

    assert (await peer.answer())["ok"]


async def test_many_idle_connections_keep_nobody_out(world: World) -> None:
    """Two hundred who say nothing, and one who asks."""
    for _ in range(200):
        await world.peer()
    peer = await world.peer()

    assert (await peer.ask({"op": "ping"}))["ok"]


async def test_many_requests_in_one_go_are_answered_in_order(world: World) -> None:
    """Nothing is lost between lines."""
    peer = await world.peer()
    await peer.send(b'{"op": "ping"}\n{"op": "pending"}\n{"op": "bogus"}\n')

    assert "identity" in await peer.answer()
    assert [] == (await peer.answer())["calls"]
    assert "HITL_001" == refusal(await peer.answer())


async def test_a_bug_is_told_as_one_without_its_words(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The peer hears that it failed, not what with; the connection lives."""
    peer = await world.peer()
    call = (await peer.ask({"op": "ask", "tool": "write", "args": {}}))["call"]
    world.service.broken = True
    answer = await peer.ask({"op": "decide", "target": call["ref"], "verb": "reject"})
    capsys.readouterr()

    assert "FAILED" == refusal(answer)
    assert "ghp_" not in json.dumps(answer)
    assert (await peer.ask({"op": "ping"}))["ok"]


async def test_an_attached_peer_talks_until_it_goes(world: World) -> None:
    """Lines in, lines out, each turn closed; the conversation hears that its peer is gone."""
    peer = await world.peer()
    assert (await peer.ask({"op": "attach"}))["ok"]
    assert {"show": "HELLO"} == await peer.ask({"say": "hello"})
    assert {"done": True} == await peer.answer()
    peer.writer.close()
    await peer.writer.wait_closed()
    await world.server.stop()

    assert [True] == [echo.left for echo in world.attached]


@pytest.mark.parametrize("line", [b"hello", b"{}", b'{"say": 1}', b'{"op": "ping"}', b"[]", b'{"say": "a", "b": 1}'])
async def test_an_attached_peer_that_talks_nonsense_is_refused(world: World, line: bytes) -> None:
    """In words, and the conversation is over."""
    peer = await world.peer()
    await peer.ask({"op": "attach"})
    await peer.send(line + b"\n")

    assert "HITL_001" == refusal(await peer.answer())
    assert b"" == await peer.reader.readline()
    assert [True] == [echo.left for echo in world.attached]


async def test_an_unlisted_peer_gets_a_refusal_and_nothing_else(tmp_path: Path) -> None:
    """At once, on record, before anything that they send is read."""
    world = World(tmp_path / "run", Service(listed=False))
    await world.server.start()
    peer = await world.peer()

    assert "NOT_APPROVER" == refusal(await peer.answer())
    assert b"" == await peer.reader.readline()
    (line,) = await world.service.gate.store.history("")
    assert ("refused_peer", ME) == (line.event, line.actor)
    await world.close()


async def test_a_command_of_the_services_own_is_refused_though_its_user_is_listed(tmp_path: Path) -> None:
    """The kernel says which process it is; by its user alone it could answer as the people do who run the service."""
    world = World(tmp_path / "run", Service(), lambda pid: pid == os.getpid())
    await world.server.start()
    peer = await world.peer()

    assert "NOT_APPROVER" == refusal(await peer.answer())
    assert b"" == await peer.reader.readline()
    (line,) = await world.service.gate.store.history("")
    assert ("refused_peer", ME, '{"kept":true}') == (line.event, line.actor, line.data)
    await world.close()


async def test_folder_and_socket_have_their_modes(world: World) -> None:
    """The folder can be passed through and not listed; the socket can be used by all."""
    path = world.server.path
    assert [0o711, 0o666] == [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)]


async def test_a_second_server_is_refused_and_a_dead_socket_is_not_in_the_way(world: World) -> None:
    """One listens; what a killed one left behind is replaced."""
    path = world.server.path
    with pytest.raises(Unavailable, match="Another service listens"):
        await SocketServer(path.parent, world.service, world._attach).start()  # noqa: SLF001
    assert (await (await world.peer()).ask({"op": "ping"}))["ok"]

    await world.server.stop()
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(str(path))
    again = World(path.parent, world.service)
    await again.server.start()
    assert (await (await again.peer()).ask({"op": "ping"}))["ok"]
    await again.close()


async def test_a_folder_that_is_not_ours_is_not_used(tmp_path: Path) -> None:
    """A link in its place could lead anywhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match="isn't a folder of this user"):
        await World(tmp_path / "run", Service()).server.start()


async def test_after_the_stop_nobody_listens(world: World) -> None:
    """The socket is gone, and those who were connected are let go."""
    peer = await world.peer()
    await peer.ask({"op": "ping"})
    await world.server.stop()

    assert not world.server.path.exists()
    assert b"" == await peer.reader.readline()
