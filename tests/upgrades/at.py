"""`sayso`, started at another time of day: for tests of old databases alone.

    python -m tests.upgrades.at TIME POINT run --config sayso.toml

TIME is an ISO 8601 time with its offset. The clock of the process begins there and ticks. POINT is a point of
`hitl.faults` at which the process dies (see `tests/faults/dying.py`), or `-`.
"""

from __future__ import annotations

import sys
from datetime import datetime

import time_machine

from bot.cli.main import main
from tests.faults.dying import die_at

if __name__ == "__main__":
    began, point = datetime.fromisoformat(sys.argv.pop(1)), sys.argv.pop(1)
    if point != "-":
        die_at(point)
    with time_machine.travel(began, tick=True):
        main()
