"""The API against schemathesis: every answer is as the OpenAPI document says, and none is a failure of the service.

Meanwhile an approver decides what is asked for, so that schemathesis gets to claim, report and release calls too. What
the document can't say about a request is in `schema_hooks.py`.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.acceptance.installation import ME, Installation, until
from tests.thirdparty.schema_hooks import NO_TOKENS

pytestmark = pytest.mark.thirdparty

SETTINGS = f"""
requesters = ["{ME}"]
approvers = ["token:ann", "local:4321"]
operators = ["{ME}", "token:ops"]
limits = {{asks = 1000000, open_per_requester = 100000, again_s = 0}}

[http]
port = 0
tokens = {{ann = "critical"}}
"""
HERE = Path(__file__).parent
#: Each kind of token, by its name.
SCOPES = {"ci": "agent", "ann": "approver", "ops": "operator"}
_LONGEST_S = 1800
_MOST = 2**16


@pytest.fixture(scope="module")
def service() -> Iterator[Installation]:
    """A service with a port."""
    with tempfile.TemporaryDirectory(prefix="gated-") as folder:
        (Path(folder) / "sayso").mkdir()
        service = Installation(Path(folder) / "sayso", SETTINGS)
        try:
            service.start()
            yield service
        finally:
            service.close()


@pytest.fixture(scope="module")
def url(service: Installation) -> str:
    """Where the service listens on TCP."""
    found = until(lambda: re.search(r"http\.ready.* port=(\d+)", service.log), "a port")
    return f"http://127.0.0.1:{found[1]}"


@pytest.fixture(scope="module")
def tokens(service: Installation) -> dict[str, dict[str, str]]:
    """The header of each token."""
    found = {}
    for name, scope in SCOPES.items():
        owner = ("--owner", ME) if scope == "agent" else ()
        made = service.run("token", "create", name, "--scope", scope, *owner)
        found[name] = {"Authorization": f"Bearer {made.stdout.strip()}"}
    return found


@pytest.fixture
def pending(url: str, tokens: dict[str, dict[str, str]]) -> Iterator[None]:
    """Ten calls that are there from the start. An approver approves most calls, rejects some, and lets some be."""
    over = threading.Event()

    def decide() -> None:
        verbs = itertools.cycle(["approve", None, "approve", "reject"])
        met = set()
        with httpx.Client(base_url=url, headers=tokens["ann"], timeout=70) as client:
            while not over.wait(0.02):
                for call in client.get("/v1/calls?limit=200").json().get("calls", ()):
                    if call["ref"] not in met and (verb := next(verbs)):
                        client.post(f"/v1/calls/{call['ref']}/decision", json={"decision": verb})
                    met.add(call["ref"])

    for number in range(10):
        asked = {"tools": "deploy", "tool": "release", "args": {"number": number}}
        httpx.post(f"{url}/v1/calls", headers=tokens["ci"], json=asked).raise_for_status()
    thread = threading.Thread(target=decide)
    thread.start()
    yield
    over.set()
    thread.join()


@contextmanager
def relayed(path: Path) -> Iterator[str]:
    """The address of a relay to a Unix socket: schemathesis knows TCP alone."""

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as behind:
                behind.connect(str(path))
                threading.Thread(target=pump, args=(behind, self.request), daemon=True).start()
                pump(self.request, behind)

    def pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while read := source.recv(_MOST):
                target.sendall(read)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # One of the two hung up.

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Relay) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def tested(service: Installation, url: str, *more: str, **environment: str) -> None:
    """Let schemathesis try examples, border cases, random requests and whole sequences of requests."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", HERE / "schemathesis.toml", "--no-color"),
            *("run", f"{url}/openapi.json", "--max-examples", "30", "--request-timeout", "70", *more),
        ],
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
        cwd=service.root,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), **environment},
    )

    assert 0 == done.returncode, done.stdout[-8000:]
    assert "Traceback" not in service.log


@pytest.mark.usefixtures("pending")
@pytest.mark.parametrize("name", SCOPES)
def test_every_answer_to_a_token_is_as_the_document_says(
    service: Installation, url: str, tokens: dict[str, dict[str, str]], name: str
) -> None:
    """An agent asks, claims and reports; an approver decides; an operator reads."""
    tested(service, url, "--header", f"Authorization: {tokens[name]['Authorization']}")


@pytest.mark.usefixtures("pending")
def test_every_answer_on_the_socket_is_as_the_document_says(service: Installation) -> None:
    """An operator on the Unix socket makes and revokes tokens too, and reloads. No token is needed there.

    The stream of a conversation doesn't end, and schemathesis can't read a part of it.
    """
    with relayed(service.socket) as url:
        tested(service, url, "--exclude-path", "/v1/chat", **{NO_TOKENS: "yes"})
