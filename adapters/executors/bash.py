"""A shell in the workspace: one command line, confined where the host can, with a clean environment.

Standard input is empty, output and errors come as one text, kept within a bound. At the time limit, and
when the service stops, everything that the command started is asked to end and killed two seconds later,
also what put itself into another session; when the command ends by itself, what it left running is killed
at once. Beyond that reach are only processes that a command starts through a service of the host (cron, a
container daemon), and, not confined and under the same user, a command that kills its own keeper.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.executors.arguments import Arguments, Declared
from adapters.executors.confinement import GRACE_S, Confinement, confinement, environment, kept_command
from adapters.executors.folder import Folder
from adapters.executors.inplace import in_place
from adapters.executors.output import Flow
from adapters.executors.registry import Context, NotAsShown, Registry
from adapters.executors.standing import BASE, base_now
from hitl.errors import InvalidConfirmation
from hitl.model import Preparation, Ran, Result, Risk
from hitl.text import one_line
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CHUNK = 1 << 16
# The keeper's own time to kill, beyond the grace that it gives.
_KEEPER_S = 3.0
_SIGNALLED = 128
# The kernel's limit for one argument (MAX_ARG_STRLEN), NUL included.
_LONGEST_COMMAND = 131_071
_CONFINED = "confinement"

#: What people are warned of with each confinement, as keys of the catalogue.
NOTES = {
    Confinement.BUBBLEWRAP: (),
    Confinement.LANDLOCK: (),
    Confinement.NONE: ("shell.unconfined",),
}


class Bash(Arguments):
    """One command line for bash."""

    command: str


class Shell:
    """Runs command lines in one folder. `way` None takes the best confinement that works here."""

    def __init__(self, root: Path, way: Confinement | None = None) -> None:
        self._root = root.resolve(strict=True)
        self._folder = Folder(self._root)
        self._way = way

    @property
    def way(self) -> Confinement:
        """What confines the commands."""
        return self._way or confinement()

    def look(self, args: Bash) -> Preparation:
        """What people are told of a command, and the difference that a plain `sed -i` makes.

        A command never runs less confined than it was shown, nor on other files than a difference was shown of.
        """
        command = args.command
        if "\0" in command or len(command.encode()) > _LONGEST_COMMAND:
            raise InvalidConfirmation(say("args.command"))
        found = in_place(command, self._folder, self.way)
        return Preparation(
            say("shell.does"),
            cwd=str(self._root),
            preconditions=((_CONFINED, self.way.value), *(found.bases if found else ())),
            preview=found.preview if found else "",
            notes=tuple(say(key) for key in NOTES[self.way]),
            floor=Risk.HIGH if self.way is Confinement.NONE else Risk.LOW,
        )

    def now(self, precondition: str) -> str:
        """The confinement, or a file's base, as it is now; why not, where the file can't be read."""
        return self.way.value if precondition == _CONFINED else base_now(self._folder, precondition)

    async def bash(self, context: Context, args: Bash) -> Ran:
        """Run a command line with bash in the workspace. What it started ends with it."""
        shown = context.preconditions.get(_CONFINED)
        if shown != self.way.value:
            raise NotAsShown(say("shell.otherwise", way=shown))
        for name, base in context.preconditions.items():
            if self.now(name) != base:
                raise NotAsShown(say("path.changed", path=one_line(name.removeprefix(BASE))))
        with self._temporary() as temporary:
            return await self._run(args.command, context, temporary)

    async def _run(self, command: str, context: Context, temporary: Path | None) -> Ran:
        process = await _started(
            kept_command(self.way, command, self._root, temporary, scratch=temporary),
            self._root,
            environment(self._root, context.ref, temporary),
        )
        flow, late = Flow(), False
        reading = asyncio.ensure_future(_read(process, flow))
        try:
            late = not (await asyncio.wait({reading}, timeout=context.limit_s))[0]
        finally:
            await _end(process, reading)
        return _ran(flow, process.returncode, context.limit_s if late else None)

    @contextlib.contextmanager
    def _temporary(self) -> Iterator[Path | None]:
        """A folder for temporary files; bubblewrap brings its own, and an unconfined command has the
        host's.
        """
        if self.way is not Confinement.LANDLOCK:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True) as path:
            yield Path(path)


def register_shell(registry: Registry, shell: Shell) -> None:
    """Register `bash`."""
    registry.register(
        "bash",
        shell.bash,
        Declared(Bash),
        look=shell.look,
        now=shell.now,
        grace_s=GRACE_S + _KEEPER_S + 1,
    )


async def _started(command: Sequence[str], root: Path, env: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Start the keeper. A cancellation may not come in between: asyncio would kill it, which then keeps nothing."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=root,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        await _end(process, asyncio.ensure_future(_read(process, Flow())))
        raise


async def _read(process: asyncio.subprocess.Process, flow: Flow) -> None:
    """Read to the end of the output, which comes when nothing is left that could write."""
    if process.stdout is not None:
        while chunk := await process.stdout.read(_CHUNK):
            flow.feed(chunk)
        flow.feed(b"", final=True)
    await process.wait()


async def _end(process: asyncio.subprocess.Process, reading: asyncio.Future[None]) -> None:
    """Have the keeper end everything; where even the keeper doesn't answer, kill it."""
    for stop in (process.terminate, process.kill):
        if reading.done():
            break
        with contextlib.suppress(ProcessLookupError):
            stop()
        await asyncio.wait({reading}, timeout=GRACE_S + _KEEPER_S)
    reading.cancel()
    await asyncio.wait({reading})


def _ran(flow: Flow, status: int | None, late_s: float | None) -> Ran:
    output, cut = flow.kept()
    if late_s is not None:
        error = say("shell.late", limit=f"{late_s:g}")
        return Ran(Result.TIMED_OUT, output, error, cut=cut)
    if status == 0:
        return Ran(Result.SUCCEEDED, output, exit_status=0, cut=cut)
    return Ran(Result.FAILED, output, _failure(status), status, cut)


def _failure(status: int | None) -> str:
    if status is None or status < 0:
        return say("shell.ended")
    if status > _SIGNALLED:
        return say("shell.signal", number=status - _SIGNALLED)
    return say("shell.status", status=status)
