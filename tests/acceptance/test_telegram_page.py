"""docs/how-to/telegram.md: its part without an account, done as written, in an empty home folder."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitl.outcomes import Refusal
from tests.acceptance.page import Page, exporting, following, newcomer
from tests.acceptance.simulator import Simulator

pytestmark = pytest.mark.long

PAGE = Page("telegram.md")
TRIAL = "1. Without an account"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A new user's."""
    return newcomer(tmp_path)


@pytest.fixture
def simulator(environment: dict[str, str], tmp_path: Path) -> Iterator[Simulator]:
    """The first terminal."""
    with PAGE.simulator(TRIAL, environment, tmp_path) as started:
        yield started


def test_the_trial_goes_as_the_page_says(simulator: Simulator, environment: dict[str, str], tmp_path: Path) -> None:
    """Both terminals: the asker's own press is refused, another's runs the call, words reject the next."""
    _, second, typed = PAGE.blocks(TRIAL)
    told = simulator.opening()
    notes = tmp_path / "home/sayso-trial/workspace/notes.txt"
    with following(exporting(second, told), environment, tmp_path) as service:
        service.says("telegram.ready")
        follow(simulator, typed.splitlines(), notes)

    assert 2 == len(told)
    assert "hello" == notes.read_text()
    assert 0 == simulator.quit()


def follow(simulator: Simulator, typed: list[str], notes: Path) -> None:
    """Type the page's lines, each when the one before has had its effect."""
    into, ask, own, other, again, words = typed
    simulator.type(into)
    simulator.type(ask)
    simulator.sees("[Approve]")
    simulator.type(own)
    simulator.sees("(ada sees: ", Refusal.OWN)
    assert not notes.exists()
    simulator.type(other)
    simulator.sees("(edited)")
    simulator.type(again)
    simulator.sees("[Approve]")
    simulator.type(words)
    simulator.sees(what="agent.rejected.reason", reason="we need it")


def test_the_webhook_settings_are_what_init_writes(environment: dict[str, str], tmp_path: Path) -> None:
    """The page shows the very lines that its command adds, but for its comments."""
    command, shown = PAGE.blocks("5. Polling or webhook")
    for line in ("sayso init", command):
        subprocess.run(shlex.split(line), env=environment, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    added = (tmp_path / "sayso.toml").read_text()[-len(re.sub(r" +#.*", "", shown)) :]

    assert re.sub(r" +#.*", "", shown) == added
