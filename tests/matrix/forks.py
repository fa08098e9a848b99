"""The command `sayso`, forked from a process that has read its modules and the default policy already.

That reading takes most of a start, and a kill in it proves nothing: no file of the installation is open yet. So one
process reads all of it once and forks for each run (`multiprocessing`, start method `forkserver`). A fork does what the
command does, from `bot.cli.main.main` on, with its own arguments, environment, folder and streams.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bot.cli.main import main

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.matrix.preloaded", __name__])


class Fork:
    """One run of `sayso`, with the methods of `subprocess.Popen` that a world needs."""

    def __init__(self, words: list[str], environment: Mapping[str, str], folder: Path, errors: Path) -> None:
        """Start it. Its stderr is appended to the file `errors`; it reads nothing, and what it prints is dropped."""
        self._process = _FORKS.Process(target=_run, args=(words, dict(environment), folder, errors))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._process.exitcode

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


def _run(words: list[str], environment: dict[str, str], folder: Path, errors: Path) -> None:
    """Run the command in this process."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with errors.open("ab") as log, Path(os.devnull).open("wb") as nowhere:
        os.dup2(log.fileno(), sys.stderr.fileno())
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    sys.argv = ["sayso", *words]
    main()
