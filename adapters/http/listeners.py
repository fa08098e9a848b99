"""The two listeners of the one application, a Unix socket and a TCP port.

One uvicorn server in our event loop serves both.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from adapters.http.connection import Door, Limits, PartyOf, listed
from adapters.http.wording import say
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from starlette.types import ASGIApp

#: The longest message that a WebSocket accepts, in bytes. The content of callers' messages is ignored.
_LONGEST_MESSAGE = 4096
#: When the service stops, the server waits this many seconds for running requests, then cancels them. Telegram sends a
#: cancelled webhook request again.
_STOP_WITHIN_S = 3
_BACKLOG = 2048


class Server(uvicorn.Server):
    """uvicorn in this process's event loop.

    The server doesn't handle signals, so that the service can finish running work at a stop.

    `listening` are bound sockets. `stopping` is called before connections are closed, so that waiting requests can be
    answered. `party_of` returns the `Party` of a peer on a Unix socket. All servers of a process share the same
    `limits.connections`.
    """

    def __init__(
        self,
        served: ASGIApp,
        listening: Sequence[socket.socket],
        limits: Limits | None = None,
        *,
        stopping: Callable[[], None] = lambda: None,
        party_of: PartyOf = listed,
    ) -> None:
        door: Any = partial(Door, limits or Limits(), party_of)
        super().__init__(
            uvicorn.Config(
                served,
                http=door,
                ws="websockets-sansio",
                ws_max_size=_LONGEST_MESSAGE,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                backlog=_BACKLOG,
                timeout_keep_alive=3600,  # uvicorn's limit is long, because `Door` sets its own, shorter time limits.
                timeout_graceful_shutdown=_STOP_WITHIN_S,
            )
        )
        self._listening = list(listening)
        self._stopping = stopping
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start to serve, and return when the listeners are up. If uvicorn can't serve, raise its error."""
        self._serving = asyncio.create_task(self.serve(self._listening))
        while not self.started:
            if self._serving.done():
                await self._serving
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Answer the waiting requests, finish the running ones, and close."""
        if self._serving is None:
            return
        self._stopping()
        self.should_exit = True
        await self._serving

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: the service handles the signals itself."""
        yield

    @property
    def port(self) -> int:
        """Return the TCP port of the listener."""
        return next(int(found.getsockname()[1]) for found in self._listening if found.family != socket.AF_UNIX)


def tcp_listener(host: str, port: int, section: str = "http") -> socket.socket:
    """Return a bound TCP socket for the host and port of a section of the settings, such as `http` or `metrics`.

    Raises Unavailable if the socket can't be bound; the error names the settings to change. We bind the socket here
    because uvicorn would end the process if it couldn't bind a socket.
    """
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=_BACKLOG
        )
    except OSError as error:
        why = str(error.strerror).partition(" (while")[0]
        raise Unavailable(say("api.http.port", host=host, port=port, why=why, section=section)) from error


def unix_listener(path: Path) -> socket.socket:
    """Return a bound Unix socket in our runtime folder. The folder gets mode 0711, the socket 0666.

    Raises Unavailable if another user owns the folder, or another service already listens on the socket.
    """
    try:
        _prepare_folder(path.parent)
        _refuse_second(path)
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(_BACKLOG)
        path.chmod(0o666)
    except OSError as error:
        raise Unavailable(say("api.http.socket.unmade", path=path, why=error.strerror or error)) from error
    return listener


def _prepare_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Unavailable(say("api.http.socket.folder", folder=folder))
    folder.chmod(0o711)


def _refuse_second(path: Path) -> None:
    """Raise Unavailable if another service listens on this socket."""
    probe = socket.socket(socket.AF_UNIX)
    try:
        probe.connect(str(path))
    except OSError:
        return
    finally:
        probe.close()
    raise Unavailable(say("api.http.socket.taken", path=path))
