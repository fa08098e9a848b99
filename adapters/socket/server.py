"""The listening side: peers known by the kernel, requests checked, answers after the commit."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
import struct
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from adapters.socket.operations import Operations, untroubled
from adapters.socket.protocol import LINE, REQUEST, Attach
from hitl.errors import Failed, InvalidConfirmation, SaysoError, Unavailable
from hitl.wording import say
from sayso_client.wire import LONGEST_LINE, SOCKET_NAME, encode, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from adapters.socket.operations import Desk, Troubles

    #: Whether the process with that id is a command that this service runs itself.
    Kept = Callable[[int], bool]

_CREDENTIALS = struct.Struct("3i")
_log = logging.getLogger(__name__)


def nobodys(_pid: int) -> bool:
    """Where the service runs no commands."""
    return False


class Attached(Protocol):
    """A conversation that a peer holds over its connection."""

    async def hear(self, line: str) -> None:
        """Take one line from the peer."""

    def leave(self) -> None:
        """The peer is gone."""


class SocketServer:
    """One socket in a runtime folder of its own.

    `attach` makes a conversation for a peer and a way to show text; `troubles` names what is in the way of gating.
    `kept` knows the commands that the service runs under its own user: none of them may speak as its people do.
    """

    def __init__(
        self,
        folder: Path,
        desk: Desk,
        attach: Callable[[str, Callable[[str], None]], Attached],
        troubles: Troubles = untroubled,
        kept: Kept = nobodys,
    ) -> None:
        self.path = folder / SOCKET_NAME
        self._desk = desk
        self._attach = attach
        self._troubles = troubles
        self._kept = kept
        self._server: asyncio.Server | None = None
        self._peers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen. Raises Unavailable where the folder isn't ours or somebody listens there already."""
        try:
            _prepare_folder(self.path.parent)
            _refuse_second(self.path)
            self.path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._greet, path=self.path, limit=LONGEST_LINE)
            self.path.chmod(0o666)
        except OSError as error:
            raise Unavailable(
                f"The socket {self.path} can't be made: {error.strerror or error}. Set `runtime` to another folder."
            ) from error

    async def stop(self) -> None:
        """Stop listening; open connections are closed."""
        if self._server is None:
            return
        self._server.close()
        for peer in self._peers:
            peer.cancel()
        await asyncio.gather(*self._peers, return_exceptions=True)
        self.path.unlink(missing_ok=True)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._peers.add(task)
            task.add_done_callback(self._peers.discard)
        try:
            await self._talk(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pid, uid = _credentials(writer)
        operations = Operations(self._desk, f"local:{uid}", self._troubles)
        try:
            await operations.admit(kept=uid == os.getuid() and self._kept(pid))
            while line := await _next_line(reader):
                answer, attach = await self._answer(operations, line)
                await _send(writer, answer)
                if attach:
                    await self._converse(operations.identity, reader, writer)
                    break
        except SaysoError as error:
            await _send(writer, _refusal(error))

    async def _answer(self, operations: Operations, line: bytes) -> tuple[dict[str, Any], bool]:
        try:
            request = REQUEST.validate_json(line)
            if isinstance(request, Attach):
                return {"ok": True}, True
            return {"ok": True, **await operations.do(request)}, False
        except ValidationError as error:
            return _refusal(InvalidConfirmation(_explain(error))), False
        except SaysoError as error:
            return _refusal(error), False
        except (TypeError, ValueError, KeyError, OSError):
            _log.exception("socket.request_failed", {"identity": operations.identity})
            return _refusal(Failed(say("reach.failed"))), False

    async def _converse(self, identity: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def show(text: str) -> None:
            if not writer.is_closing():
                writer.write(encode({"show": text}))

        attached = self._attach(identity, show)
        try:
            while line := await _next_line(reader):
                await attached.hear(_said(line))
                await _send(writer, {"done": True})
        finally:
            attached.leave()


async def _next_line(reader: asyncio.StreamReader) -> bytes:
    """The next line, nothing at the end of input. Raises InvalidConfirmation for one that is too long or unfinished."""
    try:
        line = await reader.readline()
    except ValueError as error:
        raise InvalidConfirmation(f"A line is longer than {LONGEST_LINE} bytes. Nothing was done.") from error
    if line and not line.endswith(b"\n"):
        raise InvalidConfirmation("The line broke off. Nothing was done.")
    return line


def _said(line: bytes) -> str:
    try:
        return LINE.validate_json(line).say
    except ValidationError as error:
        raise InvalidConfirmation(_explain(error)) from error


async def _send(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    writer.write(encode(answer))
    await writer.drain()


def _credentials(writer: asyncio.StreamWriter) -> tuple[int, int]:
    """Process and user id of the peer as the kernel tells them (SO_PEERCRED, unix(7))."""
    peer: socket.socket = writer.get_extra_info("socket")
    pid, uid, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def _refusal(error: SaysoError) -> dict[str, Any]:
    return refusal(error.code, error.message)


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False)
    return "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in problems) + ". Nothing was done."


def _prepare_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Unavailable(
            f"{folder} isn't a folder of this user, so the socket can't lie there. Set `runtime` elsewhere."
        )
    folder.chmod(0o711)


def _refuse_second(path: Path) -> None:
    probe = socket.socket(socket.AF_UNIX)
    try:
        probe.connect(str(path))
    except OSError:
        return
    finally:
        probe.close()
    raise Unavailable(f"Another service listens on {path}. Stop it, or set `runtime` to another folder.")
