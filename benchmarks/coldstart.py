"""A new process on a database with calls waiting: from its start to the start of a tool that it approves.

`python -m benchmarks.coldstart FOLDER`.
"""

from __future__ import annotations

import sys
import time

_INTERPRETER = time.monotonic()

import asyncio  # noqa: E402 - how long imports take is part of what is measured
import os  # noqa: E402
from pathlib import Path  # noqa: E402

from benchmarks.desk import Desk  # noqa: E402
from benchmarks.telling import STARTED, tell  # noqa: E402

_IMPORTED = time.monotonic()
#: The calls that wait (`benchmarks.ours wait`), each in a conversation of its own. Reading a directory of all
#: conversations of the desk would take as long as opening the database.
_WAITING = 100


async def _resume(folder: Path) -> dict[str, float]:
    started = float(os.environ[STARTED])
    began: list[float] = []
    desk = await Desk.open(folder, tool=lambda _: began.append(time.monotonic()), places=_WAITING)
    ready = time.monotonic()
    (call,) = await desk.running.store.pending(limit=1)
    await desk.to_tool(call.ref)
    await desk.close()
    marks = (started, _INTERPRETER, _IMPORTED, ready, began[0])
    names = ("interpreter", "imports", "open", "decision")
    parts = {name: after - before for name, before, after in zip(names, marks, marks[1:], strict=False)}
    return {**parts, "total": began[0] - started}


if __name__ == "__main__":
    tell(asyncio.run(_resume(Path(sys.argv[1]))))
