"""`python -m benchmarks [SECTION ...]`: us against the floor of this machine, and against our budgets."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmarks.figures import save, table
from benchmarks.machine import Cpu, syncs, wait_for_quiet
from benchmarks.sections import SECTIONS, Bench
from benchmarks.workers import scratch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.figures import Row


def main(arguments: Sequence[str]) -> None:
    """Measure the named sections, all of them by default; print the table and write the file."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--repeats", type=int, default=3, help="how often floor - ours - floor is run (3)")
    given = parser.parse_args(arguments)
    wanted = given.sections or list(SECTIONS)
    if unknown := set(wanted) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    before = Cpu.now()
    with scratch() as folder:
        bench = Bench(folder, given.repeats)
        about = machine(folder)
        rows: list[Row] = []
        for name in wanted:
            print(f"measuring: {name}", file=sys.stderr)
            rows += SECTIONS[name](bench)
        about["sync_after"] = asdict(syncs(folder))
    about["others_cpu"] = Cpu.now().foreign_since(before)
    print(table(rows))
    print(said(about))
    print(f"written to {save('bench', rows, about, bench.raw)}")


def machine(folder: Path) -> dict[str, Any]:
    """What must stand beside the figures."""
    return {"quiet": wait_for_quiet(20.0), "sync_before": asdict(syncs(folder))}


def said(about: dict[str, Any]) -> str:
    """The machine in a line."""
    before, after = about["sync_before"]["p50"] * 1e6, about["sync_after"]["p50"] * 1e6
    return (
        f"fdatasync of 4 KB p50: {before:.0f} us before, {after:.0f} us after; other processes used"
        f" {about['others_cpu']:.0%} of the machine. Floors, ratios and medians are of this run alone."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
