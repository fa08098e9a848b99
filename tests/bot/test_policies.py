"""The policy in force: where it comes from, what takes its place, and what never does."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.compose import Running, policy_library
from bot.errors import SettingsError
from bot.policies import SETTLES_S, Policies
from bot.settings import load
from hitl.call import Action, Mode, PolicyCall
from hitl.policy.wording import say
from tests.sentences import says

DENIES = "version: 1\ndefault_action: deny\n"
ASKS = "version: 1\n"
BROKEN = "version: 1\nrules:\n  - tol: bash\n    action: allow\n"
CALL = PolicyCall("any", "tool", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where documents lie."""
    made = tmp_path / "policies"
    made.mkdir(mode=0o755)
    return made


@pytest.fixture
def write(folder: Path) -> Callable[..., Path]:
    """Writes a document as an editor does that replaces files."""

    def write(text: str, name: str = "team.yaml") -> Path:
        new = folder / "new~"
        new.write_text(text)
        new.chmod(0o644)
        return new.rename(folder / name)

    return write


def opened(folder: Path, name: str = "team") -> Policies:
    """The policy of that name."""
    return Policies(policy_library([folder]), name)


async def told(running: Running) -> list[tuple[str, dict[str, str]]]:
    """The service's own record."""
    return [(entry.event, json.loads(entry.data)) for entry in await running.store.history("")]


@pytest.mark.parametrize(("name", "near"), [("defualt", "default"), ("teem", "team")])
def test_a_policy_name_with_a_slip_is_answered_with_one_that_there_is(
    folder: Path, write: Callable[..., Path], name: str, near: str
) -> None:
    """The error names the preset or document that was probably meant."""
    write(ASKS)
    with pytest.raises(SettingsError) as caught:
        opened(folder, name)

    assert says(str(caught.value), "near.policy", near=near)


@pytest.mark.parametrize("name", ["default", "strict", "dev", "headless", "payments", "email", "database"])
def test_presets_need_no_folder(name: str) -> None:
    """They come with the program, and none is without a question or a denial for what it doesn't know."""
    policy = Policies(policy_library([]), name).current()

    assert Action.ALLOW is not policy.judge(CALL).action


def test_the_first_folder_wins(folder: Path, write: Callable[..., Path], tmp_path: Path) -> None:
    """As it is listed."""
    (tmp_path / "other").mkdir(mode=0o755)
    (tmp_path / "other" / "team.yaml").write_text(ASKS)
    write(DENIES)
    found = Policies(policy_library([folder, tmp_path / "other"]), "team").current()

    assert Action.DENY is found.judge(CALL).action


@pytest.mark.parametrize(
    ("name", "text", "mode", "said"),
    [
        ("team", None, 0o644, "no policy 'team'.*presets are default"),
        ("team", BROKEN, 0o644, r"team\.yaml: line 3: .*'tol' is not a key"),
        ("team", DENIES, 0o666, "writable by others"),
        ("default", DENIES, 0o644, "has the name of the preset default"),
        ("../team", None, 0o644, re.escape(say("fault.policy_name", name=repr("../team")))),
    ],
)
def test_what_cannot_be_used_is_said(folder: Path, name: str, text: str | None, mode: int, said: str) -> None:
    """The file, the line, and what to do; the service doesn't start then."""
    if text is not None:
        (folder / f"{name}.yaml").write_text(text)
        (folder / f"{name}.yaml").chmod(mode)
    with pytest.raises(SettingsError, match=said):
        opened(folder, name)


async def test_a_good_change_takes_its_place_on_record(
    folder: Path, write: Callable[..., Path], running: Running
) -> None:
    """With the digests of both."""
    write(DENIES)
    policies = opened(folder)
    before = policies.current().digest
    await policies.start(running.store)
    write(ASKS)
    await policies.reload()
    await policies.stop()
    (first, then) = await told(running)

    assert Action.APPROVE is policies.current().judge(CALL).action
    assert ("policy_loaded", before) == (first[0], first[1]["digest"])
    assert ("policy_loaded", policies.current().digest) == (then[0], then[1]["digest"])
    assert before != policies.current().digest


async def test_half_a_file_is_not_taken_by_a_signal(folder: Path, write: Callable[..., Path], running: Running) -> None:
    """A text that is still being written is read again until it stays as it is."""
    file = write(DENIES)
    policies = opened(folder)
    await policies.start(running.store)
    file.write_text("version: 1\ndefault_action: allow\n")
    taking = asyncio.create_task(policies.reload())
    await asyncio.sleep(SETTLES_S / 2)
    half = policies.current().judge(CALL).action
    file.write_text("version: 1\ndefault_action: allow\nrules: [{tool: tool, action: approve}]\n")
    await taking
    await policies.stop()
    loaded = [data["digest"] for event, data in await told(running) if event == "policy_loaded"]

    assert (Action.DENY, Action.APPROVE) == (half, policies.current().judge(CALL).action)
    assert 2 == len(loaded)


def test_the_text_at_the_start_is_read_twice(folder: Path, write: Callable[..., Path]) -> None:
    """Whoever restarts the service while an editor writes gets the whole file."""
    file = write("version: 1\ndefault_action: allow\n")
    writing = threading.Timer(SETTLES_S / 2, lambda: file.write_text(DENIES))
    writing.start()
    found = opened(folder).current()
    writing.join()

    assert Action.DENY is found.judge(CALL).action


@pytest.mark.parametrize("spoil", [BROKEN, None, "mode"])
async def test_a_bad_change_does_not(
    folder: Path, write: Callable[..., Path], running: Running, spoil: str | None
) -> None:
    """The old one stays, what is wrong is said once, and it is over when the file is good again."""
    file = write(DENIES)
    policies = opened(folder)
    await policies.start(running.store)
    if spoil is None:
        file.unlink()
    elif spoil == "mode":
        file.chmod(0o666)
    else:
        write(spoil)
    await policies.reload()
    await policies.reload()
    red = policies.troubles()
    write(DENIES)
    await policies.reload()
    await policies.stop()

    assert Action.DENY is policies.current().judge(CALL).action
    assert (1, []) == (len(red), policies.troubles())
    assert ["policy_loaded", "policy_refused"] == [event for event, _ in await told(running)]


def test_a_missing_part_of_the_engine_is_named() -> None:
    """By the name that it is installed under."""
    script = (
        "import sys; sys.modules['re2'] = None\n"
        "from bot.policies import need_engine; from bot.settings import SettingsError\n"
        "try: need_engine()\nexcept SettingsError as error: print(error)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=True)

    assert "google-re2" in done.stdout


class TestSettings:
    """What `sayso.toml` says of policies."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        """A settings file."""
        return tmp_path / "sayso.toml"

    def test_the_preset_is_the_default(self, file: Path) -> None:
        """With verdicts that are kept, and nothing that passes."""
        file.write_text("")
        settings = load(file)

        assert ("default", [], Mode.ENFORCE) == (settings.policy_name(), settings.policy_folders(), settings.mode)
        assert frozenset() == settings.terms().passes

    @pytest.mark.parametrize("text", ['policies = [""]', 'policies = ["", "  "]', 'policies = ["", "/srv/p"]'])
    def test_an_empty_folder_is_none(self, file: Path, text: str) -> None:
        """An empty path would mean the folder that the service was started in."""
        file.write_text(text)

        assert {Path("/srv/p")} >= set(load(file).policy_folders())

    def test_a_stage_names_its_policy(self, file: Path) -> None:
        """Whatever else is named."""
        file.write_text('policy = "team"\nstage = "dev"\nmode = "monitor"\n[stages.dev]\npolicy = "dev"\n')
        settings = load(file)

        assert ("dev", "dev", Mode.MONITOR) == (
            settings.policy_name(),
            settings.terms().stage,
            settings.terms().mode,
        )

    def test_a_stage_without_a_policy_is_refused(self, file: Path) -> None:
        """A misspelt stage would be judged by another's policy."""
        file.write_text('stage = "prod"\n[stages.production]\npolicy = "strict"\n')
        with pytest.raises(SettingsError, match=r"stages\.prod"):
            load(file).policy_name()

    @pytest.mark.parametrize(
        "text", ['mode = "audit"', 'fallback = "pass"', '[fallback]\n"a.b" = "allow"', "[stages.dev]"]
    )
    def test_words_that_mean_nothing_are_refused(self, file: Path, text: str) -> None:
        """`pass` is said by name, never of all tools."""
        file.write_text(text)
        with pytest.raises(SettingsError):
            load(file)

    @pytest.mark.parametrize(
        ("text", "mode"),
        [
            ("", Mode.ENFORCE),
            ('mode = "enforce"', Mode.ENFORCE),
            ('mode = "Monitor"', Mode.MONITOR),
            ('mode = "MONITOR"', Mode.MONITOR),
            ('mode = "oFF"', Mode.OFF),
        ],
    )
    def test_a_mode_is_one_of_three_words(self, file: Path, text: str, mode: Mode) -> None:
        """In any case; without one, verdicts are kept."""
        file.write_text(text)

        assert mode is load(file).terms().mode

    @pytest.mark.parametrize(
        "text",
        [
            'mode = ""',
            'mode = "enforced"',
            'mode = "monitor "',
            "mode = false",
            "mode = 0",
            'mode = ["off"]',
            'fallback = ""',
            "fallback = true",
            'fallback = "PASS"',
            'fallback = ["workspace.bash"]',
            '[fallback]\n"workspace.bash" = true',
            '[fallback]\n"workspace.bash" = "pass "',
            '[tools]\nallow = "bash"',
            "[tools]\nallow = true",
            "[tools]\nallow = {bash = true}",
            "[tools]\nallow = [1]",
        ],
    )
    def test_nothing_is_guessed(self, file: Path, text: str) -> None:
        """A word or type that isn't known stops the start; none falls back to what lets more pass."""
        file.write_text(text)
        with pytest.raises(SettingsError):
            load(file)

    def test_the_environment_wins(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Over the file, under the same rules."""
        file.write_text('mode = "off"')
        monkeypatch.setenv("SAYSO_MODE", "Enforce")
        kept = load(file).terms().mode
        monkeypatch.setenv("SAYSO_MODE", "")
        with pytest.raises(SettingsError):
            load(file)

        assert Mode.ENFORCE is kept

    def test_tools_pass_by_name(self, file: Path) -> None:
        """Those that say so."""
        file.write_text('[fallback]\n"workspace.write_file" = "pass"\n"workspace.bash" = "deny"\n')

        assert frozenset({"workspace.write_file"}) == load(file).terms().passes

    def test_execution_limits_reach_the_gate(self, file: Path) -> None:
        """The service's and the callers'."""
        file.write_text("[limits]\nexecution_s = 60\ncaller_execution_s = 90\n")
        limits = load(file).gate_limits()

        assert (60, 90) == (limits.execution_s, limits.caller_execution_s)


def test_others_must_not_own_it(folder: Path, write: Callable[..., Path]) -> None:
    """Whoever can write the policy can approve everything."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(write(DENIES), 1234, 1234)
    with pytest.raises(SettingsError, match="belongs to another user"):
        opened(folder)
