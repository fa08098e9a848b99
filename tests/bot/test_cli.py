"""The command line without a process: help of every command, and mistakes that need no service."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bot.cli import light
from bot.cli.main import application
from bot.wording import say
from sayso_client.wire import SOCKET_NAME
from tests.clients.answering import serving
from tests.clients.test_asking import Service, Talk

GROUP = typer.main.get_command(application())
ALL = sorted(getattr(GROUP, "commands", {}))


def test_the_commands_are_those_of_the_reference() -> None:
    """None is missing."""
    expected = {
        "ask",
        "audit",
        "chat",
        "decide",
        "demo",
        "doctor",
        "graph",
        "init",
        "pending",
        "replies",
        "run",
        "show",
    }

    assert {*expected, "withdraw"} <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_command_is_made_without_the_other_modules(name: str) -> None:
    """Its first word says which module has it. The import of all of them would slow each command."""
    commands = getattr(typer.main.get_command(application(name)), "commands", {})

    assert name in commands
    assert len(ALL) > len(commands)


@pytest.mark.parametrize("words", [["pendign"], ["--socket", "s", "pending"], []])
def test_any_other_first_word_makes_all_commands(words: list[str]) -> None:
    """A mistyped name is compared with all of them, and help lists them all."""
    commands = getattr(typer.main.get_command(application(*words[:1])), "commands", {})

    assert ALL == sorted(commands)


def test_every_module_with_commands_is_known() -> None:
    """Each module that adds commands is one that the first word can name."""
    folder = Path(str(light.__file__)).parent
    modules = {path.stem for path in folder.glob("*.py") if "\ndef register(" in path.read_text()}
    made = {command for name in modules for command in _commands_of(name)}

    assert set(ALL) == made


def _commands_of(module: str) -> list[str]:
    app = typer.Typer()
    app.callback()(lambda: None)
    import_module(f"bot.cli.{module}").register(app)
    return list(getattr(typer.main.get_command(app), "commands", {}))


@pytest.mark.parametrize("name", ALL)
def test_every_command_explains_itself_by_an_example(name: str) -> None:
    """What it is for, and a line to copy; a group lists its commands."""
    told = CliRunner().invoke(application(), [name, "--help"])

    assert 0 == told.exit_code
    assert re.search(r"Example: .*sayso|Commands:", " ".join(told.output.split()))


@pytest.mark.parametrize("group", [[], ["audit"], ["policy"], ["replies"], ["simulate"]])
def test_a_list_of_commands_breaks_off_nowhere(group: list[str]) -> None:
    """What each is for, in one line of a usual terminal."""
    told = CliRunner().invoke(application(), [*group, "--help"], env={"COLUMNS": "80"})

    assert 0 == told.exit_code
    assert not re.search(r"^  .*\.\.\.$", told.output, re.MULTILINE)


def test_each_example_of_init_is_a_line_to_copy() -> None:
    """None runs on into the next."""
    told = CliRunner().invoke(application(), ["init", "--help"]).output

    assert 5 == len(re.findall(r"^ +Example: sayso init", told, re.MULTILINE))


@pytest.mark.parametrize(
    "words",
    [
        ["--args", "{"],
        ["--args", "[]"],
        ["--args", "1"],
        ["--args", '{"argv": []}', "--", "true"],
        ["--args", '{"cwd": "/"}', "--", "true"],
        ["--timeout", "soon"],
        ["--timeout", ""],
        ["--timeout", "²s"],
        ["--timeout", "-5s"],
        ["--timeout", "1.5m"],
        ["--timeout", "5 m"],
    ],
)
def test_an_ask_that_makes_no_sense_is_two_before_anybody_is_asked(words: list[str]) -> None:
    """No service is needed to see that."""
    refused = CliRunner().invoke(application(), ["ask", "deploy", "--socket", "/proc/none", *words])

    assert 2 == refused.exit_code
    assert 1 == len(refused.stderr.splitlines())


def test_a_line_may_hold_formatting_language_and_refs() -> None:
    """`sayso replies parse --jsonl` hands them to the reader."""
    lines = '{"text": "yes", "spans": [[0, 3, "struck"]]}\n{"text": "ya", "language": "id"}\n'
    lines += '{"text": "yes ABCDEF", "refs": ["ABCDEF"]}\n'
    done = CliRunner().invoke(application(), ["replies", "parse", "--jsonl"], input=lines)

    assert ["unclear", "approve", "approve"] == [json.loads(line)["verdict"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        "yes",
        '["yes"]',
        '{"text": "yes", "spans": [[0]]}',
        '{"text": "yes", "spans": [[0, 1, "x"]]}',
        '{"txt": "yes"}',
        '{"text": 1}',
        "null",
    ],
)
def test_a_line_without_a_text_is_named(line: str) -> None:
    """The lines before it are answered."""
    refused = CliRunner().invoke(application(), ["replies", "parse", "--jsonl"], input=f'{{"text": "yes"}}\n{line}\n')

    assert 2 == refused.exit_code
    assert '"approve"' in refused.stdout
    assert "line 2" in refused.stderr


@pytest.mark.parametrize(
    ("words", "view"), [(["pending"], "brief"), (["inbox"], "brief"), (["pending", "--json"], "full")]
)
def test_only_a_list_for_programs_has_arguments(tmp_path: Path, words: list[str], view: str) -> None:
    """A person reads the headlines. The arguments of twenty requests may have twenty megabytes."""
    service = Service(str(tmp_path / "s"), Talk)
    service.answers, service.requests = [{"call": {"calls": []}}], []
    with serving(service):
        done = CliRunner().invoke(application(), [*words, "--socket", str(tmp_path / "s")])

    assert 0 == done.exit_code
    assert [view] == [request["view"] for request in service.requests]


def test_a_command_needs_only_the_socket_of_the_settings(tmp_path: Path) -> None:
    """People can list and decide while somebody is mending another setting."""
    file = tmp_path / "sayso.toml"
    file.write_text('runtime = "."\nno_such_setting = 1\n')
    service = Service(str(tmp_path / SOCKET_NAME), Talk)
    service.answers, service.requests = [{"call": {"calls": []}}], []
    with serving(service):
        done = CliRunner().invoke(application(), ["pending", "--config", str(file)])

    assert (0, f"{say('pending.none')}\n") == (done.exit_code, done.output)


def test_settings_that_are_wrong_are_named_if_no_service_answers(tmp_path: Path) -> None:
    """The mistake may be why: a misspelt `runtime` names no socket."""
    file = tmp_path / "sayso.toml"
    file.write_text(f'runtime = "{tmp_path}"\nno_such_setting = 1\n')
    wrong = CliRunner().invoke(application(), ["pending", "--config", str(file)])
    file.write_text(f'runtime = "{tmp_path}"\n')
    right = CliRunner().invoke(application(), ["pending", "--config", str(file)])

    assert (2, True) == (wrong.exit_code, "no_such_setting" in wrong.output)
    assert "UNAVAILABLE" == getattr(right.exception, "code", None)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["decide", "K7Q2MX", "maybe"], ("'maybe'", "'approve', 'reject'")),
        (["decide", "K7Q2MX"], ("VERDICT",)),
        (["approve"], ("REF",)),
        (["stats", "--since"], ("--since",)),
        (["audit", "query", "--limit", "many"], ("--limit",)),
    ],
)
def test_a_value_that_an_argument_can_not_have_is_a_mistake(words: list[str], named: tuple[str, ...]) -> None:
    """It names the argument, or what the value could be, and nothing is sent."""
    done = CliRunner().invoke(application(), [*words])

    assert 2 == done.exit_code
    assert all(each in done.output for each in named)
