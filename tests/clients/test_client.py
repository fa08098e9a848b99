"""The calling side, against a service that answers what the test says."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hitl.errors import NotApprover
from sayso_client.calls import AsyncSayso, Sayso
from sayso_client.client import Client
from sayso_client.errors import ClientError
from sayso_client.life import Request
from sayso_client.settings import configuration
from sayso_client.wire import request
from tests.answered import answers
from tests.clients.answering import answer_with, chunked, problem, read_request
from tests.patience import PATIENCE_S
from tests.sentences import raises, says

Answering = Callable[[bytes], Path]


ABSENT = """
import sys
from sayso_client import ClientError, Request, Sayso, configuration
try:
    Sayso(configuration(socket=sys.argv[1]), patience_s=float(sys.argv[2])).call(Request("x", {}), print)
except ClientError as error:
    print(error.code, error.message)
"""


def test_a_program_hears_at_once_of_a_socket_that_is_not_there(tmp_path: Path) -> None:
    """Nobody restarts there, so it doesn't wait."""
    path = tmp_path / "none.sock"
    words = [sys.executable, "-c", ABSENT, str(path), "600"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=True)

    assert done.stdout.startswith("UNAVAILABLE ")
    assert says(done.stderr, "reach.tried", where=path)


def test_a_program_that_waits_for_a_service_says_at_once_for_which(tmp_path: Path) -> None:
    """A socket at which nobody listens may belong to a service that restarts. The log says it once."""
    path = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    words = [sys.executable, "-c", ABSENT, str(path), "1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=True)

    assert says(done.stdout, "reach.lost")
    assert [True] == [says(line, "reach.again", where=path) for line in done.stderr.splitlines()]


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Answering]:
    """Listens once: sends its bytes to whoever connects, reads one line of theirs, and hangs up."""
    listener = socket.socket(socket.AF_UNIX)
    path = tmp_path / "s"
    threads: list[threading.Thread] = []

    def serve(answer: bytes) -> None:
        peer, _ = listener.accept()
        with peer, peer.makefile("rb") as lines:
            peer.sendall(answer)
            lines.readline()

    def start(answer: bytes) -> Path:
        listener.bind(str(path))
        listener.listen()
        threads.append(threading.Thread(target=serve, args=(answer,)))
        threads[0].start()
        return path

    yield start
    for thread in threads:
        thread.join()
    listener.close()


def test_the_document_of_an_answer_is_returned(answering: Answering) -> None:
    """As callers of the operation read it."""
    with Client(answering(answer_with(200, {"calls": [], "next": None}))) as client:
        assert {"calls": []} == client.call("pending")


@pytest.mark.parametrize("code", ["ALREADY_DECIDED", "CODE_OF_A_NEWER_SERVICE"])
def test_the_error_of_an_answer_is_raised(answering: Answering, code: str) -> None:
    """The error has the code and the sentence of the answer."""
    path = answering(answer_with(409, problem(code, "So it is.")))
    with Client(path) as client, pytest.raises(ClientError, match="So it is") as caught:
        client.call("ping")

    assert code == caught.value.code


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{}",
        b"SSH-2.0-OpenSSH\r\n",
        b'{"ok": true}\n',
    ],
)
def test_a_connection_that_breaks_off_is_unavailable(answering: Answering, answer: bytes) -> None:
    """Half an answer is none; what was asked may have been recorded."""
    path = answering(answer)
    with Client(path) as client:
        with raises(ClientError, "reach.broken", path=path):
            client.call("ping")

        assert client.broken


def test_nobody_there_is_unavailable(tmp_path: Path) -> None:
    """With what to do about it."""
    with raises(ClientError, "reach.none", path=tmp_path / "none"):
        Client(tmp_path / "none")


@pytest.fixture
def foreign(answering: Answering, tmp_path: Path) -> Path:
    """The socket of something that answers, in another user's folder."""
    if os.geteuid() != 0:
        pytest.skip("only root can make another user's folder")
    made = tmp_path / "made"
    made.mkdir()
    answering(answer_with(200, {})).rename(made / "s")
    os.chown(made, 4321, 4321)
    return made / "s"


def test_nobody_poses_as_the_service_by_being_there_first(foreign: Path, tmp_path: Path) -> None:
    """Where anybody may make a folder, one is used only if it is our own, or root's."""
    tmp_path.chmod(0o1777)
    with raises(ClientError, "reach.foreign", folder=foreign.parent):
        Client(foreign)
    os.chown(foreign.parent, 0, 0)

    with Client(foreign) as client:
        assert {} == client.call("ping")


def test_no_client_of_a_program_asks_who_was_there_first(foreign: Path, tmp_path: Path) -> None:
    """`Sayso` and `AsyncSayso` refuse that folder too, also if it was made after they were."""

    async def read() -> None:
        await waiting.read("K7Q2MX")

    tmp_path.chmod(0o1777)
    place = foreign.parent.rename(tmp_path / "later")
    blocking, waiting = Sayso(configuration(socket=foreign)), AsyncSayso(configuration(socket=foreign))
    place.rename(foreign.parent)
    with blocking, raises(ClientError, "reach.foreign", folder=foreign.parent):
        blocking.read("K7Q2MX")
    with raises(ClientError, "reach.foreign", folder=foreign.parent):
        asyncio.run(read())
    os.chown(foreign.parent, 0, 0)

    with Client(foreign) as client:
        assert {} == client.call("ping")


def test_a_service_may_have_a_user_of_its_own(foreign: Path, tmp_path: Path) -> None:
    """Where not everybody may make a folder, whoever made this one was let to."""
    tmp_path.chmod(0o755)

    with Client(foreign) as client:
        assert {} == client.call("ping")


def test_what_is_said_brings_texts_until_the_turn_is_over(tmp_path: Path) -> None:
    """Any number of texts; each line goes over a connection of its own."""
    path, said = tmp_path / "s", list[dict[str, object]]()
    held = chunked({"chat": "c"}, {"show": "one"}, {"show": "two"}, {"done": True}, {"show": "later"})
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            for answer in (held, answer_with(202, {"heard": True})):
                peers.append(listener.accept()[0])
                with peers[-1].makefile("rb") as lines:
                    said.append(read_request(lines) or {})
                peers[-1].sendall(answer)

        peers: list[socket.socket] = []
        thread = threading.Thread(target=serve)
        thread.start()
        with Client(path) as client:
            client.attach()
            assert ["one", "two"] == list(client.say("hello"))
        thread.join()
        for peer in peers:
            peer.close()

    assert ("/v1/chat/c", {"say": "hello"}) == (said[1]["op"], said[1]["body"])


def test_a_conversation_that_is_refused_is_raised(answering: Answering) -> None:
    """With the code and the sentence of the answer."""
    path = answering(answer_with(403, problem("NOT_APPROVER", "Not you.")))
    with Client(path) as client, answers(NotApprover, match="Not you"):
        client.attach()


def test_a_connection_that_the_service_ends_is_made_again(answering: Answering) -> None:
    """Behind an answer with `Connection: close`, the next request takes a new connection."""
    last = answer_with(200, {}).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    with Client(path := answering(last)) as client:
        client.call("ping")
        path.unlink()
        with raises(ClientError, "reach.none", path=path):
            client.call("ping")


def test_fields_of_a_path_can_not_name_another_path() -> None:
    """A ref is one segment, whatever is in it, and a key that isn't printable ASCII is escaped."""
    sent = request("show", {"target": "../v1/tokens?x=1#"}).split(b"\r\n")[0]
    asked = request("ask", {"tool": "t", "key": "a\r\nX-Evil: 1"})

    assert b"GET /v1/calls/..%2Fv1%2Ftokens%3Fx%3D1%23/record HTTP/1.1" == sent
    assert b"Idempotency-Key: a%0D%0AX-Evil%3A%201\r\n" in asked


def test_who_hangs_up_first_may_have_said_why(tmp_path: Path) -> None:
    """A refusal that was sent before the request could be is read, not lost in the broken pipe."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        with Client(path) as client:
            peer, _ = listener.accept()
            peer.sendall(answer_with(403, problem("NOT_APPROVER", "Not you.")))
            peer.close()

            with answers(NotApprover, match="Not you"):
                client.call("ask", args={"text": "x" * 1_000_000})


def test_a_traceback_names_the_address_and_the_message_does_not() -> None:
    """Who wrote the wrong address finds it in the note. The message may reach a model, so it names no address."""
    nowhere = "http://127.0.0.1:1"
    with Sayso(configuration(url=nowhere, token="t"), patience_s=0) as sayso, pytest.raises(ClientError) as lost:
        sayso.ask(Request("pay", {}))

    assert says("\n".join(lost.value.__notes__), "reach.tried", where=nowhere)
    assert "127.0.0.1" not in lost.value.message
