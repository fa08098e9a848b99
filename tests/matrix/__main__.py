"""Kill the service many times while people use it, and look for faults in what it leaves behind.

    python -m tests.matrix --kills 200 --seed 7
    python -m tests.matrix --prove

Worlds run side by side, one half on Telegram, the other on Slack, each with scripts on the socket and with programs
that wait over HTTP. At the end `checker.py`, a program of its own, looks at each. Exit status 1 if it finds a fault.
The seed repeats who does what and when kills come; what a kill hits also depends on the machine. `--prove` shows that
faults are found: each patch in `patches/` takes one safeguard out of a copy of the code, and the kills must find the
fault there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from simulators.slack import SlackServer
from simulators.telegram import TelegramServer
from tests.matrix.people import People
from tests.matrix.rooms import SlackRoom, TelegramRoom
from tests.matrix.world import TREE, World

CHECKER = Path(__file__).with_name("checker.py")
#: The patches, and the kind of fault that each of them brings about.
PATCHES = {"claim-condition": "double", "deadline-in-where": "late", "handled-mark": "lost"}
#: Presses at the end, after the last start.
LAST_PRESSES = 3
#: A proof runs the harness with few kills and little patience, with another seed up to so many times.
PROOF, ROUNDS = ("--kills", "16", "--worlds", "2", "--patience", "6"), 5
#: What the last line says of each kind of fault.
NAMES = {
    "double": "double runs",
    "unapproved": "unapproved runs",
    "lost": "lost decisions",
    "late": "late approvals",
    "dead": "dead buttons",
}


async def lived(root: Path, number: int, kills: int, arguments: argparse.Namespace) -> World:
    """One world from its first start to its end; what `checker.py` reads is in its root then."""
    async with contextlib.AsyncExitStack() as parts:
        if number % 2:
            room: TelegramRoom | SlackRoom = SlackRoom(await parts.enter_async_context(SlackServer()))
        else:
            room = TelegramRoom(await parts.enter_async_context(TelegramServer()))
        await room.open()
        sure = random.Random(f"{arguments.seed}/{number}")  # noqa: S311 - to be repeated, not secret
        world = World(root, room, sure, arguments.patience)
        parts.callback(world.close)
        people = People(world)
        for task in people.at_work():
            parts.callback(task.cancel)
        for _ in range(kills):
            await world.live(people.press_calmly)
        people.leaving = True
        world.launch()
        await world.ready()
        for _ in range(LAST_PRESSES):
            await people.press_calmly()
        await people.last_moment()
        await world.rest(lambda: people.gone)
        await world.leave(root)
    return world


def faults_in(root: Path) -> list[list[str]]:
    """What the checker finds there."""
    checked = subprocess.run([sys.executable, "-I", CHECKER, root], capture_output=True, text=True, check=True)
    found: list[list[str]] = json.loads(checked.stdout)
    return found


async def kill(arguments: argparse.Namespace) -> int:
    """Run all worlds, print what was found; the exit status. The folder of a run with faults is kept."""
    began, count = time.monotonic(), arguments.worlds
    say(f"kill matrix: seed {arguments.seed}")
    folder = Path(tempfile.mkdtemp(prefix="matrix-"))
    roots = [folder / str(number) for number in range(count)]
    for root in roots:
        root.mkdir()
    ends = [arguments.kills * number // count for number in range(count + 1)]
    lives = (lived(root, n, ends[n + 1] - ends[n], arguments) for n, root in enumerate(roots))
    worlds = await asyncio.gather(*lives)
    found = [fault for root in roots for fault in faults_in(root)]
    for kind, what in found:
        say(f"{kind}: {what}")
    counts = Counter(kind for kind, _ in found)
    figures = {
        "kills": sum(world.kills for world in worlds),
        "requests": sum(len(world.asks) for world in worlds),
        "decisions": sum(len(world.acts) for world in worlds),
        "runs": sum(len(world.log.read_text().splitlines()) for world in worlds if world.log.exists()),
        **{name: counts[kind] for kind, name in NAMES.items()},
    }
    told = ", ".join(f"{name} {number}" for name, number in figures.items())
    kept = f"; see {folder}" if found else ""
    say(f"kill matrix: {told}; seed {arguments.seed}, {time.monotonic() - began:.0f} s{kept}")
    if not found:
        shutil.rmtree(folder)
    return 1 if found else 0


def prove(seed: int) -> int:
    """Run the harness on a copy of the code for each patch, side by side; 0 if it found the fault in all of them."""
    with ThreadPoolExecutor() as side_by_side:
        found = list(side_by_side.map(partial(proved, seed=seed), PATCHES))
    say(f"kill matrix: found the faults of {sum(found)} of {len(found)} patches")
    return 0 if all(found) else 1


def proved(name: str, seed: int) -> bool:
    """Whether the harness finds this patch's kind of fault in a copy of the code."""
    with tempfile.TemporaryDirectory(prefix="matrix-proof-") as folder:
        for part in ("adapters", "bot", "clients", "hitl", "tests"):
            shutil.copytree(TREE / part, Path(folder, part), ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["git", "apply", patch_of(name)], cwd=folder, check=True)
        return any(found_in(Path(folder), name, seed + number) for number in range(ROUNDS))


def found_in(folder: Path, name: str, seed: int) -> bool:
    """Whether the harness, run in a copy of the code with this patch, finds its kind of fault."""
    harness = [sys.executable, "-m", "tests.matrix", *PROOF, "--seed", str(seed)]
    surroundings = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(folder / "clients")}
    done = subprocess.run(harness, cwd=folder, env=surroundings, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    found = [line for line in lines if line.startswith(f"{PATCHES[name]}: ")]
    say("\n".join(f"{name}: {line}" for line in [*found[:1], *lines[-1:]]))
    return bool(found)


def patch_of(name: str) -> Path:
    """The file of a patch."""
    return Path(__file__).with_name("patches") / f"{name}.patch"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))  # noqa: S311
    parser.add_argument("--worlds", type=int, default=4)
    parser.add_argument(
        "--patience", type=float, default=60.0, help="seconds to answer a press, and for the last decisions"
    )
    parser.add_argument("--prove", action="store_true", help="show that faults are found")
    return parser.parse_args()


def main() -> int:
    """Run what was asked for; the exit status."""
    arguments = parsed()
    if arguments.prove:
        return prove(arguments.seed)
    # The servers log every connection that a kill breaks.
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    return asyncio.run(kill(arguments))


if __name__ == "__main__":
    sys.exit(main())
