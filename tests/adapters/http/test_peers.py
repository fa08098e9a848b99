"""Who is at the other end of the Unix socket, and what each connection may take: raw bytes against a served API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import uvloop

from adapters.http.app import app
from adapters.http.callers import GONE, Authenticator
from adapters.http.connection import Limits
from adapters.http.listeners import Server, unix_listener
from adapters.http.operations import Operations
from adapters.http.waits import Waits
from bot.api import untroubled
from bot.service import Service
from hitl.connections import Connections, Party
from hitl.errors import Unavailable
from tests.adapters.http.conftest import ME, Api
from tests.sentences import raises

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from hitl.credentials import Credential

#: Short enough for a test, and long enough for a busy machine to send a whole request.
QUICK_S = 2.0
HEAD = b"POST /v1/calls HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"


class Late(NamedTuple):
    """A server, a connection to it, and a function that waits for the application's answer and returns its errors."""

    server: Server
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    errors: Callable[[], Awaitable[list[Exception]]]


class NoTokens:
    """No token works."""

    def find(self, token: str) -> Credential | None:
        """None."""
        del token
        return None

    def works(self, credential: object) -> bool:
        """There are none."""
        del credential
        return False


@pytest.fixture
def connections() -> Connections:
    """Room for five connections of one peer."""
    return Connections(20)


@pytest.fixture
async def path(api: Api, connections: Connections) -> AsyncIterator[Path]:
    """The socket of the API behind tight limits."""
    async with contextlib.AsyncExitStack() as parts:
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="door-"))) / "run"
        server = _server(
            api.service,
            folder / "s",
            Limits(head_s=QUICK_S, body_s=QUICK_S, idle_s=QUICK_S, linger_s=QUICK_S, connections=connections),
        )
        await server.start()
        parts.push_async_callback(server.stop)
        yield folder / "s"


def _server(service: Service, path: Path, limits: Limits, party: Party = Party.LISTED) -> Server:
    authenticator = Authenticator(service.gate, NoTokens())
    operations = Operations(service, Waits(), untroubled, authenticator.check)
    state = {"operations": operations, "authenticator": authenticator}
    served = app(untroubled, (), state)
    return Server(served, [unix_listener(path)], limits, party_of=lambda _uid, _pid: party)


async def sent(path: Path, data: bytes, *, patience_s: float = 30) -> bytes:
    """What comes back for these bytes until the service hangs up."""
    reader, writer = await asyncio.open_unix_connection(path)
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
    try:
        async with asyncio.timeout(patience_s):
            return await reader.read()
    finally:
        writer.close()


def status(answer: bytes) -> int:
    """The status of the first answer."""
    return int(answer.split(b" ", 2)[1])


# -- who ----------------------------------------------------------------------------------------------------------


async def test_a_user_on_no_list_is_refused_on_record(api: Api) -> None:
    """Whatever they ask for; the record names the user, and a pending call isn't shown."""
    api.gate.people = type(api.gate.people)(approvers=("token:ann",))
    answer = await api.local().get("/v1/calls")
    (line,) = await api.store.history("")

    assert (403, "NOT_APPROVER") == (answer.status_code, answer.json()["code"])
    assert ("refused_peer", ME) == (line.event, line.actor)


async def test_a_command_of_the_service_is_refused_though_its_user_is_listed(api: Api) -> None:
    """A command has the service's user, and must not ask or answer as the people of this machine."""
    with tempfile.TemporaryDirectory(prefix="kept-") as folder:
        server = _server(api.service, Path(folder) / "run" / "s", Limits(), Party.COMMAND)
        await server.start()
        answer = await sent(Path(folder) / "run" / "s", b"GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        await server.stop()
    (line,) = await api.store.history("")

    assert 403 == status(answer)
    assert ("refused_peer", {"kept": True}) == (line.event, json.loads(line.data))


async def test_a_second_service_does_not_take_the_socket(api: Api) -> None:
    """It is refused, and the first one goes on."""
    with pytest.raises(Unavailable, match="Another service listens"):
        unix_listener(api.socket)

    assert ME == (await api.local().get("/v1/me")).json()["identity"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
async def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    """Whoever owns the folder could put another socket in the place of ours."""
    (tmp_path / "run").mkdir()
    os.chown(tmp_path / "run", 4321, 4321)
    with raises(Unavailable, "api.http.socket.folder", folder=tmp_path / "run"):
        unix_listener(tmp_path / "run" / "s")


# -- what isn't one request, to everybody -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"content-length: 7\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{}     \r\n0\r\n\r\n",
        HEAD + b"content-length: 7\r\ncontent-length: 9\r\n\r\n{}     ",
        HEAD + b"content-length: 7\r\ncontent-length: 7\r\n\r\n{}     ",
        HEAD + b"content-length: +7\r\n\r\n{}     ",
        HEAD + b"content-length: 0x7\r\n\r\n{}     ",
        HEAD + b"content-length : 7\r\n\r\n{}     ",
        HEAD + b"transfer-encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"GET /v1/me HTTP/1.1\nhost: x\n\n",
        b"GET /v1/me HTTP/1.1\r\nhost: x\r\nx-a: 1\r\n 2\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
        b"GET http://evil/v1/me HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /v1\\me HTTP/1.1\r\nhost: x\r\n\r\n",
        b"CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b'{"op": "ping"}\n',
    ],
)
async def test_a_request_that_two_programs_could_read_in_two_ways_is_refused(path: Path, data: bytes) -> None:
    """Smuggled requests, and what is no HTTP: 400, and the connection ends."""
    assert 400 == status(await sent(path, data))


async def test_a_refused_request_has_no_second_one_behind_it(path: Path) -> None:
    """What follows a refused request on its connection is never read."""
    smuggled = b"GET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n"
    answer = await sent(path, HEAD + b"content-length: 2\r\ncontent-length: 40\r\n\r\n{}" + smuggled)

    assert 1 == answer.count(b"HTTP/1.1 ")


# -- how much and how long ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (HEAD + b"content-length: 104857600\r\n\r\n{", 413),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"y" * 65536 + b"\r\n") * 40, 413),
        (HEAD + b"x-a: " + b"y" * 100_000, 431),
        (HEAD + b"".join(b"x-%d: 1\r\n" % n for n in range(9_000)), 431),
        (HEAD[:20], 408),
        (HEAD, 408),
        (HEAD + b"content-length: 7\r\n\r\n{", 408),
        (b"", 408),
    ],
)
async def test_what_takes_too_much_or_too_long_is_refused(path: Path, data: bytes, expected: int) -> None:
    """Long bodies and headers, and requests that don't come to their end, are answered and cut off."""
    assert expected == status(await sent(path, data))


@pytest.mark.parametrize("kind", [b"content-length: 104857600", b"transfer-encoding: chunked"])
async def test_a_hundred_megabytes_are_refused_while_they_come(path: Path, kind: bytes) -> None:
    """The body is answered with 413 long before its end, and the next request is answered."""
    piece = b"y" * 65536 if b"length" in kind else b"10000\r\n" + b"y" * 65536 + b"\r\n"
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(HEAD + kind + b"\r\n\r\n")
    answering = asyncio.ensure_future(reader.readline())
    pieces = 0
    while not answering.done() and pieces < 1_600:
        writer.write(piece)
        await writer.drain()
        pieces += 1
    answer = await answering
    writer.close()

    assert (413, True) == (status(answer), pieces < 800)
    assert 200 == status(await sent(path, b"GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))


@pytest.mark.parametrize(
    "begun", [b"GET /v1/me HTTP/1.1\r\nhost: x\r\nx-slow: ", HEAD + b"content-length: 1000\r\n\r\n"]
)
async def test_a_trickle_of_bytes_gains_no_time(path: Path, begun: bytes) -> None:
    """Headers and bodies have one time each, however steadily their bytes come: 408."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(begun)
    reading = asyncio.ensure_future(reader.read())
    while not reading.done():
        with contextlib.suppress(ConnectionError):
            writer.write(b"y")
        await asyncio.wait([reading], timeout=QUICK_S / 20)
    writer.close()

    assert 408 == status(await reading)


async def test_an_idle_connection_ends(path: Path) -> None:
    """Behind an answer the connection is kept for a while, and then closed without a word."""
    answer = await sent(path, b"GET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n")

    assert (200, 1) == (status(answer), answer.count(b"HTTP/1.1 "))


@pytest.mark.parametrize("opened", [b'{"a":', b"["])
@pytest.mark.parametrize("depth", [101, 10_000, 200_000])
async def test_a_deep_body_is_refused_and_the_service_goes_on(path: Path, opened: bytes, depth: int) -> None:
    """JSON deeper than arguments may be is 400, however deep, and the next request is answered."""
    body = (
        b'{"tools":"t","tool":"write","args":{"x":'
        + opened * depth
        + b"1"
        + {b'{"a":': b"}", b"[": b"]"}[opened] * depth
        + b"}}"
    )
    head = HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body)

    assert 400 == status(await sent(path, head + body))
    assert 200 == status(await sent(path, b"GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))


async def test_one_peer_holds_so_many_connections(path: Path) -> None:
    """One more is answered with 429, and room that was left is given again."""
    held = [await asyncio.open_unix_connection(path) for _ in range(5)]
    refused = await sent(path, b"GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    while status(await sent(path, b"GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")) != 200:  # noqa: ASYNC110 - as a client would
        await asyncio.sleep(0.05)

    assert 429 == status(refused)
    assert b"retry-after: 1" in refused


@contextlib.asynccontextmanager
async def answering_late(folder: Path, ready: Callable[[Scope], Awaitable[object]]) -> AsyncIterator[Late]:
    """A server whose application answers each request with "late" when `ready` ends, and one connection to it."""
    failed: list[Exception] = []
    answered = asyncio.Event()

    async def slow(scope: Scope, _receive: Receive, send: Send) -> None:
        await ready(scope)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"late"})
        except Exception as error:  # noqa: BLE001 - the test looks at it
            failed.append(error)
        answered.set()

    async def errors() -> list[Exception]:
        await answered.wait()
        return failed

    server = Server(slow, [unix_listener(folder / "run" / "s")])
    await server.start()
    reader, writer = await asyncio.open_unix_connection(folder / "run" / "s")
    async with asyncio.timeout(30):
        yield Late(server, reader, writer, errors)
    writer.close()
    await server.stop()


def test_answers_to_a_connection_that_broke_are_dropped(tmp_path: Path) -> None:
    """If a connection breaks with several requests in flight, the application's answer goes nowhere, silently."""

    async def run() -> list[Exception]:
        asked = asyncio.Event()

        async def ready(scope: Scope) -> None:
            asked.set()
            await scope["state"][GONE]

        async with answering_late(tmp_path, ready) as late:
            late.writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 2)
            await asked.wait()
            (door,) = late.server.server_state.connections
            door.transport.abort()
            return await late.errors()

    assert [] == uvloop.run(run())


def test_an_answer_after_a_refusal_is_dropped(tmp_path: Path) -> None:
    """A broken request ends the connection for those before it, whose answers then go nowhere, silently."""

    async def run() -> list[Exception]:
        refused = asyncio.Event()

        async def ready(_: Scope) -> None:
            await refused.wait()

        async with answering_late(tmp_path, ready) as late:
            late.writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 2 + b"broken\r\n\r\n")
            assert 400 == status(await late.reader.readuntil(b"\r\n"))
            refused.set()
            failed = await late.errors()
            assert b"late" not in await late.reader.read()
        return failed

    assert [] == uvloop.run(run())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nul",
        b"[]",
        b'"x"',
        b'{"tools": "t", "tool": "write", "args": []}',
        b'{"tools": "t", "tool": "write", "args": {"x": NaN}}',
        b'{"tools": "t", "tool": "write", "args": {"x": 1e999}}',
        b'{"tools": "t", "tool": "write", "args": {"x": 9007199254740993}}',
        b'{"tools": "t", "tool": "write", "args": {"x": "\\ud800"}}',
        b'{"tools": "\\ud800", "tool": "write"}',
        b'{"tools": "t", "tool": "write", "note": "\\udfff"}',
        b'{"tools": "t", "tool": "write", "timeout_s": 1}',
        b'{"tools": "", "tool": "write"}',
        b'{"tools": "t", "tool": "write", "ask": 0}',
        b'{"tools": "t", "tool": "write", "ask": "false"}',
        b'{"tools": "t", "tool": "write", "timeout_s": "60"}',
        b'{"tools": 7, "tool": "write"}',
        b"\xff\xfe",
        b"\x00",
    ],
)
async def test_a_body_that_can_not_be_used_is_a_problem(path: Path, body: bytes) -> None:
    """400 with a problem document, whatever is wrong with it."""
    answer = await sent(path, HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    head, _, document = answer.partition(b"\r\n\r\n")

    assert 400 == status(answer)
    assert b"application/problem+json" in head
    assert "HITL_001" == json.loads(document)["code"]


async def test_a_form_of_a_page_is_no_request(path: Path) -> None:
    """A body that isn't declared as JSON, as a form of another site's page sends it, is refused."""
    body = b'{"tools": "files", "tool": "write"}'
    for kind in (b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x"):
        head = (
            b"POST /v1/calls HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n"
        )
        assert 400 == status(await sent(path, head % (kind, len(body)) + body))
