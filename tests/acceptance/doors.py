"""The doors by which scripts reach a service: `sayso ask` over the socket, `sayso-ask` over HTTPS with a token."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.installation import ME, SAYSO, Installation
from tests.acceptance.test_http_page import free_port

#: The person for whom tokens ask.
OWNER = "ada"


@dataclass(frozen=True)
class Door:
    """The commands of one door to a service. `ask` and `wait` are the words before the tool or the ref."""

    service: Installation
    ask: tuple[str, ...]
    wait: tuple[str, ...]

    def words(self, command: str, *rest: str) -> list[str]:
        """The words of a command. Commands other than `ask` and `wait` go over the socket at every door."""
        found = {"ask": self.ask, "wait": self.wait}.get(command, (str(SAYSO), command))
        return [*found, *rest]

    def run(self, command: str, *rest: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        program, *words = self.words(command, *rest)
        return self.service.run(*words, program=program, **environment)

    def begin(self, command: str, *rest: str, **environment: str) -> subprocess.Popen[str]:
        """Start a command."""
        program, *words = self.words(command, *rest)
        return self.service.begin(*words, program=program, **environment)


#: Opens a door to a running service.
Doors = Callable[[Installation], Door]


def over_http(settings: str) -> str:
    """Settings with an HTTP port, a requester for tokens, and the operator who makes them."""
    settings = settings.replace(f'requesters = ["{ME}"]', f'requesters = ["{ME}", "{OWNER}"]')
    if "operators" not in settings:
        settings = f'operators = ["{ME}"]\n{settings}'
    return f"{settings}\n[http]\nport = {free_port()}\n"


def by_socket(service: Installation) -> Door:
    """The door of the service's own machine."""
    return Door(service, (str(SAYSO), "ask"), (str(SAYSO), "wait"))


@contextlib.contextmanager
def by_https(service: Installation, tls: Certificate) -> Iterator[Door]:
    """The door of other machines: the client's commands, a token and TLS."""
    made = service.root / "token"
    if not made.exists():
        token = service.call("make_token", name="ci", scope="agent", owner=OWNER, origins=["local"])["token"]
        made.write_text(f"{token}\n")
        made.chmod(0o600)
    with tls.serving(port_of(service)) as url:
        options = ("--url", url, "--token-file", str(made), "--ca-file", str(tls.file))
        programs = (str(SAYSO.with_name(name)) for name in ("sayso-ask", "sayso-wait"))
        ask, wait = ((program, *options) for program in programs)
        yield Door(service, ask, wait)


def port_of(service: Installation) -> int:
    """The port of a service whose settings `over_http` made."""
    found = re.search(r"^port = (\d+)$", service.settings, re.MULTILINE)
    assert found
    return int(found[1])


@dataclass(frozen=True)
class Certificate:
    """A certificate for localhost, signed by itself, and its key."""

    file: Path
    key: Path

    @contextlib.contextmanager
    def serving(self, port: int) -> Iterator[str]:
        """Serve a loopback port at an HTTPS address, as a proxy does. The address."""
        proxy = _Proxy(port, self)
        thread = threading.Thread(target=lambda: asyncio.run(proxy.serve()))
        thread.start()
        assert proxy.ready.wait()
        try:
            yield f"https://localhost:{proxy.port}"
        finally:
            proxy.stop()
            thread.join()


class _Proxy:
    """A TLS proxy before one port. Without a service behind it, it closes each connection."""

    def __init__(self, behind: int, tls: Certificate) -> None:
        self._behind = behind
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(tls.file, tls.key)
        self.ready = threading.Event()
        self.port = 0

    async def serve(self) -> None:
        """Serve until `stop`."""
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self._stopped.wait()
        server.close()

    def stop(self) -> None:
        """End `serve`, from another thread."""
        self._loop.call_soon_threadsafe(self._stopped.set)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream, back = await asyncio.open_connection("127.0.0.1", self._behind)
        except OSError:
            writer.close()
            return
        with contextlib.suppress(asyncio.CancelledError):  # The proxy stops.
            await asyncio.gather(_carry(reader, back), _carry(upstream, writer))


async def _carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        with contextlib.suppress(OSError):
            while chunk := await source.read(1 << 16):
                sink.write(chunk)
                await sink.drain()
    finally:
        sink.close()


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A new certificate."""
    if not shutil.which("openssl"):
        # Only tests over TLS need a certificate; the same rules are tested over the socket.
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    extensions = ("subjectAltName=DNS:localhost", "keyUsage=digitalSignature,keyCertSign")
    added = [word for extension in extensions for word in ("-addext", extension)]
    command = ["openssl", *words.split(), *added, "-keyout", str(made.key), "-out", str(made.file)]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.fixture(scope="module", params=["socket", pytest.param("https", marks=pytest.mark.long)])
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of door. Each test of `door` or `doors` runs once for each kind, over HTTPS by `make long` alone."""
    return str(request.param)


@pytest.fixture
def doors(kind: str, request: pytest.FixtureRequest) -> Iterator[Doors]:
    """Opens a door to a running service whose settings `over_http` made."""
    with contextlib.ExitStack() as opened:

        def of(service: Installation) -> Door:
            if kind == "socket":
                return by_socket(service)
            return opened.enter_context(by_https(service, request.getfixturevalue("tls")))

        yield of


@pytest.fixture
def door(doors: Doors, service: Installation) -> Door:
    """A door to the shared service."""
    return doors(service)
