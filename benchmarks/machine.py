"""What else goes on on this machine, and how fast its disk is: a number without these is worth nothing.

Linux only: all of it is read from /proc.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Spread

if TYPE_CHECKING:
    from typing import Self

#: A moment is quiet when other processes use less than this share of the machine.
QUIET = 0.12
_LOOK_S = 0.4
_PAGE = 4096
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cpu:
    """Ticks since boot: busy ones, all of them, and those of this process and its ended children."""

    busy: float
    total: float
    own: float

    @classmethod
    def now(cls) -> Self:
        """The counters as they are."""
        first = Path("/proc/stat").read_text().partition("\n")[0]
        ticks = [int(field) for field in first.split()[1:9]]
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return cls(sum(ticks) - ticks[3] - ticks[4], sum(ticks), own * _TICKS)

    def foreign_since(self, before: Cpu) -> float:
        """The share of the machine that others used in between."""
        others = (self.busy - before.busy) - (self.own - before.own)
        return max(0.0, others) / max(1.0, self.total - before.total)


def wait_for_quiet(within_s: float) -> float:
    """Wait for a quiet moment, but no longer than this; the share that others used at the end."""
    until = time.monotonic() + within_s
    while True:
        before = Cpu.now()
        time.sleep(_LOOK_S)
        share = Cpu.now().foreign_since(before)
        if share < QUIET or time.monotonic() > until:
            return share


def syncs(folder: Path, count: int = 300) -> Spread:
    """How long an fdatasync of one page into a file that has its length already takes."""
    path = folder / "sync.probe"
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.write(file, bytes(_PAGE) * count)
        os.fsync(file)
        return Spread.of([_sync(file, place) for place in range(count)])
    finally:
        os.close(file)
        path.unlink()


def _sync(file: int, place: int) -> float:
    started = time.perf_counter()
    os.pwrite(file, b"x" * _PAGE, place * _PAGE)
    os.fdatasync(file)
    return time.perf_counter() - started


def resident_bytes() -> int:
    """The memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
