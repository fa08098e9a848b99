"""Measures us, on the event loop that `sayso run` uses: one measurement a process.

`python -m benchmarks.ours FOLDER WHAT [NUMBER ...]`.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop

# The service imports this a second after its start. In a measurement of three seconds, that pause would count too much.
import hitl.replies.yes_with_reason  # noqa: F401
from benchmarks.desk import Cycle, Desk
from benchmarks.figures import Spread
from benchmarks.logged import CYCLES, Logged
from benchmarks.machine import resident_bytes, size_of
from benchmarks.telling import tell
from hitl.call import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hitl.call import Call

_WARM_UP = 200
_PARKERS = 64
_SAMPLED = 50
_DECISIONS = 300


async def alone(folder: Path, cycles: int) -> dict[str, Any]:
    """One call after the other; then as many again, decided by a chat's event that the inbox holds."""
    desk = await Desk.open(folder)
    for _ in range(_WARM_UP):
        await desk.cycle()
    measured = [await desk.cycle() for _ in range(cycles)]
    from_inbox = []
    for number in range(cycles):
        call = await desk.park()
        event = await desk.receive(number)
        from_inbox.append(await desk.to_tool(call.ref, event))
    logged = Logged(folder / "sayso.db")
    for _ in logged.windows():
        for _ in range(CYCLES):
            await desk.cycle()
    await desk.close()
    return {
        **_spreads(measured),
        "inbox_decision": Spread.of(from_inbox),
        "log_bytes_per_commit": logged.bytes_per_commit(),
    }


async def flight(folder: Path, tasks: int, tenths: int) -> dict[str, Any]:
    """So many calls in flight at any moment, for so many tenths of a second."""
    desk = await Desk.open(folder)
    for _ in range(_WARM_UP):
        await desk.cycle()
    measured: list[Cycle] = []
    cpu, started = time.process_time(), time.perf_counter()
    until = started + tenths / 10

    async def work() -> None:
        while time.perf_counter() < until:
            measured.append(await desk.cycle())

    await asyncio.gather(*(work() for _ in range(tasks)))
    took, cpu = time.perf_counter() - started, time.process_time() - cpu
    await desk.close()
    return {
        **_spreads(measured),
        "cycles_per_s": len(measured) / took,
        "cpu_us_per_cycle": cpu / len(measured) * 1e6,
        "disk_bytes_per_cycle": size_of(folder) / (len(measured) + _WARM_UP),
    }


async def pending(folder: Path, *levels: int) -> dict[str, Any]:
    """With ever more calls waiting: decision to tool start, and the memory and disk that a waiting call takes."""
    desk = await Desk.open(folder)
    for _ in range(_WARM_UP):
        await desk.cycle()
    base_memory, waiting, refs = resident_bytes(), 0, []
    told = []
    for level in levels:
        started = time.perf_counter()
        refs += await _park_many(desk, level - waiting)
        parked_per_s = (level - waiting) / (time.perf_counter() - started)
        waiting = level
        memory = (resident_bytes() - base_memory) / level
        decision = Spread.of([await _replace(desk, refs) for _ in range(_DECISIONS)])
        told.append(
            {
                "pending": level,
                "decision": {"n": decision.n, "p50": decision.p50, "p99": decision.p99},
                "memory_bytes": memory,
                "parked_per_s": parked_per_s,
            }
        )
    await desk.close()
    return {"levels": told, "disk_bytes": size_of(folder) / (waiting + _WARM_UP + _DECISIONS * len(levels))}


async def _park_many(desk: Desk, number: int) -> list[str]:
    """The refs of some of them: of all would be memory of ours, not of the service."""
    parked = 0
    kept: list[str] = []

    async def park() -> None:
        nonlocal parked
        while parked < number:
            parked += 1
            call = await desk.park()
            if number <= 2 * _DECISIONS or parked % _SAMPLED == 0:
                kept.append(call.ref)

    await asyncio.gather(*(park() for _ in range(_PARKERS)))
    return kept


async def _replace(desk: Desk, refs: list[str]) -> float:
    """Decide any one of those waiting, and park another in its place."""
    place = random.randrange(len(refs))
    took = await desk.to_tool(refs[place])
    refs[place] = (await desk.park()).ref
    return took


async def ready(folder: Path) -> dict[str, Any]:
    """From nothing but the files to a service that decides."""
    started = time.perf_counter()
    desk = await Desk.open(folder)
    took = time.perf_counter() - started
    await desk.close()
    return {"ready_s": took}


class _Lateness:
    """Follows the changes of calls, and notes how late each expiry was durable."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def changed(self, call: Call) -> None:
        """Note it."""
        if call.status is Status.EXPIRED:
            self.seconds.append(time.time() - call.deadline.timestamp())


async def expiry(folder: Path, waiting: int, due: int, within_s: int) -> dict[str, Any]:
    """Calls that run out one after the other within some seconds, among many that don't."""
    desk = await Desk.open(folder)
    await _park_many(desk, waiting - due)
    lateness = _Lateness()
    desk.running.service.gate.follow(lateness.changed)
    started, last = time.perf_counter(), None
    for number in range(due):
        await asyncio.sleep(max(0.0, started + within_s * number / due - time.perf_counter()))
        last = await desk.park(timeout_s=within_s + 1)
    assert last is not None
    await desk.running.service.ended(last, within_s + 10)
    await desk.close()
    assert len(lateness.seconds) == due
    return {"lateness": Spread.of(lateness.seconds)}


async def race(folder: Path, calls: int, decisions: int) -> dict[str, Any]:
    """Many decisions on each of some calls at once: how often each tool ran."""
    desk = await Desk.open(folder)
    parked = [await desk.park() for _ in range(calls)]
    tries = [desk.decide(call.ref) for call in parked for _ in range(decisions)]
    random.shuffle(tries)
    answers = await asyncio.gather(*tries, return_exceptions=True)
    unexpected = [a for a in answers if isinstance(a, BaseException) and not isinstance(a, AssertionError)]
    for call in parked:
        await desk.running.service.ended(call)
    await desk.close()
    won = sum(not isinstance(answer, BaseException) for answer in answers)
    return {"calls": calls, "runs": len(desk.runs), "ran": len(set(desk.runs)), "won": won, "broken": len(unexpected)}


async def wait(folder: Path, number: int) -> dict[str, Any]:
    """Leave so many calls waiting."""
    desk = await Desk.open(folder)
    await _park_many(desk, number)
    await desk.close()
    return {"pending": number}


def _spreads(cycles: Sequence[Cycle]) -> dict[str, Spread]:
    return {
        "park": Spread.of([cycle.park for cycle in cycles]),
        "decision": Spread.of([cycle.decision for cycle in cycles]),
        "cycle": Spread.of([cycle.whole for cycle in cycles]),
    }


_MEASUREMENTS = {each.__name__: each for each in (alone, flight, pending, ready, expiry, race, wait)}

if __name__ == "__main__":
    tell(uvloop.run(_MEASUREMENTS[sys.argv[2]](Path(sys.argv[1]), *map(int, sys.argv[3:]))))
