"""docs/how-to/telegram.md: its part without an account, done as written, in an empty home folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE_S, SAYSO, until
from tests.acceptance.simulator import Simulator, simulating

PAGE = (Path(__file__).parents[2] / "docs/how-to/telegram.md").read_text()


def blocks(section: str) -> list[str]:
    """The code blocks of one section, oldest first."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"```\w+\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a new user has: `sayso` on the path, and a home with nothing in it."""
    (tmp_path / "home").mkdir()
    path = f"{SAYSO.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(tmp_path / "home"), "XDG_RUNTIME_DIR": str(tmp_path), "LANG": "C.UTF-8"}


@pytest.fixture
def simulator(environment: dict[str, str], tmp_path: Path) -> Iterator[Simulator]:
    """The first terminal; the port is a free one, as others may sit on the usual one."""
    command = [*shlex.split(blocks("1. Without an account")[0]), "--port", "0"]
    with simulating(command, environment, tmp_path) as started:
        yield started


def test_the_trial_goes_as_the_page_says(simulator: Simulator, environment: dict[str, str], tmp_path: Path) -> None:
    """Both terminals: the asker's own press is refused, another's runs the call, words reject the next."""
    _, second, typed = blocks("1. Without an account")
    told = simulator.opening()
    for name, value in told.items():
        second = re.sub(rf"(export {name})=.*", rf"\1={value}", second)
    second = re.sub(r"^sayso run$", "exec sayso run", second, flags=re.MULTILINE)
    notes = tmp_path / "home/sayso-trial/workspace/notes.txt"
    with (tmp_path / "log").open("w") as log:
        service = subprocess.Popen(["bash", "-euc", second], env=environment, cwd=tmp_path, stderr=log)
    try:
        until(lambda: "telegram.ready" in (tmp_path / "log").read_text(), "the service")
        follow(simulator, typed.splitlines(), notes)
    finally:
        service.terminate()
        service.wait(PATIENCE_S)

    assert 2 == len(told)
    assert "hello" == notes.read_text()
    assert (0, 0) == (service.returncode, simulator.quit())
    assert "Traceback" not in (tmp_path / "log").read_text()


def follow(simulator: Simulator, typed: list[str], notes: Path) -> None:
    """Type the page's lines, each when the one before has had its effect."""
    into, ask, own, other, again, words = typed
    simulator.type(into)
    simulator.type(ask)
    simulator.sees("[✅ Approve]")
    simulator.type(own)
    simulator.sees("(ada sees: You asked for")
    assert not notes.exists()
    simulator.type(other)
    simulator.sees("was approved and ran")
    simulator.type(again)
    simulator.sees("[✅ Approve]")
    simulator.type(words)
    simulator.sees("was rejected, reason: we need it")


def test_the_webhook_settings_are_what_init_writes(environment: dict[str, str], tmp_path: Path) -> None:
    """The page shows the very lines that its command adds, but for its comments."""
    command, shown = blocks("5. Polling or webhook")
    for line in ("sayso init", command):
        subprocess.run(shlex.split(line), env=environment, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    added = (tmp_path / "sayso.toml").read_text()[-len(re.sub(r" +#.*", "", shown)) :]

    assert re.sub(r" +#.*", "", shown) == added
