"""`sayso`, started so that it dies at a named point as `kill -9` would make it: for tests alone.

    python tests/faults/dying.py POINT[:N] run --config sayso.toml

The process dies when it reaches the point of `hitl.faults` for the Nth time (default: the first). The production
entry point has no such switch.
"""

from __future__ import annotations

import os
import signal
import sys

from bot.cli.main import main
from hitl.faults import plan


def die_at(where: str) -> None:
    """Plan the death of this process. Raises KeyError for a name that is no point, ValueError for N that is none."""
    point, _, times = where.partition(":")
    left = iter(range(int(times or 1) - 1))

    def die() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    plan(point, die)


if __name__ == "__main__":
    die_at(sys.argv.pop(1))
    main()
