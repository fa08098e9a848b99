"""`sayso-hooks`: settings gain our hook and lose it again, and nothing else in them changes."""

from __future__ import annotations

import json
import shlex
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sayso_client.hooks import installing
from sayso_client.hooks.installing import MARK, checked, main

HOSTS = ["claude-code", "codex", "copilot", "gemini", "qwen"]
OTHERS: dict[str, str] = {
    "claude-code": '{"model": "opus",\n  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http"}]}]}}',
    "codex": 'model = "o5"  # mine\n\n[tui]\nnotifications = true\n',
    "copilot": '{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}}',
    "gemini": '{"hooksConfig": {"enabled": true}, "theme": "dark"}',
    "qwen": '{"theme": "dark"}',
}


def install(host: str, file: Path, *options: str, action: str = "install") -> int:
    """Run the installer on a file."""
    words = [action, host, "--file", str(file)]
    if action == "install":
        words += ["--socket", "/run/sayso/sayso.sock", "--uid", "10", "--untested"]
    return main([*words, "--yes", *options])


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("there", [True, False])
def test_what_is_taken_out_leaves_the_settings_as_they_were(tmp_path: Path, host: str, *, there: bool) -> None:
    """To the letter, with what other programs wrote there; the backup is closed to others."""
    file = tmp_path / "settings"
    if there:
        file.write_text(OTHERS[host])
    assert 0 == install(host, file)
    installed = file.read_text()
    assert 0 == install(host, file, action="remove")

    assert MARK in installed
    assert MARK not in file.read_text()
    if there:
        assert OTHERS[host] == file.read_text()
        assert 0o600 == stat.S_IMODE((tmp_path / "settings.before-sayso").stat().st_mode)


@pytest.mark.parametrize("host", HOSTS)
def test_what_was_there_stays_beside_the_hook(tmp_path: Path, host: str) -> None:
    """Other hooks and other settings are as they were."""
    file = tmp_path / "settings"
    file.write_text(OTHERS[host])
    install(host, file)
    read = tomllib.loads if host == "codex" else json.loads
    before, after = read(OTHERS[host]), read(file.read_text())

    assert {key: value for key, value in before.items() if key != "hooks"}.items() <= after.items()
    for event, groups in before.get("hooks", {}).items():
        assert groups == after["hooks"][event][: len(groups)]


@pytest.mark.parametrize("host", HOSTS)
def test_installing_again_leaves_one_hook(tmp_path: Path, host: str) -> None:
    """The new one, after an upgrade."""
    file = tmp_path / "settings"
    install(host, file)
    once = file.read_text().count("--patience")
    install(host, file, "--wait", "120")

    assert once == file.read_text().count("--patience")
    assert "--patience 110" in file.read_text()


def hooks(host: str, file: Path) -> list[dict[str, Any]]:
    """The installed hooks."""
    document = tomllib.loads(file.read_text()) if host == "codex" else json.loads(file.read_text())
    groups = [group for event in document["hooks"].values() for group in event]
    return [hook for group in groups for hook in group.get("hooks", [group])]


@pytest.mark.parametrize(
    ("host", "name", "unit"),
    [
        ("claude-code", "timeout", 1),
        ("codex", "timeout", 1),
        ("copilot", "timeoutSec", 1),
        ("gemini", "timeout", 1000),
        ("qwen", "timeout", 1),
    ],
)
def test_the_hook_answers_before_the_host_gives_up(tmp_path: Path, host: str, name: str, unit: int) -> None:
    """A host runs the tool at its own deadline, so ours come earlier: first the answer, then `timeout`."""
    install(host, tmp_path / "settings", "--wait", "300")
    hook = hooks(host, tmp_path / "settings")[0]
    line = shlex.split(hook.get("command") or hook["bash"])[2]

    assert 300 * unit == hook[name]
    assert type(hook[name]) is int
    assert "timeout -k 1 295 " in line
    assert "--patience 290" in line


def test_claude_blocks_where_the_hook_fails(tmp_path: Path) -> None:
    """Without this word it would run the tool; any other word drops the hook."""
    install("claude-code", tmp_path / "settings")

    assert {"block"} == {hook["onFailure"] for hook in hooks("claude-code", tmp_path / "settings")}


def test_copilot_denies_what_our_hook_does_not_allow(tmp_path: Path) -> None:
    """A second hook stands behind ours."""
    install("copilot", tmp_path / "settings")
    behind = json.loads((tmp_path / "settings").read_text())["hooks"]["permissionRequest"][0]["bash"]

    assert '"behavior":"deny"' in behind


def test_geminis_hook_has_a_name_that_nobody_can_guess(tmp_path: Path) -> None:
    """A project's settings could switch it off by its name."""
    install("gemini", tmp_path / "one")
    install("gemini", tmp_path / "two")
    one, two = (hooks("gemini", tmp_path / name)[0]["name"] for name in ("one", "two"))

    assert one != two


@pytest.mark.parametrize("host", HOSTS)
def test_settings_that_cannot_be_read_are_left_alone(tmp_path: Path, host: str) -> None:
    """Nothing is written, and no backup is made."""
    file = tmp_path / "settings"
    file.write_text("[[[ {")

    assert 1 == install(host, file)
    assert ("[[[ {", [file]) == (file.read_text(), [*tmp_path.iterdir()])


@pytest.mark.parametrize(
    "words", [[], ["--url", "https://x"], ["--socket", "/nowhere/x"], ["--socket", "/x", "--wait", "5"]]
)
def test_a_hook_that_could_not_ask_is_not_installed(tmp_path: Path, words: list[str]) -> None:
    """It would block everything."""
    file = tmp_path / "settings"

    assert 1 == main(["install", "qwen", "--file", str(file), "--untested", "--yes", *words])
    assert not file.exists()


def test_nothing_is_written_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal and without --yes, only the change is shown."""
    file = tmp_path / "settings"
    words = ["--file", str(file), "--socket", "/x", "--uid", "10", "--untested"]

    assert 1 == main(["install", "qwen", *words])
    assert "+++" in capsys.readouterr().out
    assert not file.exists()


@pytest.mark.parametrize(("told", "status"), [("2.1.332 (Claude Code)", 0), ("3.0.0", 0), ("2.1.9", 1), ("", 1)])
def test_a_host_that_is_too_old_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, status: int
) -> None:
    """It may not know the word that makes it block."""
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\necho '{told}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    file = tmp_path / "settings"
    words = ["--file", str(file), "--socket", "/x", "--uid", "10", "--yes"]

    assert status == main(["install", "claude-code", *words])
    assert (not status) == file.exists()


@pytest.mark.parametrize("host", HOSTS)
def test_an_installed_hook_is_tried(tmp_path: Path, host: str) -> None:
    """It runs, and denies what it doesn't understand; whoever runs this can change it, which is said."""
    install(host, tmp_path / "settings")
    states = [state for state, _ in checked(host, tmp_path / "settings")]

    assert "green" == states[0]
    assert "red" not in states


def test_a_hook_that_is_gone_or_broken_is_red(tmp_path: Path) -> None:
    """Doctor's exit status says so too."""
    file = tmp_path / "settings"
    assert 1 == install("qwen", file, action="check")
    line = installing.command("qwen", installing.Service(socket="/x", uid=1), 60, python="/nowhere/python")
    installing.planned("qwen", file, line, 60).write()

    assert "red" == checked("qwen", file)[0][0]
    assert 1 == install("qwen", file, action="check")
