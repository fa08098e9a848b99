"""`sayso-hooks`: settings gain our hook and lose it again, and nothing else in them changes."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso_client.errors import ClientError
from sayso_client.hooks import codex, installing, openclaw, opencode
from sayso_client.hooks.installing import MARK, checked, main
from tests.hook_service import Person, serving, trust
from tests.sentences import says

HOSTS = ["claude-code", "codex", "copilot", "gemini", "openclaw", "opencode", "qwen"]
#: The hosts whose settings hold the command itself.
HOOKED = [host for host in HOSTS if host not in {"openclaw", "opencode"}]
OTHERS: dict[str, str] = {
    "claude-code": '{"model": "opus",\n  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http"}]}]}}',
    "codex": 'model = "o5"  # mine\n\n[tui]\nnotifications = true\n',
    "copilot": '{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}}',
    "gemini": '{"hooksConfig": {"enabled": true}, "theme": "dark"}',
    "openclaw": '{"plugins": {"allow": ["other"], "load": {"paths": ["/x"]}}, "gateway": {"port": 1}}',
    "opencode": '{"plugin": ["other"], "permission": {"bash": {"*": "allow", "rm *": "deny"}}}',
    "qwen": '{"theme": "dark"}',
}


def install(host: str, file: Path, *options: str, action: str = "install") -> int:
    """Run the installer on a file."""
    words = [action, host, "--file", str(file)]
    if action == "install":
        words += ["--socket", "/run/sayso/sayso.sock", "--uid", "10", "--untested"]
    return main([*words, "--yes", *options])


#: A Python in which the modules of Unix alone can't be imported, as on Windows.
WINDOWS = """
import sys
for name in ("pwd", "grp", "fcntl", "termios", "resource", "tty"):
    sys.modules[name] = None
from sayso_client.hooks import installing
sys.platform = "win32"
sys.exit(installing.main(["install", "codex", "--socket", "/s", "--yes"]))
"""


def test_on_windows_the_installer_says_that_it_cannot_work() -> None:
    """In one sentence, without a traceback."""
    ran = subprocess.run([sys.executable, "-c", WINDOWS], capture_output=True, text=True, check=False)

    assert (1, "") == (ran.returncode, ran.stdout)
    assert "Traceback" not in ran.stderr
    assert says(ran.stderr, "hook.windows")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("there", [True, False])
def test_what_is_taken_out_leaves_the_settings_as_they_were(tmp_path: Path, host: str, *, there: bool) -> None:
    """To the letter, with what other programs wrote there. The backup is closed to others. New files are gone again."""
    file = tmp_path / "settings"
    if there:
        file.write_text(OTHERS[host])
    assert 0 == install(host, file)
    installed, mode = file.read_text(), stat.S_IMODE((tmp_path / "settings.before-sayso").stat().st_mode)
    assert 0 == install(host, file, action="remove")

    assert MARK in installed
    assert 0o600 == mode
    assert [file] * there == [*tmp_path.iterdir()]
    if there:
        assert OTHERS[host] == file.read_text()


@pytest.mark.parametrize("host", HOOKED)
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


@pytest.mark.parametrize("host", HOOKED)
def test_installing_again_leaves_one_hook(tmp_path: Path, host: str) -> None:
    """The new one, after an upgrade."""
    file = tmp_path / "settings"
    install(host, file)
    once = file.read_text().count("--patience")
    install(host, file, "--wait", "120")

    assert once == file.read_text().count("--patience")
    assert "--patience 110" in file.read_text()


@pytest.mark.parametrize("before", ["", OTHERS["codex"]])
def test_what_codex_adds_before_our_last_comment_stays(tmp_path: Path, before: str) -> None:
    """It adds a table before the last comment of the file. The tables outlive another installation and the removal."""
    file, added = (
        tmp_path / "config.toml",
        '[mcp_servers.notes]\ncommand = "echo"\n\n[[hooks.PreToolUse]]\nmatcher = "x"\n',
    )
    if before:
        file.write_text(before)
    install("codex", file)
    file.write_text(file.read_text().replace("# sayso: end\n", f"\n{added}# sayso: end\n"))
    install("codex", file)
    again = tomllib.loads(file.read_text())
    install("codex", file, action="remove")

    assert {"command": "echo"} == again["mcp_servers"]["notes"]
    assert 2 == len(again["hooks"]["PreToolUse"])
    assert before + added == file.read_text()


def test_installing_again_keeps_the_backup_of_what_was_there(tmp_path: Path) -> None:
    """The second installation finds our hook, which is nothing to go back to."""
    file = tmp_path / "settings"
    file.write_text(OTHERS["qwen"])
    install("qwen", file)
    install("qwen", file, "--wait", "120")
    assert OTHERS["qwen"] == (tmp_path / "settings.before-sayso").read_text()

    install("qwen", file, action="remove")
    assert OTHERS["qwen"] == file.read_text()


@pytest.mark.parametrize(
    "before",
    [
        {"plugins": {"allow": [], "load": {"paths": ["/srv/other/plugin"]}}},
        {"plugins": {}},
        {"plugins": {"load": {"paths": []}, "entries": {}}},
    ],
    ids=str,
)
def test_removal_keeps_the_empty_parts_and_other_plugins_of_openclaw(tmp_path: Path, before: dict[str, Any]) -> None:
    """Also if the settings were changed after the installation."""
    file = tmp_path / "openclaw.json"
    file.write_text(json.dumps(before))
    install("openclaw", file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "later": 1}))
    install("openclaw", file, action="remove")

    assert {**before, "later": 1} == json.loads(file.read_text())


def test_settings_that_are_a_link_stay_one(tmp_path: Path) -> None:
    """Whoever keeps settings elsewhere finds the hook there."""
    (tmp_path / "kept").mkdir()
    kept, file = tmp_path / "kept" / "settings", tmp_path / "settings"
    kept.write_text(OTHERS["qwen"])
    file.symlink_to(kept)
    install("qwen", file)

    assert file.is_symlink()
    assert MARK in kept.read_text()


def test_settings_outside_the_home_folder_are_for_others_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root writes them, and the host runs as somebody else; those in the home folder are nobody else's."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    of_all, own = tmp_path / "etc" / "claude" / "settings", tmp_path / "home" / "claude" / "settings"
    install("claude-code", of_all)
    install("claude-code", own)
    modes = [stat.S_IMODE(path.stat().st_mode) for file in (of_all, own) for path in (file, file.parent)]

    assert [0o644, 0o755, 0o600, 0o700] == modes


def test_a_host_without_managed_settings_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own settings, which anybody could change, are no stand-in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    unmanaged = [host for host in HOSTS if installing.module(host).MANAGED is None]

    assert unmanaged
    for host in unmanaged:
        assert 1 == main(["install", host, "--managed", "--socket", "/x", "--uid", "10", "--untested", "--yes"])
    assert [] == [*tmp_path.iterdir()]


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
def test_an_installed_hook_is_tried(tmp_path: Path, service: Path, host: str) -> None:
    """It runs, and reaches the right service. The service runs as the hook's own user, who can change the hook."""
    reach(host, tmp_path / "settings", service)
    if host == "codex":
        trust(tmp_path / "settings")

    assert ["green", "yellow"] == [state for state, _ in checked(host, tmp_path / "settings")]


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_whose_service_does_not_answer_or_is_another_is_red(tmp_path: Path, service: Path, host: str) -> None:
    """Every tool call is blocked until the right service answers."""
    install(host, tmp_path / "settings")
    assert "red" == checked(host, tmp_path / "settings")[0][0]

    reach(host, tmp_path / "settings", service, uid=os.getuid() + 1)
    assert "red" == checked(host, tmp_path / "settings")[0][0]


def test_a_service_that_refuses_only_the_user_of_the_check_is_yellow(
    tmp_path: Path, service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the right service, and may know the user as whom the agent runs."""
    monkeypatch.setattr(Person, "status", 403)
    monkeypatch.setattr(Person, "answer", {"code": "NOT_LISTED", "detail": "No."})
    reach("qwen", tmp_path / "settings", service)

    assert "yellow" == checked("qwen", tmp_path / "settings")[0][0]


@pytest.fixture
def service() -> Iterator[Path]:
    """The socket of a service that runs as this user, in a folder whose name each format writes in its own way."""
    with tempfile.TemporaryDirectory(prefix='it\'s "ü" $x \\ ') as folder, serving(Path(folder) / "s"):
        yield Path(folder) / "s"


def reach(host: str, file: Path, socket: Path, uid: int | None = None) -> None:
    """Install the hook for this service."""
    install(host, file, "--socket", str(socket), "--uid", str(os.getuid() if uid is None else uid))


def edited(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change settings in JSON, as a person or another program would."""
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


def hook_of(document: dict[str, Any], event: str) -> dict[str, Any]:
    """The hook that a group holds, or that is the group."""
    group = document["hooks"][event][-1]
    found: dict[str, Any] = group.get("hooks", [group])[0]
    return found


def moved(document: dict[str, Any]) -> None:
    """Let the hook judge what has run already."""
    document["hooks"]["PostToolUse"] = document["hooks"].pop("PreToolUse")


#: Changes after which a host runs tools without asking the hook, as measured or documented.
SWITCHES: dict[str, dict[str, Callable[[dict[str, Any]], object]]] = {
    "claude-code": {
        "disableAllHooks": lambda found: found.update(disableAllHooks=True),
        "matcher": lambda found: found["hooks"]["PreToolUse"][0].update(matcher="Read"),
        "another event": moved,
        "onFailure": lambda found: hook_of(found, "PreToolUse").update(onFailure="deny"),
        "a limit that is text": lambda found: hook_of(found, "PreToolUse").update(timeout="600"),
        "a limit below ours": lambda found: hook_of(found, "PreToolUse").update(timeout=60),
        "async": lambda found: hook_of(found, "PreToolUse").update({"async": True}),
        "a bad neighbour": lambda found: found["hooks"]["PreToolUse"].append({"hooks": [{"type": "bad"}]}),
        "permissions": lambda found: found.update(permissions={"allow": "Bash"}),
        "another command": lambda found: hook_of(found, "PreToolUse").update(command="true # sayso_client.hooks"),
        "no shell around it": lambda found: hook_of(found, "PreToolUse").update(
            command=hook_of(found, "PreToolUse")["command"].replace("exit 2", "exit 0")
        ),
    },
    "gemini": {
        "enabled": lambda found: found.update(hooksConfig={"enabled": False}),
        "disabled": lambda found: found["hooksConfig"].update(disabled=[hook_of(found, "BeforeTool")["name"]]),
        "type": lambda found: hook_of(found, "BeforeTool").update(type="http"),
        "unit": lambda found: hook_of(found, "BeforeTool").update(timeout=600),
    },
    "qwen": {
        "disableAllHooks": lambda found: found.update(disableAllHooks=True),
        "matcher": lambda found: found["hooks"]["PreToolUse"][0].update(matcher="read"),
    },
    "copilot": {
        "version": lambda found: found.update(version=2),
        "matcher": lambda found: hook_of(found, "preToolUse").update(matcher="*"),
        "disableAllHooks": lambda found: found.update(disableAllHooks=True),
        "the hook behind it": lambda found: found["hooks"].pop("permissionRequest"),
    },
    "openclaw": {
        "enabled": lambda found: found["plugins"].update(enabled=False),
        "deny": lambda found: found["plugins"].update(deny=["sayso"]),
        "allow": lambda found: found["plugins"].update(allow=["other"]),
        "paths": lambda found: found["plugins"].update(load={"paths": []}),
        "entry": lambda found: found["plugins"]["entries"]["sayso"].update(enabled=False),
    },
    "opencode": {
        "permission": lambda found: found.update(permission={"*": "ask", "bash": "allow"}),
        "permission of an agent": lambda found: found.update(agent={"build": {"permission": "allow"}}),
    },
}


@pytest.mark.parametrize(("host", "name"), [(host, name) for host, names in SWITCHES.items() for name in names])
def test_a_hook_that_is_switched_off_is_red(tmp_path: Path, service: Path, host: str, name: str) -> None:
    """The installed command still works, but the host doesn't ask it, or doesn't wait for its answer."""
    file = tmp_path / "settings"
    reach(host, file, service)
    edited(file, SWITCHES[host][name])

    assert 1 == install(host, file, action="check")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('matcher = ".*"', 'matcher = "("'),
        ("# sayso: begin", "[features]\nhooks = false\n# sayso: begin"),
        ("# sayso: begin", "[features]\ncodex_hooks = false\n# sayso: begin"),
        ("600", '"600"'),
    ],
)
def test_a_codex_hook_that_is_switched_off_is_red(tmp_path: Path, service: Path, old: str, new: str) -> None:
    """Its settings are TOML."""
    file = tmp_path / "config.toml"
    reach("codex", file, service)
    text = file.read_text()
    trust(file)
    assert "red" not in {state for state, _ in checked("codex", file)}
    file.write_text(text.replace(old, new, 1))
    trust(file)
    assert "red" in {state for state, _ in checked("codex", file)}

    file.write_text("not toml [[[\n" + file.read_text())
    assert 1 == install("codex", file, action="check")


def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Codex's managed settings, in a folder of the test."""
    file = tmp_path / "etc" / "requirements.toml"
    file.parent.mkdir()
    monkeypatch.setattr(codex, "MANAGED", str(file))
    return file


@pytest.mark.parametrize(
    "before",
    [
        None,
        'allowed_approval_policies = ["never"]\n',
        "[features]\nweb_search = false\n",
        "features.web_search = false\n[tools]\nx = 1\n",
        "[tools]\nx = 1\n  [features] # ours\n",
        "[features]\nhooks = true\n",
        "[features.more]\nx = 1\n",
    ],
)
def test_no_user_can_switch_off_codexs_managed_hook(
    tmp_path: Path, service: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """The installer pins the feature, nobody has to trust the hook, and its removal restores the file to the letter."""
    file = managed(tmp_path, monkeypatch)
    if before is not None:
        file.write_text(before)
    reach("codex", file, service)
    document = tomllib.loads(file.read_text())

    assert True is document["features"]["hooks"]
    assert "red" not in {state for state, _ in checked("codex", file)}

    assert 0 == install("codex", file, action="remove")
    assert before == (file.read_text() if file.exists() else None)


def test_codexs_managed_hook_without_its_pin_is_red(
    tmp_path: Path, service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the line, a user's own settings switch the hook off. The user's own settings need no such line."""
    file = managed(tmp_path, monkeypatch)
    reach("codex", file, service)
    pin, _, rest = file.read_text().partition("\n")
    assert {"features": {"hooks": True}} == tomllib.loads(pin)
    file.write_text(rest)
    red = [told for state, told in checked("codex", file) if state == "red"]

    assert [True] == [says(told, "hook.off", file=file, host="codex", switch="features.hooks") for told in red]


@pytest.mark.parametrize("before", ["features = {web_search = true}\n", 'x = """\n[features]\n"""\n'])
def test_codexs_managed_settings_that_cant_be_pinned_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The feature can't be added to a table in one line, nor inside a text. Nothing is written."""
    file = managed(tmp_path, monkeypatch)
    file.write_text(before)

    assert 1 == install("codex", file)
    assert says(capsys.readouterr().err, "hook.settings", file=file)
    assert before == file.read_text()


def test_the_next_step_after_a_managed_installation_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Codex trusts managed hooks, so nobody is asked to trust them."""
    file = managed(tmp_path, monkeypatch)
    install("codex", file)
    told = capsys.readouterr().out

    assert says(told, "hook.then.codex.managed")
    assert not says(told, "hook.then.codex")


@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot", "gemini"])
def test_settings_that_rule_over_the_users_own_count(
    tmp_path: Path, service: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """A hook isn't installed below such a switch, and is red after somebody set the switch."""
    known = installing.module(host)
    over: tuple[tuple[str, str, bool], ...] = known.OVER  # type: ignore[attr-defined]
    monkeypatch.setattr(known, "OVER", tuple(("../over.json", name, value) for _, name, value in over))
    file = tmp_path / "own" / "settings"
    for _, name, value in over:
        file.unlink(missing_ok=True)
        (tmp_path / "over.json").write_text("// not JSON")
        reach(host, file, service)
        if host == "codex":
            trust(file)
        assert "red" not in {state for state, _ in checked(host, file)}

        first, _, second = name.partition(".")
        document = json.dumps({first: {second: value} if second else value})
        (tmp_path / "over.json").write_text(f"{name} = {json.dumps(value)}\n" if host == "codex" else document)
        assert "red" in {state for state, _ in checked(host, file)}
        assert 1 == install(host, file)


OFF = {
    "claude-code": '{"disableAllHooks": true}',
    "codex": "[features]\nhooks = false\n",
    "copilot": '{"version": 2}',
    "gemini": '{"hooksConfig": {"enabled": false}}',
    "openclaw": '{"plugins": {"enabled": false}}',
    "opencode": '{"agent": {"build": {"permission": {"bash": "allow"}}}}',
    "qwen": '{"disableAllHooks": true}',
}


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_that_the_host_would_not_ask_is_not_installed(
    tmp_path: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The installer names the setting, and writes nothing."""
    file = tmp_path / "settings"
    file.write_text(OFF[host])
    switch = installing.module(host).off(OFF[host])

    assert switch
    assert 1 == install(host, file)
    assert switch in capsys.readouterr().err
    assert [file] == [*tmp_path.iterdir()]
    assert OFF[host] == file.read_text()


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("there", [True, False])
def test_a_hook_that_was_taken_out_by_hand_is_missed(tmp_path: Path, host: str, *, there: bool) -> None:
    """Until somebody says that it is to be gone."""
    file = tmp_path / "settings"
    if there:
        file.write_text(OTHERS[host])
    install(host, file)
    file.write_text(OTHERS[host])
    assert installing.lost(file)

    install(host, file, action="remove")
    assert not installing.lost(file)
    assert OTHERS[host] == file.read_text()


@pytest.mark.parametrize(
    ("host", "variable", "below"),
    [(host, *place) for host in HOSTS for place in installing.module(host).MOVED],
)
def test_settings_that_the_user_moved_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, variable: str, below: str
) -> None:
    """As the host finds them, by its variable."""
    monkeypatch.setenv(variable, str(tmp_path / "moved"))
    assert 0 == main(["install", host, "--socket", "/x", "--uid", "10", "--untested", "--yes"])

    assert MARK in (tmp_path / "moved" / below).read_text()


def test_no_wait_is_longer_than_the_host_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenClaw ends a call after ten minutes, when an approval must find nobody who waits."""
    install("openclaw", tmp_path / "settings", "--wait", "3600")

    assert "--patience 590" in (tmp_path / openclaw.BESIDE).read_text()
    assert "600" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "HTTP://localhost"])
def test_an_address_without_tls_is_refused(tmp_path: Path, url: str) -> None:
    """Any process of this machine could listen there."""
    file = tmp_path / "settings"

    assert 1 == main(
        ["install", "qwen", "--file", str(file), "--url", url, "--token-file", "/t", "--untested", "--yes"]
    )
    assert not file.exists()


def test_a_hook_that_is_gone_or_broken_is_red(tmp_path: Path) -> None:
    """Doctor's exit status says so too."""
    file = tmp_path / "settings"
    assert 1 == install("qwen", file, action="check")
    line = installing.command("qwen", installing.Service(socket="/x", uid=1), 60, python="/nowhere/python")
    installing.planned("qwen", file, line, 60).write()

    assert "red" == checked("qwen", file)[0][0]
    assert 1 == install("qwen", file, action="check")


def test_openclaws_other_plugins_stay(tmp_path: Path) -> None:
    """Our plugin joins the lists of the plugins that are loaded and allowed."""
    file = tmp_path / "a folder" / "openclaw.json"
    file.parent.mkdir()
    file.write_text(OTHERS["openclaw"])
    install("openclaw", file)
    document = json.loads(file.read_text())

    assert ["/x", str(file.parent / "sayso_client.hooks")] == document["plugins"]["load"]["paths"]
    assert (["other", "sayso"], {"port": 1}) == (document["plugins"]["allow"], document["gateway"])


@pytest.mark.parametrize(
    "change",
    [
        {"enabled": False},
        {"deny": ["sayso"]},
        {"allow": ["other"]},
        {"load": {"paths": []}},
        {"entries": {"sayso": {}}},
    ],
    ids=str,
)
def test_an_openclaw_that_does_not_load_the_plugin_is_red(tmp_path: Path, change: dict[str, Any]) -> None:
    """It would run everything."""
    file = tmp_path / "openclaw.json"
    install("openclaw", file)
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "plugins": document["plugins"] | change}))

    assert openclaw.off(file.read_text())


BROKEN = ("// it isn't JSON: sayso_client.hooks", '{"plugins": {"allow": null}, "s": "sayso_client.hooks"}')


@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_settings_that_cannot_be_read_are_an_error_of_the_check_too(tmp_path: Path, broken: str) -> None:
    """It names the file. `sayso doctor` shows it as red, and looks at the other hooks."""
    file = tmp_path / "openclaw.json"
    install("openclaw", file)
    file.write_text(broken)

    with pytest.raises(ClientError, match=str(file)):
        checked("openclaw", file)


def test_installing_again_replaces_openclaws_plugin_of_an_earlier_version(tmp_path: Path) -> None:
    """OpenClaw wouldn't start with two plugins of the same name. The earlier plugin was in the hook's package."""
    file = tmp_path / "openclaw.json"
    earlier = {"load": {"paths": ["/venv/sayso_client/hooks/openclaw_plugin"]}, "entries": {"sayso": {"config": {}}}}
    file.write_text(json.dumps({"plugins": earlier}))
    install("openclaw", file)
    plugins = json.loads(file.read_text())["plugins"]

    assert [str(tmp_path / "sayso_client.hooks")] == plugins["load"]["paths"]
    assert {"sayso": {"enabled": True}} == plugins["entries"]


@pytest.mark.parametrize("name", openclaw.beside("", 0))
def test_an_openclaw_whose_plugin_was_changed_is_red(tmp_path: Path, service: Path, name: str) -> None:
    """Each file of the plugin counts. Installing again repairs the plugin, and removing leaves nothing."""
    file = tmp_path / "openclaw.json"
    reach("openclaw", file, service)
    assert "red" not in {state for state, _ in checked("openclaw", file)}
    (tmp_path / name).unlink()
    assert "red" in {state for state, _ in checked("openclaw", file)}

    reach("openclaw", file, service)
    assert "red" not in {state for state, _ in checked("openclaw", file)}
    assert 0 == install("openclaw", file, action="remove")
    assert not (tmp_path / "sayso_client.hooks").exists()


def permission(**document: Any) -> Any:
    """What opencode's `permission` becomes."""
    put: str = opencode.put(json.dumps(document), "file:///x/sayso_client.hooks.js", 60)
    return json.loads(put)["permission"]


def test_opencode_asks_wherever_it_would_have_run() -> None:
    """A plugin that doesn't load leaves the question open; what was denied stays denied, in its place."""
    assert "ask" == permission()
    assert "ask" == permission(permission="allow")
    assert "deny" == permission(permission="deny")
    assert {"*": "ask", "edit": "ask"} == permission(permission={"edit": "allow"})
    assert {"*": "ask", "bash": {"rm *": "deny", "*": "ask"}} == permission(
        permission={"bash": {"rm *": "deny", "*": "allow"}}
    )


def test_opencodes_plugin_lies_beside_the_settings(tmp_path: Path) -> None:
    """It names an absolute Python, it is there before it is named, and it is gone after it isn't."""
    file = tmp_path / "opencode.json"
    install("opencode", file)
    plugin = tmp_path / "sayso_client.hooks.js"

    assert [plugin.as_uri()] == json.loads(file.read_text())["plugin"]
    assert f"{sys.executable} -I -m sayso_client.hooks opencode" in plugin.read_text()
    assert "@" not in plugin.read_text()
    install("opencode", file, action="remove")
    assert not plugin.exists()


def test_an_opencode_that_would_run_without_the_plugin_is_red(tmp_path: Path) -> None:
    """Somebody allowed a tool again, or took the plugin away."""
    file = tmp_path / "opencode.json"
    install("opencode", file)
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "permission": {"*": "ask", "bash": "allow"}}))
    assert "red" in {state for state, _ in checked("opencode", file)}

    (tmp_path / "sayso_client.hooks.js").unlink()
    assert "red" == checked("opencode", file)[0][0]


def test_an_opencode_hook_that_is_gone_with_its_plugin_is_missed_until_it_is_removed(tmp_path: Path) -> None:
    """Somebody deleted both by hand, so there is nothing to write: only the mark of the installation goes."""
    file = tmp_path / "opencode.json"
    file.write_text(OTHERS["opencode"])
    install("opencode", file)
    file.write_text(OTHERS["opencode"])
    (tmp_path / "sayso_client.hooks.js").unlink()
    assert installing.lost(file)

    assert 0 == install("opencode", file, action="remove")
    assert not installing.lost(file)


def test_the_advice_about_a_missing_hook_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the recommended command would work on the user's own settings."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    own, other = tmp_path / "home" / installing.module("qwen").FILE, tmp_path / "other settings"

    assert f"qwen --file '{other}'" in checked("qwen", other)[0][1]
    assert "--file" not in checked("qwen", own)[0][1]


def test_a_token_that_the_service_refuses_is_red(tmp_path: Path) -> None:
    """It is the same token for every user, so each tool call is blocked."""
    python, file = tmp_path / "python", tmp_path / "settings"
    python.write_text('#!/bin/sh\necho \'{"sayso": ["UNAUTHENTICATED", "No."]}\'\n')
    python.chmod(0o755)
    named = installing.Service(url="https://gate.example.org", token_file="/t")
    installing.planned("qwen", file, installing.command("qwen", named, 60, python=str(python)), 60).write()

    assert "red" == checked("qwen", file)[0][0]


def test_a_caller_who_may_not_ask_does_not_pass_the_check(
    tmp_path: Path, service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service answers an approver's token too, and would refuse each call."""
    monkeypatch.setattr(Person, "answer", {**Person.answer, "scopes": ["approver"]})
    reach("qwen", tmp_path / "settings", service)

    assert "green" != checked("qwen", tmp_path / "settings")[0][0]


def test_the_shell_of_the_command_counts(tmp_path: Path, service: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can put another program in its place decides what the hook answers."""
    opened = tmp_path / "opened"
    opened.mkdir()
    opened.chmod(0o777)
    (opened / "sh").symlink_to("/bin/sh")
    monkeypatch.setattr(installing, "_program", lambda name: str(opened / "sh") if name == "sh" else None)
    reach("qwen", tmp_path / "settings", service)

    assert [True] == [str(opened) in told for state, told in checked("qwen", tmp_path / "settings") if state == "red"]


#: Settings with a hook, and the hash that Codex 0.171.0 recorded when somebody chose "Trust all and continue" for it.
CODEX_HOOK = r"""[[hooks.PreToolUse]]
matcher = ".*"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "/bin/sh -c 'echo \"é\" # sayso_client.hooks'"
timeout = 610
"""
CODEX_TRUST = "sha256:7befced32333cf323394668d3dba2634b5a96d5b7067c74499344e10c2d9d61c"
OTHER_HOOK = '[[hooks.PreToolUse]]\nhooks = [{type = "command", command = "true"}]\n'


@pytest.mark.parametrize(
    ("before", "place", "record", "reason"),
    [
        ("", "0:0", f'trusted_hash = "{CODEX_TRUST}"', None),
        (OTHER_HOOK, "1:0", f'trusted_hash = "{CODEX_TRUST}"', None),
        (OTHER_HOOK, "0:0", f'trusted_hash = "{CODEX_TRUST}"', "hook.codex.untrusted"),
        ("", "0:0", "", "hook.codex.untrusted"),
        ("", "0:0", "enabled = true", "hook.codex.untrusted"),
        ("", "0:0", f'trusted_hash = "{CODEX_TRUST[:-1]}0"', "hook.codex.changed"),
        ("", "0:0", f'enabled = false\ntrusted_hash = "{CODEX_TRUST}"', "hook.codex.disabled"),
    ],
)
def test_a_hook_that_codex_skips_is_found(
    tmp_path: Path, before: str, place: str, record: str, reason: str | None
) -> None:
    """By Codex's own record, which names the folder without links. Each row was compared with what Codex lists."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    named = f'[hooks.state."{tmp_path}/real/config.toml:pre_tool_use:{place}"]\n{record}\n'

    assert reason == codex.skipped(tmp_path / "link" / "config.toml", before + CODEX_HOOK + named)
