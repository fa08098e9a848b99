"""The measurements run: a benchmark that broke unseen would be missed when it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "what",
    [
        ("floor", "{}", "3"),
        ("floor", "{}", "3", "today"),
        ("ours", "{}", "alone", "3"),
        ("ours", "{}", "race", "2", "3"),
        ("commands", "{}", "1"),
        ("load", "{}", "half_open"),
        ("over_http", "{}", "flight", "2", "4"),
        ("over_http", "{}", "waiting", "3"),
    ],
)
def test_a_measurement_tells_what_it_measured(what: tuple[str, ...], tmp_path: Path) -> None:
    """One line of JSON, last of all; whatever went wrong would have ended it."""
    module, *arguments = (word.format(tmp_path / "state") for word in what)
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert json.loads(done.stdout.splitlines()[-1])
