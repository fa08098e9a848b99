"""The calling side, for commands: blocking, small, quick to import."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat

from sayso_client.errors import ClientError, answered
from sayso_client.wire import encode
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Any, Self


class Client:
    """A connection to the service.

    Every method raises ClientError: with the code and sentence that the service answered for what it refuses, and with
    UNAVAILABLE when it can't be reached, or breaks off.

    It isn't made where somebody else could have been first to make the socket's folder, unless what is answered is
    only shown (`shown`): a false service could say yes to a script in the true one's place, but decides nothing.

    `broken` tells afterwards that the connection broke off, so that what was asked may have been recorded.
    """

    def __init__(self, path: Path, *, shown: bool = False) -> None:
        self.broken = False
        self._path = path
        if not shown:
            _refuse_foreign(path.parent)
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise _unavailable("reach.none", path=path, error=error.strerror or error) from error
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._lines.close()
        self._socket.close()

    def leave(self) -> None:
        """Shut the connection down, so that a thread that waits in `shown` gets the error."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send one request, read its answer."""
        self._send({"op": op, **{name: value for name, value in fields.items() if value is not None}})
        answer = self._read()
        if not answer.pop("ok", False):
            raise answered(answer["error"])
        return answer

    def say(self, line: str) -> Iterator[str]:
        """After `attach`: one line to the agent, and the texts that came of it."""
        self.tell(line)
        while (text := self.shown()) is not None:
            yield text

    def tell(self, line: str) -> None:
        """After `attach`: one line to the agent."""
        self._send({"say": line})

    def shown(self) -> str | None:
        """After `attach`: return the next text that the service shows, or None when it has answered a line.

        It may show a text that no line asked for.
        """
        answer = self._read()
        if "error" in answer:
            raise answered(answer["error"])
        return str(answer["show"]) if "show" in answer else None

    def _send(self, message: dict[str, Any]) -> None:
        # Who hangs up while we speak may have said why: that is read next, or that there is nothing.
        with contextlib.suppress(OSError):
            self._socket.sendall(encode(message))

    def _read(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
        except OSError as error:
            raise self._broke_off() from error
        if not line.endswith(b"\n"):
            raise self._broke_off()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _broke_off(self) -> ClientError:
        self.broken = True
        return _unavailable("reach.broken", path=self._path)


def _unavailable(key: str, **facts: object) -> ClientError:
    return ClientError("UNAVAILABLE", say(key, **facts))


def _refuse_foreign(folder: Path) -> None:
    """Raises ClientError for another user's folder in one where anybody may make some, as in `/tmp`.

    Whoever made it could say yes in the service's place.
    """
    try:
        owner, above = folder.lstat().st_uid, folder.parent.stat().st_mode
    except OSError:
        return  # to connect will fail, and say why
    if owner not in {0, os.getuid()} and above & stat.S_IWOTH:
        raise _unavailable("reach.foreign", folder=folder)
