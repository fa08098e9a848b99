"""The relay that an MCP client starts: it carries bytes between its standard streams and the service's gateway.

It holds no secret, and needs only Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading

from sayso_client.client import refuse_foreign
from sayso_client.errors import ClientError
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

#: The name of the gateway's socket. Like the service's own socket, it is in the runtime folder.
MCP_SOCKET_NAME = "sayso-mcp.sock"
#: The relay reads and passes on at most this many bytes at a time.
_CHUNK = 1 << 16


def relay(path: Path, source: int, sink: int) -> None:
    """Carry bytes from one file descriptor to the gateway on a socket, and from the gateway to another descriptor.

    Returns when `source` has ended and the gateway has sent everything. Raises ClientError if the gateway can't be
    reached, refuses this user, or breaks the connection.
    """
    refuse_foreign(str(path.parent))
    with socket.socket(socket.AF_UNIX) as gateway:
        try:
            gateway.connect(str(path))
        except OSError as error:
            told = say("relay.none", path=path, error=error.strerror or error)
            raise ClientError("UNAVAILABLE", told) from error
        with gateway.makefile("rb") as lines:
            _check(lines.readline(), path)
            ended = threading.Event()
            threading.Thread(target=_carry, args=(source, gateway, ended), daemon=True).start()
            with contextlib.suppress(BrokenPipeError, ConnectionError):
                while chunk := lines.read1(_CHUNK):
                    _write(sink, chunk)
        if not ended.is_set():
            raise _broken(path)


def _check(line: bytes, path: Path) -> None:
    """Check the gateway's first line. Raises ClientError unless it accepts this connection."""
    if not line.endswith(b"\n"):
        raise _broken(path)
    greeting = json.loads(line)
    if not greeting["ok"]:
        raise ClientError(greeting["error"]["code"], greeting["error"]["message"])


def _carry(source: int, gateway: socket.socket, ended: threading.Event) -> None:
    """Carry bytes to the gateway until `source` ends. Then close the connection for writing.

    `ended` is set before the closing, because the gateway then ends the whole connection immediately.
    """
    with contextlib.suppress(OSError):
        while chunk := os.read(source, _CHUNK):
            gateway.sendall(chunk)
        ended.set()
        gateway.shutdown(socket.SHUT_WR)


def _write(sink: int, chunk: bytes) -> None:
    while chunk:
        chunk = chunk[os.write(sink, chunk) :]


def _broken(path: Path) -> ClientError:
    return ClientError("UNAVAILABLE", say("reach.broken", path=path))
