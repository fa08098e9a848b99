"""Withdraws a call if the caller that waits for it on an open connection leaves and doesn't come back.

The connections are stored in memory only. A file names their calls, so that the next process expects the callers. After
a restart, a caller that still waits sends its request again, and this module stores the new connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from functools import partial
from typing import TYPE_CHECKING

from hitl.call import Status
from hitl.errors import SaysoError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from hitl.call import Call

#: A caller may come back over another connection within this many seconds. Our clients pause at most 5 seconds between
#: two attempts.
GRACE_S = 10.0
#: A caller may come back within this many seconds after a start of the service. This is longer than `GRACE_S`, because
#: all callers come back at the same time then.
RETURN_S = 20.0
#: When the file has this many lines, the calls for which no caller waits any more are removed from it.
_NOTED = 10_000
#: The statuses of a call whose caller still waits for the decision, or has yet to claim the call.
_OPEN = frozenset({Status.PENDING, Status.APPROVED, Status.ALLOWED})
_log = logging.getLogger(__name__)


class Attendance:
    """Keeps the connections on which callers wait for their calls.

    `leave` is the function that ends a call because its caller has left. It isn't called when the service stops,
    because then the service closes the connections itself. This class follows the gate's changes, and forgets the calls
    that were claimed or have ended.
    """

    def __init__(self, leave: Callable[[Call], Awaitable[object]], stopping: asyncio.Event) -> None:
        self._leave = leave
        self._stopping = stopping
        #: Ref of a call -> the connections on which its caller waits. The key of each connection is a future that
        #: resolves when the connection ends. The value is the callback on this future.
        self._here: dict[str, dict[asyncio.Future[None], Callable[[asyncio.Future[None]], None]]] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._file: Path | None = None
        self._noted = 0

    async def resume(self, file: Path, get: Callable[[str], Awaitable[Call | None]]) -> None:
        """Write the refs of calls to `file` from now on. Expect the callers of the calls that the file names already.

        If such a caller doesn't come back within `RETURN_S`, its call is ended by `leave`. `get` returns the call with
        a ref.
        """
        loop = asyncio.get_running_loop()
        for ref in _noted(file):
            with contextlib.suppress(SaysoError):
                call = await get(ref)
                if call is not None and call.status in _OPEN:
                    self._here[ref] = {}
                    self._leaving[ref] = loop.call_later(RETURN_S, self._left, call)
        self._file = file
        self._rewrite()

    def attend(self, call: Call, gone: asyncio.Future[None]) -> None:
        """Store that a caller waits for a call on a connection. The future `gone` resolves when the connection ends."""
        if call.status not in _OPEN:
            return
        if call.ref not in self._here:
            self._note(call.ref)
        here = self._here.setdefault(call.ref, {})
        if gone not in here:
            here[gone] = partial(self._lost, call)
            gone.add_done_callback(here[gone])
        if timer := self._leaving.pop(call.ref, None):
            timer.cancel()

    def changed(self, call: Call) -> None:
        """Forget a call that was claimed or has ended."""
        if call.status not in _OPEN:
            for gone, callback in self._here.pop(call.ref, {}).items():
                gone.remove_done_callback(callback)
            if timer := self._leaving.pop(call.ref, None):
                timer.cancel()

    def _lost(self, call: Call, gone: asyncio.Future[None]) -> None:
        here = self._here.get(call.ref)
        if here is None:
            return
        here.pop(gone, None)
        if not here:
            loop = asyncio.get_running_loop()
            self._leaving[call.ref] = loop.call_later(GRACE_S, self._left, call)

    def _left(self, call: Call) -> None:
        del self._leaving[call.ref], self._here[call.ref]
        if not self._stopping.is_set():
            task = asyncio.get_running_loop().create_task(self._end(call))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _note(self, ref: str) -> None:
        """Add a call to the file. The file isn't synced, so a power failure may lose the call. Then the call isn't
        ended if its caller doesn't come back.
        """
        if self._noted >= max(_NOTED, 2 * len(self._here)):
            self._rewrite()
        self._write([ref], os.O_APPEND)

    def _rewrite(self) -> None:
        """Rewrite the file with only those calls for which a caller waits or is expected."""
        self._noted = 0
        self._write(self._here, os.O_TRUNC)

    def _write(self, refs: Iterable[str], how: int) -> None:
        if self._file is None:
            return
        lines = [f"{ref}\n" for ref in refs]
        self._noted += len(lines)
        try:
            with open(os.open(self._file, os.O_WRONLY | os.O_CREAT | how, 0o600), "w") as file:  # noqa: PTH123 - a Path can't open a descriptor
                file.writelines(lines)
        except OSError as error:
            _log.warning("call.not_noted", {"file": str(self._file), "why": error.strerror})

    async def _end(self, call: Call) -> None:
        try:
            await self._leave(call)
        except SaysoError as error:
            _log.info("call.not_left", {"ref": call.ref, "why": error.message})


def _noted(file: Path) -> list[str]:
    """Return the refs in the file, each once. Return [] if the file can't be read."""
    try:
        return list(dict.fromkeys(file.read_text("ascii", "replace").split()))
    except OSError:
        return []
