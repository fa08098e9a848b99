"""docs/how-to/agent.md: its part without an account, done as written, in an empty home folder."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hitl.cards.wording import say
from tests.acceptance.installation import until
from tests.acceptance.page import Page, exporting, following, newcomer
from tests.acceptance.simulator import Simulator, simulating

pytestmark = pytest.mark.long

PAGE = Page("agent.md")
TRIAL = "1. Without an account"


def test_the_trial_goes_as_the_page_says(tmp_path: Path) -> None:
    """Three terminals: two cards of one turn, one approved and one rejected with a reason, then the model's report."""
    environment = newcomer(tmp_path)
    model, telegram, third, typed = PAGE.blocks(TRIAL)
    port = ("--port", "0")
    workspace = tmp_path / "home/sayso-agent/workspace"
    with (
        simulating([*shlex.split(model), *port], environment, tmp_path) as scripted,
        simulating([*shlex.split(telegram), *port], environment, tmp_path) as people,
    ):
        told = scripted.opening("Ctrl-C") | people.opening()
        with following(exporting(third, told), environment, tmp_path) as service:
            service.says("telegram.ready")
            follow(people, typed.splitlines(), workspace)

    assert 4 == len(told)
    assert 1 == len(list(workspace.iterdir()))


def follow(people: Simulator, typed: list[str], workspace: Path) -> None:
    """Type the page's lines, each when the one before has had its effect."""
    into, ask, approve, reject = typed
    people.type(into)
    people.type(ask)
    for _ in range(2):
        people.sees(f"[{say('button.approve')}]")
    people.type(approve)
    until(lambda: len(list(workspace.iterdir())) == 1, "the approved deletion")
    people.type(reject)
    assert "the tests need it" in people.sees("That is all.")
