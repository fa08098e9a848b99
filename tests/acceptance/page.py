"""A page of ours, followed as written by somebody new: its blocks are typed, its claims are looked for."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.installation import SAYSO, until
from tests.acceptance.simulator import Simulator, simulating
from tests.patience import PATIENCE_S


class Page:
    """One page under docs."""

    def __init__(self, name: str, folder: str = "docs/how-to") -> None:
        self.text = (Path(__file__).parents[2] / folder / name).read_text()

    def blocks(self, section: str) -> list[str]:
        """The code blocks of one section, oldest first."""
        text = self.text.partition(f"## {section}\n")[2].partition("\n## ")[0]
        return re.findall(r"```\w+\n(.*?)```", text, re.DOTALL)

    @contextlib.contextmanager
    def simulator(self, section: str, environment: Mapping[str, str], folder: Path, *more: str) -> Iterator[Simulator]:
        """The section's first terminal; the port is a free one, as others may sit on the usual one."""
        command = [*shlex.split(self.blocks(section)[0]), "--port", "0", *more]
        with simulating(command, environment, folder) as started:
            yield started


def newcomer(folder: Path) -> dict[str, str]:
    """What a new user has: `sayso` on the path, and a home with nothing in it."""
    (folder / "home").mkdir()
    path = f"{SAYSO.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder), "LANG": "C.UTF-8"}


def exporting(block: str, told: Mapping[str, str]) -> str:
    """A block with its `export` lines as the simulator printed them."""
    for name, value in told.items():
        block = re.sub(rf"(export {name})=.*", rf"\1={value}", block)
    return block


@dataclass
class Terminal:
    """A terminal whose block ended in `sayso run`."""

    process: subprocess.Popen[bytes]
    _log: Path

    @property
    def log(self) -> str:
        """What was printed so far."""
        return self._log.read_text()

    def says(self, part: str) -> None:
        """Wait until this was printed."""
        until(lambda: part in self.log, f"{part} in the service's log")


@contextlib.contextmanager
def following(block: str, environment: Mapping[str, str], folder: Path) -> Iterator[Terminal]:
    """Type a block whose last line starts the service; it is stopped in the end, and ends well."""
    block = re.sub(r"^sayso run$", "exec sayso run", block, flags=re.MULTILINE)
    log = folder / "log"
    with log.open("w") as output:
        service = subprocess.Popen(["bash", "-euc", block], env=environment, cwd=folder, stdout=output, stderr=output)
    terminal = Terminal(service, log)
    try:
        yield terminal
    finally:
        service.terminate()
        service.wait(PATIENCE_S)
    assert 0 == service.returncode
    assert "Traceback" not in terminal.log, terminal.log
