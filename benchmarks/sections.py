"""What is measured for each part of the table, and which budget it is held to.

Each section runs floor - ours - floor, several times over, each in a process and a folder of its own, and gives the
median over the repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Budget, Row, Spread, drift, median
from benchmarks.slowdisk import environment
from benchmarks.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_US, _MS = 1e6, 1e3
_COLD_RUNS = 8
_COMMAND_RUNS = 10
#: How many at once -> how many floors a second there must be, if a budget says so.
_IN_FLIGHT: dict[int, float | None] = {1: None, 10: None, 100: 2.5}
_ALLOWED_MORE_US = 300
#: Over HTTP, a decision may take so many bare round trips more than a transaction; and so many agents wait at once.
_ROUND_TRIPS, _WAITING = 15, 1_000


@dataclass(slots=True)
class Bench:
    """One run: where, how often, how long. `raw` collects everything that was measured."""

    folder: Path
    repeats: int
    cycles: int = 1000
    tenths: int = 30
    workers: Workers = field(default_factory=Workers)
    raw: dict[str, Any] = field(default_factory=dict)
    _folders: int = 0

    def run(self, module: str, *args: object, place: Path | None = None) -> dict[str, Any]:
        """One worker, on a fresh folder unless a place is given; its figures, which `raw` keeps too."""
        told = self.workers.run(module, place or self.fresh(), *args)
        self.raw.setdefault(" ".join(map(str, (module, *args))), []).append(told)
        return told

    def fresh(self) -> Path:
        """A new state folder."""
        self._folders += 1
        folder = self.folder / f"state-{self._folders}"
        folder.mkdir(mode=0o700)
        return folder


def alone(bench: Bench) -> Iterator[Row]:
    """One call after the other."""
    floors, ours = _between_floors(bench, partial(bench.run, "ours", "alone", bench.cycles))
    for what, name, limit in (
        ("park, alone", "park", 2),
        ("decision to tool start, alone", "decision", 2),
        ("  from the inbox commit", "inbox_decision", 2),
        ("cycle, alone", "cycle", 2),
    ):
        yield _spread_row(what, name, ours, floors, Budget("<=", limit))
    log, floor = (median(each, "log_bytes_per_commit") / 1024 for each in (ours, floors))
    yield Row("  log written a commit", log, "KB", floor=floor, budget=Budget("<=", 0.5))
    today = [bench.run("floor", bench.cycles, "today") for _ in range(bench.repeats)]
    yield _spread_row("  beside raw writes of today's rows", "cycle", ours, today, None)


def flight(bench: Bench) -> Iterator[Row]:
    """Many calls at once."""
    ours: list[dict[str, Any]] = []
    for tasks, limit in _IN_FLIGHT.items():
        floors, ours = _between_floors(bench, partial(bench.run, "ours", "flight", tasks, bench.tenths))
        yield _rate_row(f"cycles/s, {tasks} in flight", ours, floors, limit)
    yield Row(
        "decision to tool start, 100 in flight",
        median(ours, "decision", "p50") * _MS,
        "ms",
        median(ours, "decision", "p99") * _MS,
        budget=Budget("<=", 10, "p99", "p99 <= 10 ms"),
        foreign=_foreign(ours),
    )
    yield Row("CPU of a cycle, 100 in flight", median(ours, "cpu_us_per_cycle"), "us", foreign=_foreign(ours))


def pending(bench: Bench) -> Iterator[Row]:
    """Many calls waiting: decisions stay as quick, and a waiting call takes little."""
    place = bench.fresh()
    told = bench.run("ours", "pending", 100, 10_000, 100_000, place=place)
    few, *more = told["levels"]
    yield Row("decision, 100 pending", few["decision"]["p50"] * _US, "us", few["decision"]["p99"] * _US)
    for level in more:
        yield Row(
            f"decision, {level['pending']:,} pending",
            level["decision"]["p50"] * _US,
            "us",
            level["decision"]["p99"] * _US,
            floor=few["decision"]["p50"] * _US,
            budget=Budget("<=", 1.2),
            foreign=told["foreign"],
            note=f"parked at {level['parked_per_s']:,.0f}/s",
        )
        memory = level["memory_bytes"] / 1024
        limit = Budget("<=", 1, "value", "<= 1 KB")
        yield Row(f"memory a call, {level['pending']:,} pending", memory, "KB", budget=limit)
    yield Row("disk a call", told["disk_bytes"] / 1024, "KB", budget=Budget("<=", 3, "value", "<= 3 KB"))
    ready = bench.run("ours", "ready", place=place)
    limit = Budget("<=", 2, "value", "<= 2 s")
    yield Row("restart to ready, 100,000 pending", ready["ready_s"], "s", budget=limit, foreign=ready["foreign"])


def cold(bench: Bench) -> Iterator[Row]:
    """A new process, to the start of a tool. LangGraph takes 550 ms; `benchmarks.peers` measures both."""
    place = bench.fresh()
    bench.run("ours", "wait", 100, place=place)
    runs = [bench.run("coldstart", place=place) for _ in range(_COLD_RUNS)]
    parts = ", ".join(
        f"{name} {median(runs, name) * _MS:.0f}" for name in ("interpreter", "imports", "open", "decision")
    )
    limit = Budget("<=", 137, "value", "<= 137 ms")
    spread = Spread.of([run["total"] for run in runs])
    yield Row(
        "cold: new process to tool start", spread.p50 * _MS, "ms", spread.p99 * _MS, None, limit, _foreign(runs), parts
    )


def expiry(bench: Bench) -> Iterator[Row]:
    """Calls that run out, among 100,000."""
    told = bench.run("ours", "expiry", 100_000, 2000, 5)
    late = told["lateness"]
    limit = Budget("<=", 20, "p99", "p99 <= 20 ms")
    yield Row(
        "expiry, 2,000 of 100,000: late by", late["p50"] * _MS, "ms", late["p99"] * _MS, None, limit, told["foreign"]
    )


def race(bench: Bench) -> Iterator[Row]:
    """Twenty decisions on each of fifty calls at once."""
    told = bench.run("ours", "race", 50, 20)
    exact = told["calls"] == told["runs"] == told["ran"] == told["won"] and not told["broken"]
    limit = Budget("<=", 0, "value", "exactly 1")
    yield Row("racing decisions: runs a call beyond one", 0.0 if exact else 1.0, "", budget=limit, note=str(told))


def slow(bench: Bench) -> Iterator[Row]:
    """With 2 ms added to each sync."""
    added = environment(bench.folder)
    if added is None:
        print("slow disk: skipped, because there is no gcc to build the shim with")
        return
    there = Bench(bench.folder / "slow", bench.repeats, 200, bench.tenths, Workers(environment=added), bench.raw)
    there.folder.mkdir()
    floors, ours = _between_floors(there, partial(there.run, "ours", "alone", there.cycles))
    for what, name in (("slow disk: park, alone", "park"), ("slow disk: decision to tool start", "decision")):
        floor = median(floors, name, "p50") * _US
        limit = Budget("<=", floor + _ALLOWED_MORE_US, "value", "<= floor + 300 us") if name == "decision" else None
        yield _spread_row(what, name, ours, floors, limit)
    yield _spread_row("slow disk: cycle, alone", "cycle", ours, floors, None)
    ours = [there.run("ours", "flight", 100, there.tenths) for _ in range(there.repeats)]
    yield _rate_row("slow disk: cycles/s, 100 in flight", ours, floors, 20)


def policy(bench: Bench) -> Iterator[Row]:
    """Verdicts, by the number of rules; `benchmarks.peers` has another engine's on the same calls."""
    runs = [bench.run("verdicts") for _ in range(bench.repeats)]
    for size in ("20", "200", "2000"):
        rate = median(runs, size, "per_s")
        yield Row(
            f"verdict, {median(runs, size, 'rules'):g} rules",
            median(runs, size, "p50") * _US,
            "us",
            median(runs, size, "p99") * _US,
            budget=Budget("<=", 5, "value", "<= 5 us"),
            foreign=_foreign(runs),
            note=f"{rate:,.0f}/s, loaded in {median(runs, size, 'load') * _MS:.0f} ms",
        )
    limit = Budget("<=", 3, "value", "<= 3 parses")
    parse, verdict = median(runs, "shell", "parse") * _US, median(runs, "shell", "verdict")
    longer = median(runs, "shell", "longer")
    note = f"a parse takes {parse:.1f} us, a verdict {verdict:.2f}; long and nested lines are read in {longer:.2f}"
    yield Row("shell line read, in parses of it", median(runs, "shell", "reading"), "", None, None, limit, note=note)


def replies(bench: Bench) -> Iterator[Row]:
    """Replies, beside one full match of a hundred words; and a million characters beside a tenth of them."""
    runs = [bench.run("readings") for _ in range(bench.repeats)]
    reading, matching = median(runs, "reading"), median(runs, "matching")
    yield Row(
        "reply read",
        reading * _US,
        "us",
        floor=matching * _US,
        budget=Budget("<=", 30),
        foreign=_foreign(runs),
        note=f"{1 / reading:,.0f}/s",
    )
    yield Row("5 kB read, in readings of 500 bytes", median(runs, "growth"), "", budget=Budget("<=", 15, "value"))


#: A load -> its name in the table, and what is timed under it.
_LOADS = {
    "megabytes": ("20 requests of 1 MB", ("card", "press", "shown", "cli")),
    "words": ("20 requests of 200,000 words", ("card", "press", "shown", "cli")),
    "restart": ("100 open cards at a restart", ("card", "press", "shown", "cli")),
    "half_open": ("400 half-open connections", ("card", "press", "cli", "bare")),
    "half_open_tcp": ("400 half-open on the port", ("card", "press", "cli", "bare")),
    "few_files": ("318 of one peer, 400 open files", ("card", "press", "cli", "bare")),
}
_TIMED = {
    "card": "next card",
    "press": "press",
    "shown": "request shown",
    "cli": "sayso pending",
    "bare": "its bare client",
}


def load(bench: Bench) -> Iterator[Row]:
    """Measures what people wait while large requests come at once, cards are refreshed, or a peer holds connections.

    The column `p99` has the longest wait, less the median without the load.
    """
    limit = Budget("<=", 1000, "p99", "all <= 1 s more")
    for told, (what, timed) in _LOADS.items():
        runs = [bench.run("load", told) for _ in range(bench.repeats)]
        for name in timed:
            alone = median(runs, "alone", name, "p50")
            longest = max(run[name]["max"] for run in runs)
            cpu = median(runs, name, "cpu")
            used = f", {cpu * _MS:.0f} ms of a processor" if cpu else ""
            yield Row(
                f"{_TIMED[name]}, {what}",
                median(runs, name, "p50") * _MS,
                "ms",
                (longest - alone) * _MS,
                None,
                limit,
                _foreign(runs),
                f"without it {alone * _MS:.0f} ms{used}",
            )


def commands(bench: Bench) -> Iterator[Row]:
    """Commands, from the start of the process to the answer, in starts of an interpreter that does nothing."""
    runs = [bench.run("commands", _COMMAND_RUNS) for _ in range(bench.repeats)]
    nothing, bare = median(runs, "nothing", "p50"), median(runs, "bare", "p50")
    for name, what, limit in (
        ("bare", "bare client", None),
        ("pending", "sayso pending", None),
        ("ask", "sayso ask --no-wait", None),
        ("hook", "a hook's allowed call", Budget("<=", 100, "value", "<= 100 ms")),
    ):
        wall, cpu = median(runs, name, "p50"), median(runs, name, "cpu")
        yield Row(
            f"{what}: process start to answer",
            wall * _MS,
            "ms",
            max(run[name]["max"] for run in runs) * _MS,
            nothing * _MS,
            limit,
            _foreign(runs),
            f"{wall / bare:.1f} bare clients; {cpu * _MS:.0f} ms of a processor,"
            f" {cpu / median(runs, 'nothing', 'cpu'):.1f} times an interpreter's",
        )


def over_http(bench: Bench) -> Iterator[Row]:
    """Agents that wait in a request, and an approver, over TCP. An article on replay names 50 ms for it."""
    for agents in _IN_FLIGHT:
        floors, ours = _between_floors(bench, partial(bench.run, "over_http", "flight", agents, bench.cycles // 2))
        bare, f1 = median(ours, "bare", "p50"), median(floors, "decision", "p50")
        worst = median(floors, "decision", "p99") + _ROUND_TRIPS * median(ours, "bare", "p99")
        p99 = median(ours, "started", "p99")
        yield Row(
            f"HTTP: decision to the agent's tool start, {agents} waiting",
            median(ours, "started", "p50") * _MS,
            "ms",
            p99 * _MS,
            (f1 + _ROUND_TRIPS * bare) * _MS,
            Budget("<=", 1, text=f"<= F1 + {_ROUND_TRIPS} trips"),
            _foreign([*ours, *floors]),
            f"bare round trip {bare * _US:.0f} us; p99 is {p99 / worst:.2f} of the floor's p99",
            drift(floors, "decision", "p50"),
        )
    told = bench.run("over_http", "waiting", _WAITING)
    note = f"each tool started after {told['started']['p50'] * _MS:.2f} ms, p99 {told['started']['p99'] * _MS:.2f} ms"
    limit = Budget("<=", 0, "value", "0")
    yield Row(f"HTTP: errors of {_WAITING:,} waiting agents", told["errors"], "", budget=limit, note=note)


SECTIONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    each.__name__: each
    for each in (alone, flight, pending, cold, commands, expiry, race, slow, policy, replies, load, over_http)
}


def _between_floors(
    bench: Bench, ours: Callable[[], dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Floor - ours - floor, for each repeat."""
    floors, measured = [], []
    for _ in range(bench.repeats):
        floors.append(bench.run("floor", bench.cycles))
        measured.append(ours())
        floors.append(bench.run("floor", bench.cycles))
    return floors, measured


def _spread_row(
    what: str, name: str, ours: Sequence[dict[str, Any]], floors: Sequence[dict[str, Any]], budget: Budget | None
) -> Row:
    return Row(
        what,
        median(ours, name, "p50") * _US,
        "us",
        median(ours, name, "p99") * _US,
        median(floors, name, "p50") * _US,
        budget,
        _foreign([*ours, *floors]),
        drift=drift(floors, name, "p50"),
    )


def _rate_row(what: str, ours: Sequence[dict[str, Any]], floors: Sequence[dict[str, Any]], limit: float | None) -> Row:
    budget = None if limit is None else Budget(">=", limit)
    rate, floor = median(ours, "cycles_per_s"), median(floors, "cycles_per_s")
    apart = drift(floors, "cycles_per_s")
    return Row(what, rate, "", None, floor, budget, _foreign([*ours, *floors]), drift=apart)


def _foreign(results: Sequence[dict[str, Any]]) -> float:
    return median(results, "foreign")
