"""Measures LangGraph with its SQLite saver, at the same work.

`python -m benchmarks.graph FOLDER WHAT MODE [NUMBER ...]`, where MODE is its durability (`exit`, `async`, `sync`).
One node interrupts for a decision, then runs the no-op tool; arguments of 1 KB; the saver's file on the same disk.
Runs in the peers' environment, so nothing of ours is imported but figures.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from benchmarks.figures import Spread
from benchmarks.telling import STARTED, tell

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_ARGUMENTS = "x" * 1000
_WARM_UP = 50
_COLD_WAITING = 20


class Asked(TypedDict, total=False):
    """The graph's state."""

    args: str
    result: str


@dataclass(slots=True)
class Graph:
    """A compiled graph over a saver, its tool's starts, and numbers for its threads."""

    compiled: Any
    resume: Any
    mode: str
    started: list[float]
    _numbers: count[int] = field(default_factory=count)

    async def cycle(self) -> tuple[float, float, float]:
        """Seconds: parked, decision to tool start, and all of it."""
        name, before = f"thread-{next(self._numbers)}", time.perf_counter()
        await self.park(name)
        parked = time.perf_counter()
        decision = await self.decide(name)
        return parked - before, decision, time.perf_counter() - before

    async def park(self, name: str) -> None:
        """Run to the interrupt."""
        told = await self.compiled.ainvoke({"args": _ARGUMENTS}, _thread(name), durability=self.mode)
        assert "__interrupt__" in told

    async def decide(self, name: str) -> float:
        """Seconds from the decision to the start of the tool; the result is stored when this answers."""
        before, began = time.perf_counter(), [0.0]
        config = _thread(name) | {"metadata": {}}
        config["configurable"]["began"] = began
        told = await self.compiled.ainvoke(self.resume, config, durability=self.mode)
        assert told["result"] == "ok"
        self.started.append(began[0])
        return began[0] - before


def _thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


@asynccontextmanager
async def opened(folder: Path, mode: str) -> AsyncIterator[Graph]:
    """The graph over a saver in the folder."""
    graphs = importlib.import_module("langgraph.graph")
    types = importlib.import_module("langgraph.types")
    savers = importlib.import_module("langgraph.checkpoint.sqlite.aio")

    async def ask(state: Asked, config: Any) -> Asked:
        agreed = types.interrupt({"tool": "write_note"})
        config["configurable"]["began"][0] = time.perf_counter()
        del state
        return {"result": "ok" if agreed else "denied"}

    ask.__annotations__["config"] = importlib.import_module("langchain_core.runnables").RunnableConfig
    building = graphs.StateGraph(Asked)
    building.add_node("ask", ask)
    building.add_edge(graphs.START, "ask")
    building.add_edge("ask", graphs.END)
    async with savers.AsyncSqliteSaver.from_conn_string(str(folder / "graph.db")) as saver:
        await saver.setup()
        yield Graph(building.compile(checkpointer=saver), types.Command(resume=True), mode, [])


async def alone(folder: Path, mode: str, cycles: int) -> dict[str, Any]:
    """One after the other."""
    async with opened(folder, mode) as graph:
        for _ in range(_WARM_UP):
            await graph.cycle()
        measured = [await graph.cycle() for _ in range(cycles)]
    return _spreads(measured)


async def flight(folder: Path, mode: str, tasks: int, tenths: int) -> dict[str, Any]:
    """So many in flight, for so many tenths of a second."""
    async with opened(folder, mode) as graph:
        for _ in range(_WARM_UP):
            await graph.cycle()
        measured: list[tuple[float, float, float]] = []
        started = time.perf_counter()

        async def work() -> None:
            while time.perf_counter() < started + tenths / 10:
                measured.append(await graph.cycle())

        await asyncio.gather(*(work() for _ in range(tasks)))
        took = time.perf_counter() - started
    return {**_spreads(measured), "cycles_per_s": len(measured) / took}


async def wait(folder: Path, mode: str) -> dict[str, Any]:
    """Leave some waiting."""
    async with opened(folder, mode) as graph:
        for number in range(_COLD_WAITING):
            await graph.park(f"cold-{number}")
    return {"pending": _COLD_WAITING}


async def cold(folder: Path, mode: str, number: int) -> dict[str, Any]:
    """In this new process, resume one that another left waiting."""
    async with opened(folder, mode) as graph:
        await graph.decide(f"cold-{number}")
        total = graph.started[0] - time.perf_counter() + time.monotonic() - float(os.environ[STARTED])
    return {"total": total}


def _spreads(cycles: list[tuple[float, float, float]]) -> dict[str, Spread]:
    park, decision, whole = zip(*cycles, strict=True)
    return {"park": Spread.of(park), "decision": Spread.of(decision), "cycle": Spread.of(whole)}


_MEASUREMENTS: dict[str, Any] = {each.__name__: each for each in (alone, flight, wait, cold)}

if __name__ == "__main__":
    tell(asyncio.run(_MEASUREMENTS[sys.argv[2]](Path(sys.argv[1]), sys.argv[3], *map(int, sys.argv[4:]))))
