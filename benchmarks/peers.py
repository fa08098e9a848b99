"""Us beside LangGraph, cedarpy, awaithumans and holdmyagent, in one run on one machine.

`python -m benchmarks.peers [PART ...]`, in the peers' environment. LangGraph stores to its own SQLite saver; each
durability mode runs, and the best one of them counts in every row. Ours runs as a process of the main environment
(`.venv/bin/python`, or what SAYSO_PYTHON names). Order: ours, each mode, ours, for each repeat; both on plain asyncio.
awaithumans and holdmyagent are servers of their own (`benchmarks.peer_waits`), as ours is there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Budget, Row, median, save, table
from benchmarks.machine import Cpu, syncs, wait_for_quiet
from benchmarks.workers import ROOT, Workers, scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

MODES = ("exit", "async", "sync")
_OURS = "ours"
_CYCLES = 300
_TENTHS = 30
_COLD_RUNS = 6
#: Services that hold an agent until a person decides, and how many such waits are measured in a repeat.
_WAITING, _WAITS = ("awaithumans", "holdmyagent"), 20
_US, _MS = 1e6, 1e3

Results = dict[tuple[str, str], list[dict[str, Any]]]


class Run:
    """One run; `results` by who and what."""

    def __init__(self, folder: Path) -> None:
        self.results: Results = defaultdict(list)
        self._folder = folder
        self._ours = Workers(os.environ.get("SAYSO_PYTHON", str(ROOT / ".venv/bin/python")))
        self._theirs = Workers()
        self._folders = 0

    def measure(self) -> None:
        """Each measurement once: ours, theirs in each mode, ours again."""
        for what, numbers in (("alone", (_CYCLES,)), ("flight", (100, _TENTHS))):
            self._of_ours(what, *numbers)
            for mode in MODES:
                told = self._theirs.run("graph", self._fresh(), what, mode, *numbers)
                self.results[mode, what].append(told)
            self._of_ours(what, *numbers)

    def measure_cold(self) -> None:
        """New processes on databases with calls waiting."""
        ours, theirs = self._fresh(), self._fresh()
        self._ours.run("ours", ours, "wait", 100)
        self._theirs.run("graph", theirs, "wait", MODES[0])
        for number in range(_COLD_RUNS):
            self.results[_OURS, "cold"].append(self._ours.run("coldstart", ours))
            self.results[MODES[0], "cold"].append(self._theirs.run("graph", theirs, "cold", MODES[0], number))

    def measure_verdicts(self) -> None:
        """The same rules and calls, judged by both engines."""
        place = self._fresh()
        self.results[_OURS, "verdicts"].append(self._ours.run("verdicts", place))
        self.results["cedarpy", "verdicts"].append(self._theirs.run("cedar", place))

    def measure_waits(self) -> None:
        """An agent that waits over HTTP, and an approver: ours, each of theirs, ours again."""
        self._waits_of_ours()
        for peer in _WAITING:
            self.results[peer, "waits"].append(self._theirs.run("peer_waits", self._fresh(), peer, _WAITS))
        self._waits_of_ours()

    def _waits_of_ours(self) -> None:
        self.results[_OURS, "waits"].append(self._ours.run("over_http", self._fresh(), "flight", 1, _CYCLES))

    def wait_rows(self) -> Iterator[Row]:
        """Ours over each of theirs: with the wait of their own client, and beside their two requests alone."""
        ours = self.results[_OURS, "waits"]
        for peer in _WAITING:
            theirs = self.results[peer, "waits"]
            for what, name in (
                ("decision to the waiting agent's tool start", "started"),
                ("  no wait there", "served"),
            ):
                yield Row(
                    f"{what} (beside {peer})",
                    median(ours, "started", "p50") * _MS,
                    "ms",
                    median(ours, "started", "p99") * _MS,
                    median(theirs, name, "p50") * _MS,
                    None,
                    median(ours, "foreign"),
                    f"Theirs, p99: {median(theirs, name, 'p99') * _MS:.3g} ms.",
                )

    def verdict_rows(self) -> Iterator[Row]:
        """Theirs over ours, so that more is better."""
        ours, theirs = self.results[_OURS, "verdicts"], self.results["cedarpy", "verdicts"]
        for size in ("20", "200", "2000"):
            quick = median(ours, size, "p50")
            yield Row(
                f"verdict by cedarpy, {median(ours, size, 'rules'):g} rules (beside ours)",
                median(theirs, size, "p50") * _US,
                "us",
                median(theirs, size, "p99") * _US,
                quick * _US,
                Budget(">=", 50) if size == "200" else None,
                median(ours, "foreign"),
            )

    def rows(self) -> Iterator[Row]:
        """Ours over the best of theirs."""
        yield self._row("cycle, alone", ("alone", "cycle", "p50"), "us", _US, Budget("<=", 0.25))
        yield self._row("park, alone", ("alone", "park", "p50"), "us", _US)
        note = "LangGraph makes nothing durable before the tool; we commit the decision and the claim."
        yield self._row("decision to tool start, alone", ("alone", "decision", "p50"), "us", _US, note=note)
        yield self._row("cycles/s, 100 in flight", ("flight", "cycles_per_s"), "", 1, Budget(">=", 30))
        yield self._row("decision to tool start, 100 in flight", ("flight", "decision", "p50"), "ms", _MS)
        yield self._row("cold: new process to tool start", ("cold", "total"), "ms", _MS, Budget("<=", 0.25))

    def _row(
        self, what: str, path: Sequence[str], unit: str, scale: float, budget: Budget | None = None, note: str = ""
    ) -> Row:
        measurement, *names = path
        ours = self.results[_OURS, measurement]
        modes = {mode: self.results[mode, measurement] for mode in MODES if (mode, measurement) in self.results}
        theirs = {mode: median(results, *names) for mode, results in modes.items()}
        best = max(theirs, key=lambda mode: theirs[mode] if names == ["cycles_per_s"] else -theirs[mode])
        told = " ".join([note, f"Theirs: {', '.join(f'{mode} {theirs[mode] * scale:.4g}' for mode in theirs)}."])
        value = median(ours, *names) * scale
        return Row(what, value, unit, None, theirs[best] * scale, budget, median(ours, "foreign"), told.strip())

    def _of_ours(self, what: str, *numbers: int) -> None:
        self.results[_OURS, what].append(self._ours.run("ours", self._fresh(), what, *numbers))

    def _fresh(self) -> Path:
        self._folders += 1
        folder = self._folder / f"state-{self._folders}"
        folder.mkdir(mode=0o700)
        return folder


#: What is measured, and the rows of it.
PARTS: dict[str, tuple[Callable[[Run], None], Callable[[Run], Iterator[Row]]]] = {
    "graph": (Run.measure, Run.rows),
    "verdicts": (Run.measure_verdicts, Run.verdict_rows),
    "waits": (Run.measure_waits, Run.wait_rows),
}


def main(arguments: Sequence[str]) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser("python -m benchmarks.peers", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--repeats", type=int, default=3, help="how often ours - theirs - ours is run (3)")
    given = parser.parse_args(arguments)
    wanted = given.parts or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    before = Cpu.now()
    with scratch() as folder:
        about: dict[str, Any] = {
            "quiet": wait_for_quiet(20.0),
            "sync_before": asdict(syncs(folder)),
            "langgraph": version("langgraph"),
            "cedarpy": version("cedarpy"),
            "saver": version("langgraph-checkpoint-sqlite"),
            **{peer: version(peer) for peer in _WAITING},
        }
        run = Run(folder)
        for _ in range(given.repeats):
            for part in wanted:
                PARTS[part][0](run)
        if "graph" in wanted:
            run.measure_cold()
        about["sync_after"] = asdict(syncs(folder))
    about["others_cpu"] = Cpu.now().foreign_since(before)
    rows = [row for part in wanted for row in PARTS[part][1](run)]
    print(table(rows).replace(" floor", "beside"))
    print(f"LangGraph {about['langgraph']}, SQLite saver {about['saver']}; other processes {about['others_cpu']:.0%}")
    raw = {" ".join(key): results for key, results in run.results.items()}
    print(f"written to {save('peers', rows, about, raw)}")


if __name__ == "__main__":
    main(sys.argv[1:])
