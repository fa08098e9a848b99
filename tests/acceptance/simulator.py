"""`sayso simulate telegram` as a process: lines are typed into it, and what it prints is waited for."""

from __future__ import annotations

import contextlib
import queue
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.patience import PATIENCE_S
from tests.sentences import says

_EXPORT = re.compile(r"export (\w+)=(\S+)")


@dataclass
class Simulator:
    """A running one."""

    process: subprocess.Popen[str]
    printed: list[str] = field(default_factory=list)
    _lines: queue.Queue[str | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        """Read what it prints in a thread of its own."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def sees(self, part: str = "", what: str = "", **particulars: object) -> str:
        """The next line that holds a part, and the sentence of the catalogue named by `what`, if one is.

        Fails with all that was printed if none comes.
        """
        wanted = f"{part!r} {what} {particulars or ''}".strip()
        give_up = time.monotonic() + PATIENCE_S
        while (left := give_up - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=left)
                assert line is not None, f"it ended before {wanted}:\n" + "\n".join(self.printed)
                self.printed.append(line)
                if part in line and (not what or says(line, what, **particulars)):
                    return line
        raise AssertionError(f"in vain waited for {wanted}:\n" + "\n".join(self.printed))

    def type(self, line: str) -> None:
        """Type a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def opening(self, ready: str = "Type help") -> dict[str, str]:
        """The variables that it says to export, once it is ready."""
        self.sees(ready)
        return {found[1]: found[2] for found in map(_EXPORT.match, self.printed) if found}

    def quit(self) -> int:
        """Type quit; the exit status."""
        self.type("quit")
        return self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def simulating(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path) -> Iterator[Simulator]:
    """Start it, and end it with the context."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=folder,
        text=True,
    ) as process:
        try:
            yield Simulator(process)
        finally:
            process.kill()
