"""The client for commands: HTTP over the Unix socket, blocking, small, quick to import."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat

from sayso_client.errors import ClientError, answered
from sayso_client.wire import REFUSED, BrokenError, answer, read_body, read_chunks, read_head, request
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Any, BinaryIO, Self

#: The lowest HTTP status that says that a server failed.
_FAILED = 500


class Client:
    """A connection to the service.

    Every method raises ClientError: with the service's code and sentence for a refusal, and with UNAVAILABLE if the
    service can't be reached or the connection breaks.

    The connection is refused if another user could have made the socket's folder first: a false service could then
    approve a script's call. With `shown`, answers are only shown and nothing depends on them, so the folder isn't
    checked.

    `opened` opens the connection if it doesn't go to the Unix socket. `host`, `token` and `under` then go into its
    requests; `under` is the path at which a proxy serves the API.

    `broken` says that the connection broke, so that the service may have recorded the request.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        shown: bool = False,
        opened: Callable[[], socket.socket] | None = None,
        host: str = "sayso",
        token: str = "",
        under: str = "",
    ) -> None:
        self.broken = False
        #: Called before each answer is read. It may wait until the socket is readable, and it may raise an error.
        self.before_reading: Callable[[], object] = lambda: None
        self._path = path
        self._opened = opened or self._local
        self._away = "reach.away" if opened else "reach.none"
        self._head = {"host": host, "token": token, "under": under}
        if not shown:
            refuse_foreign(os.path.dirname(path))
        self._chat = ""
        self._texts: Iterator[bytes] = iter(())
        self._connect()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection to the service."""
        self._lines.close()
        self.socket.close()

    def leave(self) -> None:
        """Shut the connection down, so that a thread that waits in `shown` gets an error."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send one request, and return its answer. Fields that are None are left out."""
        self._send(request(op, fields, **self._head))
        self.before_reading()
        try:
            head = read_head(self._lines)
            body = read_body(self._lines, head)
        except (OSError, BrokenError, ValueError) as error:
            raise self._broke_off() from error
        if head.last:
            # The service ends a connection when it stops, and after some refusals. The next request opens a new one.
            self.close()
            self._ended = True
        try:
            return answer(op, head.status, json.loads(body))
        except (BrokenError, ValueError, RecursionError) as error:
            # A proxy sends a status from 500 on if it gets no answer from the service. The service may still have
            # recorded the request.
            self.broken = head.status >= _FAILED
            raise _unavailable("reach.odd", status=head.status) from error

    # -- a conversation with the service's agent ------------------------------------------------------------------

    def attach(self) -> None:
        """Open a conversation with the service's agent. It lasts as long as this connection."""
        self._send(request("chat", {}, **self._head))
        try:
            head = read_head(self._lines)
            if head.status >= REFUSED:
                raise answered(json.loads(read_body(self._lines, head)))
            self._texts = read_chunks(self._lines)
        except (OSError, BrokenError, ValueError) as error:
            raise self._broke_off() from error
        self._chat = str(self._next_line()["chat"])

    def say(self, line: str) -> Iterator[str]:
        """After `attach`: send one line to the agent, and yield the texts that answer it."""
        self.tell(line)
        while (text := self.shown()) is not None:
            yield text

    def tell(self, line: str) -> None:
        """After `attach`: send one line to the agent, on a separate connection."""
        with Client(self._path, shown=True) as other:
            other.call("say", chat=self._chat, say=line)

    def shown(self) -> str | None:
        """After `attach`: return the next text that the service shows, or None when it has answered a line.

        The service may also show texts that aren't answers to a line.
        """
        told = self._next_line()
        return str(told["show"]) if "show" in told else None

    def _next_line(self) -> dict[str, Any]:
        """Return the next message of the conversation. The service sends each message as one chunk."""
        try:
            chunk = next(self._texts, b"")
            told: dict[str, Any] = json.loads(chunk)
        except (OSError, BrokenError, ValueError) as error:
            raise self._broke_off() from error
        return told

    # -- opening the connection, and its errors -------------------------------------------------------------------

    def _connect(self) -> None:
        self._ended = False
        try:
            self.socket = self._opened()
        except OSError as error:
            raise _unavailable(self._away, path=self._path, error=error.strerror or error) from error
        self._lines: BinaryIO = self.socket.makefile("rb")

    def _local(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        try:
            made.connect(str(self._path))
        except BaseException:
            made.close()
            raise
        return made

    def _send(self, message: bytes) -> None:
        if self._ended:
            self._connect()
        # If the service closes the connection early, it may have sent an answer. The caller reads it next.
        with contextlib.suppress(OSError):
            self.socket.sendall(message)

    def _broke_off(self) -> ClientError:
        self.broken = True
        return _unavailable("reach.broken", path=self._path)


def _unavailable(key: str, **facts: object) -> ClientError:
    return ClientError("UNAVAILABLE", say(key, **facts))


def refuse_foreign(folder: str) -> None:
    """Raise ClientError if another user owns this folder, and its parent lets anybody make folders, as `/tmp` does.

    The owner could listen in the folder in the service's place, and approve calls.
    """
    try:
        owner, above = os.lstat(folder).st_uid, os.stat(os.path.dirname(folder)).st_mode
    except OSError:
        return  # Connecting will fail, and its error will say why.
    if owner not in {0, os.getuid()} and above & stat.S_IWOTH:
        raise _unavailable("reach.foreign", folder=folder)
