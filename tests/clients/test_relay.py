"""The relay of an MCP client tells its own end from a service that breaks off."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sayso_client.errors import ClientError
from sayso_client.relay import relay

_GREETING = b'{"ok": true}\n'


@contextmanager
def gateway(folder: Path, answer: Callable[[socket.socket], None]) -> Iterator[Path]:
    """A gateway on a socket that greets each client, answers, and closes the connection."""
    folder.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "mcp.sock"))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(_GREETING)
                    answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield folder / "mcp.sock"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def relayed(path: Path, sent: bytes, *, ends: bool) -> bytes:
    """What a client gets that sends some bytes; with `ends` it then closes its end."""
    source, client = os.pipe()
    reading, sink = os.pipe()
    try:
        os.write(client, sent)
        if ends:
            os.close(client)
        relay(path, source, sink)
        return os.read(reading, 100)
    finally:
        for each in (source, reading, sink, *(() if ends else (client,))):
            os.close(each)


def _echo(connection: socket.socket) -> None:
    while chunk := connection.recv(100):
        connection.sendall(chunk)


def test_a_client_that_ends_hears_no_error(tmp_path: Path) -> None:
    """Also if the service closes the connection at the same moment; some of sixty ends meet that moment."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with gateway(tmp_path, _echo) as path:
            got = [relayed(path, b"hello", ends=True) for _ in range(60)]
    finally:
        sys.setswitchinterval(before)

    assert {b"hello"} == set(got)


def test_a_service_that_breaks_off_is_an_error(tmp_path: Path) -> None:
    """The client hasn't ended, so its calls may be open."""
    with gateway(tmp_path, lambda _: None) as path, pytest.raises(ClientError) as broken:
        relayed(path, b"", ends=False)

    assert "UNAVAILABLE" == broken.value.code
