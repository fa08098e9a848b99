"""`sayso init HOST` and what `sayso doctor` says of installed hooks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import application
from bot.cli.setting_up import Platform
from bot.doctor.checks import run_checks
from bot.settings import load
from hitl.platforms import Check, Health
from sayso_client.hooks.__main__ import HOSTS
from sayso_client.hooks.installing import main, module
from sayso_client.wording import say
from tests.hook_service import serving, trust
from tests.sentences import says

ME = f"local:{os.getuid()}"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Settings whose service has a socket, a home folder, and every host on the path in a version that was tried."""
    file = tmp_path / "etc" / "sayso.toml"
    for folder in ("etc", "home", "bin", "run", "state"):
        (tmp_path / folder).mkdir(mode=0o700)
    folders = "".join(f'{name} = "{tmp_path}/{name}"\n' for name in ("state", "workspace", "runtime"))
    file.write_text(folders.replace("/runtime", "/run") + f'requesters = ["{ME}"]\napprovers = ["{ME}"]\n')
    for host in HOSTS:
        program = tmp_path / "bin" / module(host).PROGRAM
        program.write_text(f"#!/bin/sh\necho {'.'.join(map(str, module(host).TRIED))}\n")
        program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.delenv("SAYSO_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    for host in HOSTS:
        for variable, _ in module(host).MOVED:
            monkeypatch.delenv(variable, raising=False)
    with serving(tmp_path / "run" / "sayso.sock"):
        yield file


def init(*words: str) -> Result:
    """Type the command."""
    return CliRunner().invoke(application(), ["init", *words])


def test_every_host_has_a_word(settings: Path) -> None:
    """What hooks know, `init` takes."""
    del settings
    assert set(HOSTS) == set(Platform) - {"telegram", "slack", "mcp"}


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_a_hook_asks_on_the_services_own_socket(settings: Path, tmp_path: Path, host: str) -> None:
    """It is installed, found by doctor, and taken out again."""
    file = tmp_path / "home" / module(host).FILE
    done = init(host, "--config", str(settings), "--yes")
    assert 0 == done.exit_code, done.output
    command = "".join(each.read_text() for each in file.parent.rglob("*") if each.is_file())
    assert f"--socket {tmp_path}/run/sayso.sock --uid {os.getuid()}" in command

    if host == "codex":
        trust(file)
    states = {check.state for check in run_checks(load(settings), settings) if check.name == f"hook {host}"}
    assert Health.GREEN in states
    assert Health.RED not in states

    assert 0 == init(host, "--config", str(settings), "--remove", "--yes").exit_code
    assert not [check for check in run_checks(load(settings), settings) if check.name == f"hook {host}"]


def test_a_hook_whose_program_is_gone_is_red(settings: Path, tmp_path: Path) -> None:
    """After an upgrade that took the old environment away, every call is blocked: doctor says why."""
    init("claude-code", "--config", str(settings), "--yes")
    file = tmp_path / "home" / module("claude-code").FILE
    file.write_text(file.read_text().replace(" -I -m", "-gone -I -m"))
    red = {check.name for check in run_checks(load(settings), settings) if check.state is Health.RED}

    assert "hook claude-code" in red


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_a_hook_that_was_taken_out_by_hand_is_red(settings: Path, tmp_path: Path, host: str) -> None:
    """The agent asks nobody any more. After `--remove`, nothing is missed."""
    assert 0 == init(host, "--config", str(settings), "--yes").exit_code
    (tmp_path / "home" / module(host).FILE).unlink()
    found = [check.state for check in run_checks(load(settings), settings) if check.name == f"hook {host}"]
    assert [Health.RED] == found

    assert 0 == init(host, "--config", str(settings), "--remove", "--yes").exit_code
    assert not [check for check in run_checks(load(settings), settings) if check.name == f"hook {host}"]


def test_settings_that_the_user_moved_are_checked(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As well as those in the usual place."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "moved"))
    init("codex", "--config", str(settings), "--yes")

    assert (tmp_path / "moved" / "config.toml").exists()
    assert [check for check in run_checks(load(settings), settings) if check.name == "hook codex"]


@pytest.mark.parametrize(("wait", "warns"), [("3600", True), ("300", False), (None, False)])
def test_a_wait_that_is_longer_than_the_policys_time_is_warned_of(
    settings: Path, capfd: pytest.CaptureFixture[str], wait: str | None, *, warns: bool
) -> None:
    """The policy ends an unanswered request before that."""
    words = ["--wait", wait] if wait else []
    done = init("claude-code", "--config", str(settings), "--yes", *words)

    assert 0 == done.exit_code
    told = done.output + capfd.readouterr().err
    assert warns is says(told, "init.wait")


def test_the_time_that_the_warning_names_is_the_one_of_the_pages(
    settings: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An hour for people goes with a hook that waits 3700 seconds, and the warning names the place in the policy."""
    done = init("claude-code", "--config", str(settings), "--yes", "--wait", "3700")
    told = done.output + capfd.readouterr().err
    page = (Path(__file__).parents[3] / "docs/how-to/policy.md").read_text()

    assert says(told, "init.wait", wait=3700, people=300, longer=3600)
    assert "\ndefaults: {timeout_s: 3600}\n" in page
    assert "--wait 3700" in page


def test_a_hook_that_another_users_agent_can_switch_off_is_red(settings: Path) -> None:
    """The service runs as another user, and this user's agent can take the hook out of its settings."""
    words = ["install", "codex", "--socket", "/run/sayso/sayso.sock", "--uid", "2000000001", "--yes"]
    assert 0 == main(words)
    found = [check for check in run_checks(load(settings), settings) if check.name == "hook codex"]

    assert [Health.RED] * 3 == [check.state for check in found]


def test_a_hook_that_codex_skips_is_red_with_the_next_step(settings: Path, tmp_path: Path) -> None:
    """Codex runs tools without asking a hook that nobody trusts. After somebody trusts it, the line is gone."""
    init("codex", "--config", str(settings), "--yes")
    file = tmp_path / "home" / module("codex").FILE
    red = [check.text for check in run_checks(load(settings), settings) if red_hook(check)]
    trust(file)

    assert [True] == [says(text, "hook.codex.untrusted", file=file) for text in red]
    assert [] == [check for check in run_checks(load(settings), settings) if red_hook(check)]


def red_hook(check: Check) -> bool:
    """Return whether a check says that Codex's hook doesn't work."""
    return check.name == "hook codex" and check.state is Health.RED


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_managed_settings_are_suggested_only_for_a_host_that_has_them(settings: Path, host: str) -> None:
    """Another host gets a step that it can take."""
    init(host, "--config", str(settings), "--yes")
    (told,) = [c.text for c in run_checks(load(settings), settings) if c.state is Health.YELLOW and host in c.name]

    assert (module(host).MANAGED is not None) is told.endswith(say("hook.close.managed"))
    assert (module(host).MANAGED is None) is told.endswith(say("hook.close.own"))


def test_settings_of_the_working_folder_are_not_taken_unnamed(settings: Path, tmp_path: Path) -> None:
    """A project could bring its own, with a socket of its own."""
    (tmp_path / "sayso.toml").write_text(settings.read_text())

    assert 2 == init("claude-code", "--yes").exit_code
    assert [] == [*(tmp_path / "home").iterdir()]


def test_other_settings_of_the_host_stay(settings: Path, tmp_path: Path) -> None:
    """Before, beside and after the hook."""
    file = tmp_path / "home" / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"model":"opus"}')
    init("claude-code", "--config", str(settings), "--yes")
    assert "opus" == json.loads(file.read_text())["model"]
    init("claude-code", "--config", str(settings), "--remove", "--yes")

    assert '{"model":"opus"}' == file.read_text()
