"""What setting up prints at a terminal is in the catalogue, so that it is on one page with everything else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from tests.pseudo import outside, speak_in_commands

if TYPE_CHECKING:
    from pathlib import Path

#: Names of files, platforms and clients, and what an operating system says: they are no sentences of ours.
NAMES = (
    "sayso toml telegram slack http polling webhook socket token bot app codex backup local",
    "claude-desktop, claude-code, cursor, vscode, codex",
    "No such file or directory",
)


@pytest.fixture(autouse=True)
def pseudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands speak the pseudo-language, in a folder without settings."""
    speak_in_commands(monkeypatch)
    monkeypatch.chdir(tmp_path)


def said(*words: str) -> list[str]:
    """What a command prints on both streams, without its parser's own error format."""
    done = CliRunner().invoke(app, [*words])
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


@pytest.mark.parametrize(
    "words",
    [
        ["init", "--requester", ""],
        ["init", "--alone", "--requester", "local:7"],
        ["init", "--file", "none/sayso.toml"],
        ["init", "telegram", "--file", "none.toml"],
        ["init", "telegram", "--receive", "http"],
        ["init", "mcp"],
        ["init", "mcp", "codex", "--remove", "--secrets", "keys"],
    ],
)
def test_a_refusal_to_set_up_is_in_the_catalogue(words: list[str], tmp_path: Path) -> None:
    """A missing file, contradicting options, nothing to take back."""
    told = said(*words)

    assert told
    assert [] == outside(told, [*NAMES, *words, str(tmp_path)])


def test_a_first_configuration_and_its_platforms_are_in_the_catalogue(tmp_path: Path) -> None:
    """Each step names the next one. A second time, what is there stays."""
    file = tmp_path / "sayso.toml"
    known = [*NAMES, str(file), "config"]
    told = said("init", "--file", str(file))
    for platform in ("telegram", "slack"):
        for _ in range(2):
            told += said("init", platform, "--file", str(file), "--secrets", str(tmp_path))

    assert len(told) > 4
    assert [] == outside(told, known)


def test_moving_a_client_is_in_the_catalogue(tmp_path: Path) -> None:
    """What is shown beside the difference, and the word that nothing was written without a yes."""
    file, client = tmp_path / "sayso.toml", tmp_path / "client.json"
    said("init", "--file", str(file))
    servers = {"files": {"command": "npx", "args": ["files"]}, "odd": {}, "idle": {"command": "x", "disabled": True}}
    client.write_text(json.dumps({"mcpServers": servers}))
    words = ("init", "mcp", "claude-desktop", "--from", str(client), "--file", str(file), "--secrets", str(tmp_path))
    told = said(*words)
    beside = [line for line in told if not line.startswith(("+", "-", " ", "@"))]

    assert len(beside) > 3
    assert [] == outside(beside, [*NAMES, str(tmp_path), "files odd idle"])
    done = [*said(*words, "--yes"), *said(*words, "--yes"), *said(*words, "--remove")]
    assert [] == outside([line for line in done if line.startswith("sayso")], [*NAMES, str(tmp_path)])
