"""Every measurement runs in a process of its own, and is told back as one line of JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import RESULTS
from benchmarks.machine import Cpu, wait_for_quiet
from benchmarks.telling import STARTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
_QUIET_WITHIN_S = 20.0
_LONGEST_S = 280.0


def _inherited() -> dict[str, str]:
    """This process's environment, but that bytecode is kept, as it is of whatever was installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class WorkerFailedError(Exception):
    """A worker ended without a measurement; the message is what it said last."""


@dataclass(frozen=True, slots=True)
class Workers:
    """How to start them: with which Python, and what to add to the environment."""

    python: str = sys.executable
    environment: Mapping[str, str] | None = None

    def run(self, module: str, *args: object) -> dict[str, Any]:
        """What the worker measured, and under `foreign` the share of the machine that others used meanwhile.

        Waits for a quiet moment first. Raises WorkerFailedError.
        """
        wait_for_quiet(_QUIET_WITHIN_S)
        before, started = Cpu.now(), time.monotonic()
        done = subprocess.run(
            [self.python, "-m", f"benchmarks.{module}", *map(str, args)],
            cwd=ROOT,
            env={**_inherited(), **(self.environment or {}), STARTED: str(started)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
        if done.returncode != 0:
            raise WorkerFailedError(f"{module} {args}: {done.stderr[-2000:]}")
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return {**told, "foreign": Cpu.now().foreign_since(before)}


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the disk that the results go to, gone afterwards: /tmp may be memory, where syncs cost nothing."""
    RESULTS.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="work-", dir=RESULTS))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
