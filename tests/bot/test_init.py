"""`sayso init`: what it refuses before it writes, and what it tells whoever is alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import app

ME = f"local:{os.getuid()}"


@pytest.mark.parametrize("words", [["--self-approval", "critical"], ["--approver", ""], ["--requester", ""]])
def test_what_no_service_could_use_is_not_written(tmp_path: Path, words: list[str]) -> None:
    """A risk that there isn't, or up to which nobody may; a name that is nobody's."""
    refused = CliRunner().invoke(app, ["init", "--file", str(tmp_path / "new.toml"), *words])

    assert 2 == refused.exit_code
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("platform", [[], ["telegram"], ["slack"]])
def test_a_place_that_can_not_be_written_is_one_line(tmp_path: Path, platform: list[str]) -> None:
    """Nothing but what happened, and what to do."""
    refused = CliRunner().invoke(app, ["init", *platform, "--file", str(tmp_path / "none" / "new.toml")])

    assert (2, 1) == (refused.exit_code, len(refused.output.splitlines()))
    assert "--file" in refused.output


@pytest.mark.parametrize(
    ("words", "alone"),
    [
        ([], True),
        (["--approver", ME], True),
        (["--approver", "local:4321"], False),
        (["--self-approval", "high"], False),
    ],
)
def test_who_is_alone_is_told(tmp_path: Path, words: list[str], alone: bool) -> None:  # noqa: FBT001
    """Where every question would end undeliverable, for one's own yes doesn't count."""
    done = CliRunner().invoke(app, ["init", "--file", str(tmp_path / "new.toml"), *words])

    assert 0 == done.exit_code
    assert alone == ("your own yes doesn't count" in done.output)
