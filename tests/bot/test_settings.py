"""The settings: the file, the environment over it, and what is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bot.settings
from bot.cli.main import application
from bot.errors import SettingsError
from bot.finding import find_config, runtime_folder
from bot.settings import load, refuse_foreign
from bot.wording import say
from hitl.call import Risk
from tests.sentences import raises, says


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A settings file, empty."""
    path = tmp_path / "sayso.toml"
    path.touch()
    return path


def test_an_empty_file_lists_nobody(file: Path) -> None:
    """Empty lists mean nobody, and one's own yes counts nowhere."""
    people = load(file).directory()

    assert ((), (), ()) == (people.requesters, people.approvers, people.operators)
    assert None is people.self_approval_socket


def test_folders_are_absolute_and_may_begin_at_home(file: Path) -> None:
    """A relative path is relative to the file, so that a service started elsewhere uses the same folders."""
    file.write_text('state = "~/s"\nworkspace = "w"\nruntime = "/r"\n')
    settings = load(file)

    folders = [settings.folder("state"), settings.folder("workspace"), settings.folder("runtime")]
    assert [Path.home() / "s", file.parent / "w", Path("/r")] == folders


def test_every_path_of_the_file_is_relative_to_it(
    file: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Policies, the mark and files of secrets too. Paths from the environment are relative to the current folder."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    file.write_text(
        'mark = "m"\npolicies = ["p", "", "/q"]\n[telegram]\ntoken_file = "t"\n[slack]\nbot_token_file = "~/b"\n'
    )
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("SAYSO_STATE", "s")
    settings = load(file)

    assert [file.parent / "p", Path("/q")] == settings.policy_folders()
    assert [file.parent / "t", Path.home() / "b"] == settings.secret_files()
    assert (file.parent / "m", elsewhere / "s") == (settings.mark_file(), settings.folder("state"))


def test_only_values_that_are_declared_as_paths_are_anchored(file: Path) -> None:
    """A server's folder and its files of secrets are; a value is not, whatever its name is."""
    file.write_text(
        '[mcp.servers.notes]\ncommand = ["notes"]\ncwd = "n"\n'
        '[mcp.servers.notes.env]\nstate = "open"\nlog_file = "l"\n'
        '[mcp.servers.notes.env_files]\nNOTES_KEY = "k"\n'
        '[masks]\nstate = "ST-[0-9]+"\nworkspace = "WS-[0-9]+"\n'
    )
    settings = load(file)
    assert settings.mcp is not None
    notes = settings.mcp.servers["notes"]

    assert (file.parent / "n", {"NOTES_KEY": file.parent / "k"}) == (notes.cwd, notes.env_files)
    assert {"state": "open", "log_file": "l"} == notes.env
    assert {"state": "ST-[0-9]+", "workspace": "WS-[0-9]+"} == settings.masks


def test_the_mark_lies_where_the_settings_say(file: Path) -> None:
    """For the service, `doctor` and `audit verify` alike; beside the state folder where they say nothing."""
    nowhere = load(file).mark_file()
    file.write_text('mark = "~/marks/sayso"\n')

    assert (None, Path.home() / "marks" / "sayso") == (nowhere, load(file).mark_file())


def test_conversations_differ_only_in_what_they_name(file: Path) -> None:
    """The rest is as in the installation; an empty list there still means nobody."""
    file.write_text(
        'approvers = ["local:1"]\nrequesters = ["local:2"]\n'
        '[conversations."telegram:7"]\napprovers = []\nself_approval = "low"\n'
    )
    people = load(file).directory()
    place = people.conversations["telegram:7"]

    assert ((), None, Risk.LOW) == (place.approvers, place.requesters, place.self_approval)
    assert "local:2" in people.requesters_for("telegram:7")


def test_limits_reach_the_gate(file: Path) -> None:
    """The operator's numbers, and the defaults beside them."""
    file.write_text("[limits]\nclaim_caller_s = 7.5\n")
    limits = load(file).gate_limits()

    assert (7.5, 50) == (limits.claim_caller_s, limits.open_per_requester)


def test_nothing_of_a_request_is_erased_by_default(file: Path) -> None:
    """Only events of chats that were handled go, after 30 days."""
    kept = load(file).retention

    assert (None, None, timedelta(days=30)) == (kept.arguments, kept.calls, kept.events)


def test_ages_are_numbers_with_their_units(file: Path) -> None:
    """Days, hours or weeks."""
    file.write_text('[retention]\narguments = "90d"\ncalls = "52w"\nevents = "240h"\n')
    kept = load(file).retention

    assert (timedelta(days=90), timedelta(weeks=52), timedelta(days=10)) == (kept.arguments, kept.calls, kept.events)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("SAYSO_STAT", "SAYSO_STATE"),
        ("sayso_stat", "SAYSO_STATE"),
        ("SAYSO_TELEGRM__TOKEN", "SAYSO_TELEGRAM__TOKEN"),
        ("SAYSO_XYZ", None),
    ],
)
def test_an_unknown_variable_is_told_with_the_one_that_was_probably_meant(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str, near: str | None
) -> None:
    """Names are compared without their common prefix, by which all of them are alike."""
    monkeypatch.setenv(name, "x")
    with pytest.raises(SettingsError) as refused:
        load(file)

    told = say("near.name", name=name, near=near) if near else name
    problems = say("setting.unknown_names", names=told)
    assert says(str(refused.value), "setting.environment", problems=problems)


def test_a_path_that_is_no_text_is_told_in_our_words(file: Path) -> None:
    """Pydantic would name a class of Python."""
    file.write_text("state = 5")
    with pytest.raises(SettingsError) as refused:
        load(file)

    problems = say("setting.misfit", setting="state", why=say("misfit.path"))
    assert says(str(refused.value), "setting.unusable", path=file, problems=problems)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("unknown = 1", "unknown: no such setting"),
        ("[tools]\nalow = []", "tools.alow: .*allow"),
        ('[conversations."slack:T1/C1"]\nroute = []', "routes"),
        ('[conversations.x]\nself_approval = "critical"', "conversations.x.self_approval"),
        ("[limits]\nclaim_caller_s = 0", "limits.claim_caller_s"),
        ('[retention]\narguments = "90"', "retention.arguments"),
        ('[retention]\ncalls = "23h"', "retention.calls"),
        ('[retention]\nevents = "6d"', "retention.events"),
        ('[retention]\narguments = "90d"\ncalls = "30d"', "retention: .*longer than calls"),
        ("approvers = 'x'", "approvers"),
        ("approvers = ['']", "approvers, entry 1"),
        ("[tools]\nallow = [1]", "tools.allow, entry 1"),
        ("= 1", "isn't TOML"),
    ],
)
def test_what_can_not_be_used_is_named(file: Path, text: str, named: str) -> None:
    """The file, the key, and what is wrong with it."""
    file.write_text(text)
    with pytest.raises(SettingsError, match=named) as refused:
        load(file)

    assert str(file) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("approvers = 'x'", "misfit.list"),
        ("http = 1", "setting.table"),
        ("[http]\nport = 'x'", "misfit.whole"),
        ("[http]\nport = 99999", "misfit.most"),
        ("[http]\nport = -1", "misfit.least"),
        ("[http]\nproxy = 'x'", "misfit.bool"),
        ("[tools]\nallow = [1]", "misfit.text"),
        ("[telegram]\npace = 'x'", "misfit.number"),
        ('[conversations.x]\nself_approval = "critical"', "misfit.choice"),
        ("mode = 'x'", "misfit.choice"),
        ("approvers = ['']", "misfit.empty"),
        ("[limits]\nasks = nan", "misfit.number"),
        ("[limits]\nasks = true", "misfit.number"),
        ("[limits]\nasks_within_s = inf", "misfit.number"),
        ("[agent]\ncost = true", "misfit.number"),
        ("[http]\nport = false", "misfit.number"),
        ("[slack]\npace = nan", "misfit.number"),
        ("[telegram]\ntimeout_s = 0", "misfit.more"),
        ("[stages.dev]\n", "misfit.missing"),
        ("fallback = 'x'", "setting.fallback"),
        ("[fallback]\nbash = 'x'", "setting.fallback.tool"),
        ("[mcp.servers.Git]\ncommand = ['x']", "setting.mcp.name"),
        ("[masks]\n'a b' = 'x'", "setting.mask.name"),
        ("[traces]\nendpoint = 'x'", "setting.traces.endpoint"),
        ("[http.notify.x]\nurl = 'x'\nsecret_file = 'x'", "setting.notify.url"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_in_plain_words(file: Path, text: str, what: str) -> None:
    """What the setting must be is said as a person would say it."""
    file.write_text(text)

    with raises(SettingsError, what):
        load(file)


def test_a_key_that_is_there_twice_is_named(file: Path) -> None:
    """And the line, but not its value, which may be a secret."""
    file.write_text('approvers = []\nroutes = []\napprovers = ["hidden"]\n')
    with pytest.raises(SettingsError) as caught:
        load(file)

    assert says(str(caught.value), "toml.twice", path=file, key="approvers", line=3)


#: Words of pydantic, of Python and of its parsers. None of them belongs into a sentence for people.
FOREIGN = re.compile(
    r"Input should|should match|should have|not permitted|\[key\]|literal\[|b'|at line|column|Expected|Invalid"
)


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        (b"policy = default", "toml.value", 1),
        (b"policy =", "toml.value", 1),
        (b"policy", "toml.line", 1),
        (b"state = 'x' policy = 'y'", "toml.line", 1),
        (b"\n[http\nport = 1", "toml.table", 2),
        (b"\napprovers = ['x',\n\n", "toml.unclosed", 2),
        (b"policy = 'default\n", "toml.text", 1),
        (b'policy = "default\n', "toml.text", 1),
        (b"policy = 'a\x00'", "toml.character", 1),
        (b'policy = "a\\d"', "toml.escape", 1),
        (b"\n[http]\n[http]", "toml.twice", 3),
        (b"state = 'x'\npolicy = '\xff'", "toml.utf8", 2),
        (b"\xef\xbb\xbfpolicy = 'default'", "toml.bom", None),
        (b"a = " + b"[" * 5000, "toml.deep", None),
    ],
)
def test_a_file_that_is_no_toml_is_told_in_plain_words(file: Path, text: bytes, what: str, line: int | None) -> None:
    """The sentence names the line, and has no word of Python's parser."""
    file.write_bytes(text)
    with raises(SettingsError, what, **({"line": line} if line else {})) as refused:
        load(file)

    assert None is FOREIGN.search(str(refused.value))


@pytest.mark.parametrize(
    "text",
    [
        "fallback = 3",
        "[mcp.servers.A]",
        "[masks]\nA = 'x'",
        "[agent]\ncost = -1",
        "[http.tokens]\nx = 'y'",
        "'a\\nb' = 1",
    ],
)
def test_a_wrong_setting_is_told_on_one_line_without_words_of_a_library(file: Path, text: str) -> None:
    """The sentence names the key as it is in the file."""
    file.write_text(text)
    with pytest.raises(SettingsError) as refused:
        load(file)

    assert None is FOREIGN.search(str(refused.value))
    assert 1 == len(str(refused.value).splitlines())


def test_a_path_that_no_file_can_have_is_named(file: Path) -> None:
    """Python itself would stop with "embedded null byte"."""
    file.write_text('[agent]\nkey_file = "a\\u0000b"\n')

    with raises(SettingsError, "setting.path.nul"):
        load(file)


@pytest.mark.parametrize("words", [["doctor"], ["pending"], ["history"]])
def test_a_folder_of_a_user_that_is_not_there_is_one_line(file: Path, words: list[str]) -> None:
    """Any command that needs the folder ends with 2 and names the path."""
    folder = "~nobody-has-this-name/sayso"
    file.write_text(f'state = "{folder}"\nruntime = "{folder}"\n')
    done = subprocess.run(
        [sys.executable, "-m", "bot", *words, "--config", str(file)], capture_output=True, text=True, check=False
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert says(done.stderr, "setting.path.home", path=folder)
    assert 1 == len(done.stderr.splitlines())


def test_many_wrong_settings_are_counted(file: Path) -> None:
    """The first five are named."""
    file.write_text("".join(f"k{number} = 1\n" for number in range(200)))

    with raises(SettingsError, "setting.more", count=195):
        load(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the way to write one."""
    with pytest.raises(SettingsError, match="sayso init"):
        load(tmp_path / "none.toml")


def test_a_file_that_can_not_be_read_is_not_written_anew(tmp_path: Path) -> None:
    """A folder of that name, or a file of somebody else's: `sayso init` would not help."""
    with pytest.raises(SettingsError) as refused:
        load(tmp_path)

    assert f"{tmp_path} can't be read: Is a directory." == str(refused.value)


def test_identities_that_stand_for_many_are_refused(file: Path) -> None:
    """As the lists are read, before anything runs."""
    file.write_text('approvers = ["telegram:1087968824"]\n')
    with pytest.raises(SettingsError, match="telegram:1087968824"):
        load(file).directory()


RUNTIMES = {
    "default": ("", {}),
    "systemd's": ("", {"RUNTIME_DIRECTORY": "/run/sayso"}),
    "the user's": ("", {"XDG_RUNTIME_DIR": "/run/user/1000"}),
    "absolute": ('runtime = "/r"', {"RUNTIME_DIRECTORY": "/run/sayso"}),
    "relative": ('runtime = "r"', {}),
    "at home": ('runtime = "~/r"', {}),
    "environment": ('runtime = "/r"', {"SAYSO_RUNTIME": "/e"}),
    "environment, relative": ("", {"SAYSO_RUNTIME": "e"}),
    "environment, small letters": ("", {"sayso_runtime": "~/e"}),
}


@pytest.mark.parametrize("case", RUNTIMES)
def test_commands_find_the_folder_of_the_socket_without_the_other_settings(
    file: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """It is the folder in which the service, which reads all settings, opens its socket."""
    text, environment = RUNTIMES[case]
    file.write_text(text)
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert load(file).folder("runtime") == runtime_folder(file)


@pytest.mark.parametrize("text", ["runtime = 1", 'runtime = ""', 'runtime = " "', "runtime", "runtime = ["])
def test_a_folder_of_the_socket_that_is_odd_is_left_to_all_settings(file: Path, text: str) -> None:
    """They explain what is wrong with it."""
    file.write_text(text)

    assert None is runtime_folder(file)


def test_a_file_that_is_named_is_the_one(file: Path) -> None:
    """Whether it is there or not: nothing else is used in its place."""
    assert file == find_config(file)
    assert os.path.devnull == str(find_config(Path(os.path.devnull)))


@pytest.mark.parametrize(("mode", "around", "at"), [(0o666, 0o700, "sayso.toml"), (0o600, 0o777, "")])
def test_settings_that_others_can_change_are_refused(file: Path, mode: int, around: int, at: str) -> None:
    """They say who may approve."""
    file.chmod(mode)
    file.parent.chmod(around)

    with raises(SettingsError, "setting.writable", place=file.parent / at):
        refuse_foreign(file)


@pytest.mark.parametrize(("mode", "around"), [(0o600, 0o700), (0o664, 0o1777)])
def test_settings_that_others_only_read_are_not(file: Path, mode: int, around: int) -> None:
    """A folder with the sticky bit keeps others' hands off the file; nor is one that isn't there anybody's."""
    file.chmod(mode)
    file.parent.chmod(around)

    refuse_foreign(file)
    refuse_foreign(file.with_name("none.toml"))
    refuse_foreign(None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_settings_of_another_user_are_refused(file: Path) -> None:
    """Such as what lies in the folder that a service happens to be started in."""
    os.chown(file, 4321, 4321)

    with pytest.raises(SettingsError, match="belongs to another user"):
        refuse_foreign(file)


@pytest.mark.parametrize("command", ["run", "doctor"])
def test_no_service_rules_by_them(file: Path, command: str) -> None:
    """Nor does the doctor call them sound."""
    file.chmod(0o666)
    refused = CliRunner().invoke(application(), [command, "--config", str(file)])

    assert (2, True) == (refused.exit_code, says(refused.stderr, "setting.writable", path=file))


@pytest.mark.parametrize("place", [Path(sys.prefix), Path(bot.settings.__file__).parents[1]], ids=["python", "ours"])
def test_a_workspace_holds_none_of_our_programs(file: Path, place: Path) -> None:
    """A project's folder with its own environment in it: what a tool changes there rules after the next start."""
    file.write_text(f'workspace = "{place.parent}"\n')

    assert place in load(file).exposed()
