"""A shell in the workspace: it runs one command line in a clean environment, and confines it if the host can do that.

Standard input is empty. Standard output and standard error are collected as one text; of a long text, the middle is
left out. A small program, the keeper, runs the command and ends all of its processes, also the processes in other
sessions. At the time limit, and when the service stops, the keeper sends SIGTERM to them and kills them two seconds
later. When the command ends by itself, the keeper kills the remaining processes immediately.

Two kinds of processes are out of the keeper's reach: those that a command starts through a service of the host (cron,
a container daemon), and those of a command that kills its own keeper. The second kind exists only without confinement
and under the service's own user.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from adapters.executors.arguments import Arguments, Declared
from adapters.executors.base_file import base_now, shown_path
from adapters.executors.confinement import CONFINED, GRACE_S, USER, Confinement, Sandbox, best, environment
from adapters.executors.folder import Folder
from adapters.executors.inplace import in_place
from adapters.executors.output import Flow
from adapters.executors.registry import Context, NotAsShown, Registry
from adapters.executors.scripts import SCRIPT, Script, Scripts, copied, script_now, scripts_of
from hitl.call import Preparation, Ran, Result, Risk
from hitl.cards.previews import PREVIEW_KEPT, change
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle, one_line, quoted
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adapters.executors.confinement import Frozen
    from adapters.executors.confining.plan import Bounds

_CHUNK = 1 << 16
# Seconds that the keeper gets to kill processes and to exit, after `GRACE_S`.
_KEEPER_S = 3.0
_SIGNALLED = 128
# The kernel's limit for one argument in bytes (MAX_ARG_STRLEN), without the final NUL.
_LONGEST_COMMAND = 131_071
#: The card names at most this many scripts, and gives the number of the other scripts.
_NAMED = 5
#: The texts of at most this many scripts are kept in memory, as people last saw them. The card shows the differences
#: between a script's kept text and its current text.
_REMEMBERED = 256


class Bash(Arguments):
    """One command line for bash."""

    command: str


class Shell:
    """Runs command lines in one folder.

    If `sandbox` is None, the best sandbox that works on this machine is found at the first command.
    """

    def __init__(self, root: Path, sandbox: Sandbox | None = None, bounds: Bounds | None = None) -> None:
        self._root = root.resolve(strict=True)
        self._folder = Folder(self._root)
        self._sandbox = sandbox
        self._bounds = bounds
        self._shown: FIFOCache[str, str] = FIFOCache(_REMEMBERED)

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox in which commands run."""
        return self._sandbox or best(None, self._bounds)

    def look(self, args: Bash) -> Preparation:
        """Return what a command does, for people, and the preconditions that must hold when it runs.

        For a plain `sed -i`, the preview shows the lines that it would change. For any other command, the preview shows
        how the scripts that it runs have changed since people were last asked about them. The preconditions are the
        confinement, the digests of the previewed files, and the digests of the scripts. If one of these changes, the
        command doesn't run. Raises InvalidConfirmation if the command line is too long for the kernel or has a NUL
        byte.
        """
        command, sandbox = args.command, self.sandbox
        if "\0" in command or len(command.encode()) > _LONGEST_COMMAND:
            raise InvalidConfirmation(fact("args.command"))
        found = in_place(command, self._folder, sandbox)
        run = scripts_of(command, self._folder)
        scripts = run.found
        return Preparation(
            self._sentence(scripts),
            cwd=str(self._root),
            preconditions=(
                *sandbox.facts(),
                *(found.bases if found else ()),
                *(script.precondition for script in scripts),
            ),
            preview=found.preview if found else self._changes(scripts),
            notes=(*(say(key) for key in sandbox.gaps()), *self._unbound(run)),
            floor=Risk.HIGH if sandbox.way is Confinement.NONE else Risk.LOW,
            unbound=bool(run.unbound or run.unread),
        )

    def changed(self, args: Bash, shown: Mapping[str, str]) -> str | None:
        """Return a sentence about the first change since people saw the call, or None if nothing changed.

        The method compares the confinement, the files, and the scripts that the line runs.
        """
        facts = dict(self.sandbox.facts())
        for name in (CONFINED, USER):
            if shown.get(name) != facts.get(name):
                return say("shell.otherwise", way=shown.get(name, ""))
        files = {name: value for name, value in shown.items() if name not in facts}
        for name, value in files.items():
            now = script_now if name.startswith(SCRIPT) else base_now
            if now(self._folder, name) != value:
                return say("path.changed", path=one_line(name.partition(":")[2]))
        scripts = scripts_of(args.command, self._folder).found
        new = next((script.path for script in scripts if SCRIPT + script.path not in shown), None)
        return new and say("path.changed", path=one_line(new))

    async def bash(self, context: Context, args: Bash) -> Ran:
        """Run a command line with bash in the workspace. What it started ends with it."""
        with contextlib.ExitStack() as parts:
            place = self._place(context.preconditions, parts)
            frozen = await asyncio.to_thread(self._ready, args, context.preconditions, place)
            return await self._run(args.command, context, self._temporary(parts), frozen)

    async def _run(self, command: str, context: Context, temporary: Path | None, frozen: Frozen) -> Ran:
        reader, writer = os.pipe()
        try:
            argv = self.sandbox.command(command, self._root, temporary, temporary, writer, frozen)
            try:
                process = await _started(argv, self._root, environment(self._root, context.ref, temporary), writer)
            finally:
                os.close(writer)
            flow, late = Flow(), False
            reading = asyncio.ensure_future(_read(process, flow))
            try:
                late = not (await asyncio.wait({reading}, timeout=context.limit_s))[0]
            finally:
                await _end(process, reading)
            exceeded = _reported(reader)
        finally:
            os.close(reader)
        if exceeded:
            output, cut = flow.kept()
            return Ran(Result.FAILED, output, say(f"shell.over.{exceeded}"), process.returncode, cut)
        return _ran(flow, process.returncode, context.limit_s if late else None)

    def _sentence(self, scripts: Sequence[Script]) -> str:
        return (
            say("shell.does.scripts", scripts=_named([each.path for each in scripts])) if scripts else say("shell.does")
        )

    def _unbound(self, run: Scripts) -> Iterator[str]:
        """Yield warnings about files that the command line runs and that may change between the approval and the run.

        There is one warning for files beyond the limits, one for unreadable files, and one for files outside of the
        workspace.
        """
        if run.unbound:
            yield say("shell.scripts.beyond", scripts=_named(run.unbound))
        if run.unread:
            yield say("shell.scripts.unread", scripts=_named(run.unread))
        # In a sandbox, a command sees the system's files and no other files outside of the workspace.
        if run.outside and self.sandbox.way is Confinement.NONE:
            yield say("shell.scripts.outside", scripts=_named(run.outside))

    def _changes(self, scripts: Sequence[Script]) -> str:
        """Return the changes in the text of each script since people were last asked about that script."""
        made = []
        for script in scripts:
            old, new = self._shown.get(script.path), script.text
            if new is not None:
                self._shown[script.path] = new
                if old is not None and old != new:
                    made.append(change(shown_path((script.path,)), old, new).diff)
        return cut_middle("\n".join(made), PREVIEW_KEPT).text

    def _place(self, shown: Mapping[str, str], parts: contextlib.ExitStack) -> Path | None:
        """Make a folder for copies of scripts. Return None if there are no scripts, or the sandbox has no mounts."""
        if not self.sandbox.has_mounts or not any(name.startswith(SCRIPT) for name in shown):
            return None
        place = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True)))
        place.chmod(0o711)
        return place

    def _ready(self, args: Bash, shown: Mapping[str, str], place: Path | None) -> Frozen:
        """Copy the approved scripts. Return each copy with the script that the sandbox replaces by it.

        Return () if the sandbox has no mounts, or if the line is more than one command. A longer line, such as
        `chmod +x run && ./run`, may want to change the script itself, and a change of a copy would be lost. Raises
        NotAsShown if something changed since people saw the call.
        """
        if why := self.changed(args, shown):
            raise NotAsShown(why)
        if place is None or not scripts_of(args.command, self._folder).alone:
            return ()
        frozen: list[tuple[str, str]] = []
        for name in [name.removeprefix(SCRIPT) for name in shown if name.startswith(SCRIPT)]:
            copy = place / str(len(frozen))
            digest, mode = copied(self._folder, name, copy)
            if digest != shown[SCRIPT + name]:
                raise NotAsShown(say("path.changed", path=one_line(name)))
            copy.chmod(mode & 0o555 | 0o444)
            frozen.append((str(copy), os.path.realpath(self._root / name)))
        return tuple(frozen)

    def _temporary(self, parts: contextlib.ExitStack) -> Path | None:
        """If Landlock confines commands, make a folder for their temporary files and return its path. Else return None.

        Other commands need no such folder: a sandbox with mounts has its own `/tmp`, and an unconfined command uses the
        host's `/tmp`.
        """
        if self.sandbox.way is not Confinement.LANDLOCK:
            return None
        made = tempfile.TemporaryDirectory(prefix="sayso-", ignore_cleanup_errors=True)
        path = Path(parts.enter_context(made))
        self.sandbox.give(path)
        return path


def _named(paths: Sequence[str]) -> str:
    """Return a text for people: the first `_NAMED` paths, and how many more there are."""
    named = ", ".join(quoted(mask(path)) for path in paths[:_NAMED])
    return say("shell.scripts.more", scripts=named, count=len(paths) - _NAMED) if len(paths) > _NAMED else named


def register_shell(registry: Registry, shell: Shell) -> None:
    """Register the shell as the tool `bash`."""
    registry.register(
        "bash",
        shell.bash,
        Declared(Bash),
        look=shell.look,
        changed=shell.changed,
        grace_s=GRACE_S + _KEEPER_S + 1,
    )


async def _started(
    command: Sequence[str], root: Path, env: Mapping[str, str], report: int
) -> asyncio.subprocess.Process:
    """Start the keeper and return its process.

    If the caller is cancelled, the function waits until the keeper has started, and ends the keeper with SIGTERM.
    asyncio alone would kill the keeper, and nothing would end the command's processes.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=root,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(report,),
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        await _end(process, asyncio.ensure_future(_read(process, Flow())))
        raise


async def _read(process: asyncio.subprocess.Process, flow: Flow) -> None:
    """Read the output until no process is left that could write more, then wait for the keeper to exit."""
    if process.stdout is not None:
        while chunk := await process.stdout.read(_CHUNK):
            flow.feed(chunk)
        flow.feed(b"", final=True)
    await process.wait()


async def _end(process: asyncio.subprocess.Process, reading: asyncio.Future[None]) -> None:
    """Send the keeper SIGTERM, so that it ends all processes of the command.

    If the keeper doesn't exit in time, kill it.
    """
    for stop in (process.terminate, process.kill):
        if reading.done():
            break
        with contextlib.suppress(ProcessLookupError):
            stop()
        await asyncio.wait({reading}, timeout=GRACE_S + _KEEPER_S)
    reading.cancel()
    await asyncio.wait({reading})


def _reported(reader: int) -> str:
    """Return the name of the bound that the command exceeded (`memory` or `processes`), or '' if it exceeded none."""
    os.set_blocking(reader, False)
    with contextlib.suppress(BlockingIOError):
        return os.read(reader, 64).decode()
    return ""


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
