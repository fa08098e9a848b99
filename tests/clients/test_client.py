"""The calling side, against a service that answers what the test says."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hitl.errors import NotApprover
from sayso_client.client import Client
from sayso_client.errors import ClientError
from tests.answered import answers
from tests.sentences import raises

Answering = Callable[[bytes], Path]


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


def test_an_answer_is_returned_without_its_sign(answering: Answering) -> None:
    """`ok` is for the client alone."""
    with Client(answering(b'{"ok": true, "calls": []}\n')) as client:
        assert {"calls": []} == client.call("pending")


@pytest.mark.parametrize("code", ["ALREADY_DECIDED", "CODE_OF_A_NEWER_SERVICE"])
def test_the_error_of_an_answer_is_raised(answering: Answering, code: str) -> None:
    """The error has the code and the sentence of the answer."""
    path = answering(f'{{"ok": false, "error": {{"code": "{code}", "message": "So it is."}}}}\n'.encode())
    with Client(path) as client, pytest.raises(ClientError, match="So it is") as caught:
        client.call("ping")

    assert code == caught.value.code


@pytest.mark.parametrize("answer", [b"", b'{"ok": tr'])
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
    answering(b'{"ok": true}\n').rename(made / "s")
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


def test_a_service_may_have_a_user_of_its_own(foreign: Path, tmp_path: Path) -> None:
    """Where not everybody may make a folder, whoever made this one was let to."""
    tmp_path.chmod(0o755)

    with Client(foreign) as client:
        assert {} == client.call("ping")


def test_what_is_said_brings_texts_until_the_turn_is_over(answering: Answering) -> None:
    """Any number of them."""
    with Client(answering(b'{"show": "one"}\n{"show": "two"}\n{"done": true}\n{"show": "later"}\n')) as client:
        assert ["one", "two"] == list(client.say("hello"))


def test_a_line_that_is_refused_is_raised(answering: Answering) -> None:
    """Also in a conversation."""
    path = answering(b'{"ok": false, "error": {"code": "NOT_APPROVER", "message": "Not you."}}\n')
    with Client(path) as client, answers(NotApprover, match="Not you"):
        list(client.say("hello"))


def test_who_hangs_up_first_may_have_said_why(tmp_path: Path) -> None:
    """A refusal that was sent before the request could be is read, not lost in the broken pipe."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        with Client(path) as client:
            peer, _ = listener.accept()
            peer.sendall(b'{"ok": false, "error": {"code": "NOT_APPROVER", "message": "Not you."}}\n')
            peer.close()

            with answers(NotApprover, match="Not you"):
                client.call("ask", args={"text": "x" * 1_000_000})
