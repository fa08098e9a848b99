"""The command `sayso`, forked from a process that has read its modules and the default policy already.

That reading takes most of a start, and most tests are about what comes after it. So one process reads all of it once
and forks for each run (`multiprocessing`, start method `forkserver`). A fork does what the command does, from
`bot.cli.main.main` on, with its own arguments, environment, folder and streams.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.cli.main import main
from tests.faults.dying import die_at

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.preloaded", __name__])
_NOTHING = Path(os.devnull)


class Fork:
    """One run of `sayso`, with the methods of `subprocess.Popen` that tests need."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        errors: Path,
        *,
        given: Path = _NOTHING,
        printed: Path = _NOTHING,
        dies_at: str = "",
    ) -> None:
        """Start it. It reads the file `given`. Its output is appended to `printed`, and its stderr to `errors`.

        With `dies_at`, it dies at that point of `hitl.faults`. Whoever starts it ends it: it dies with the tests.
        """
        run = (list(words), dict(environment), folder, (given, printed, errors), dies_at)
        self._process = _FORKS.Process(target=_run, args=run, daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, or None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit status. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        self._process.join(timeout)
        if (status := self._process.exitcode) is None:
            raise subprocess.TimeoutExpired("sayso", timeout or 0.0)
        return status

    async def ended(self) -> int:
        """Wait for the exit status; the event loop goes on meanwhile."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, over.set)
        try:
            await over.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        return self.wait()


def _run(
    words: list[str], environment: dict[str, str], folder: Path, streams: tuple[Path, Path, Path], dies_at: str
) -> None:
    """Run the command in this process."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, file in enumerate(streams):
        opened = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT if number else os.O_RDONLY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - its stream was closed by the fork
    sys.argv = ["sayso", *words]
    if dies_at:
        die_at(dies_at)
    main()
