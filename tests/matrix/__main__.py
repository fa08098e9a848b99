"""Kill the service many times while people use it, and look for faults in what it leaves behind.

    python -m tests.matrix --kills 200 --seed 7

Worlds run side by side, one half on Telegram, the other on Slack, each with scripts on the socket. At the end
`checker.py`, a program of its own, looks at each. Exit status 1 if it finds a fault. The seed repeats who does what and
when kills come; what a kill hits also depends on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.matrix.people import People, until
from tests.matrix.rooms import PATIENCE_S, SlackRoom, TelegramRoom
from tests.matrix.world import World
from tests.wire.slack import SlackServer
from tests.wire.telegram import TelegramServer

CHECKER = Path(__file__).with_name("checker.py")


async def lived(root: Path, number: int, kills: int, seed: int, patience_s: float) -> World:
    """One world from its first start to its end; what `checker.py` reads is in its root then."""
    async with contextlib.AsyncExitStack() as parts:
        if number % 2:
            room: TelegramRoom | SlackRoom = SlackRoom(await parts.enter_async_context(SlackServer()))
        else:
            room = TelegramRoom(await parts.enter_async_context(TelegramServer()))
        await room.open()
        world = World(root, room, random.Random(f"{seed}/{number}"))  # noqa: S311 - repeatable, not secret
        parts.callback(world.service.close)
        people = People(world)
        tasks = people.at_work()
        parts.callback(lambda: [task.cancel() for task in tasks])
        t0 = time.monotonic()
        for _ in range(kills):
            await world.live(people.press_calmly)
        people.leaving = True
        world.launch()
        await world.ready()
        for _ in range(3):
            await people.press_calmly()
        print(number, "lives", time.monotonic() - t0, world._start_s, flush=True)
        await until(lambda: not world.busy() and tasks[2].done(), 60)
        print(number, "rest", time.monotonic() - t0, world.busy(), tasks[2].done(), flush=True)
        await world.leave(root)
        print(number, "left", time.monotonic() - t0, flush=True)
    return world


def faults_in(root: Path) -> list[list[str]]:
    """What the checker finds there."""
    checked = subprocess.run([sys.executable, "-I", CHECKER, root], capture_output=True, text=True, check=True)
    found: list[list[str]] = json.loads(checked.stdout)
    return found


async def main(arguments: argparse.Namespace) -> int:
    """Run all worlds; the exit status."""
    began = time.monotonic()
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed  # noqa: S311
    print(f"kill matrix: seed {seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="matrix-")
    if True:
        roots = [Path(folder, str(number)) for number in range(arguments.worlds)]
        shares = [
            arguments.kills * (n + 1) // arguments.worlds - arguments.kills * n // arguments.worlds
            for n in range(arguments.worlds)
        ]
        for root in roots:
            root.mkdir()
        worlds = await asyncio.gather(
            *(lived(root, n, shares[n], seed, arguments.patience) for n, root in enumerate(roots))
        )
        found = [fault for root in roots for fault in faults_in(root)]
        runs = sum(len(world.log.read_text().splitlines()) for world in worlds if world.log.exists())
    for kind, what in found:
        print(f"{kind}: {what}")
    counts = Counter(kind for kind, _ in found)
    figures = {
        "kills": sum(world.kills for world in worlds),
        "requests": sum(len(world.asks) for world in worlds),
        "decisions sent": sum(len(world.acts) for world in worlds),
        "runs": runs,
        "double runs": counts["double"],
        "unapproved runs": counts["unapproved"],
        "lost": counts["lost"],
        "late": counts["late"],
        "dead buttons": counts["dead"],
    }
    told = ", ".join(f"{name} {number}" for name, number in figures.items())
    print(f"kill matrix: {told}; seed {seed}, {time.monotonic() - began:.0f} s")
    import resource

    for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        r = resource.getrusage(w)
        print(r.ru_utime, r.ru_stime)
    return 1 if found else 0


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--worlds", type=int, default=4)
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help="seconds to come to rest at the end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(parsed())))
