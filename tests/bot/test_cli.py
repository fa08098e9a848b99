"""The command line without a process: help of every command, and mistakes that need no service."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from bot.cli.main import app
from tests.clients.answering import serving
from tests.clients.test_asking import Service, Talk

if TYPE_CHECKING:
    from pathlib import Path

GROUP = typer.main.get_command(app)
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
def test_every_command_explains_itself_by_an_example(name: str) -> None:
    """What it is for, and a line to copy; a group lists its commands."""
    told = CliRunner().invoke(app, [name, "--help"])

    assert 0 == told.exit_code
    assert re.search(r"Example: .*sayso|Commands:", " ".join(told.output.split()))


@pytest.mark.parametrize("group", [[], ["audit"], ["policy"], ["replies"], ["simulate"]])
def test_a_list_of_commands_breaks_off_nowhere(group: list[str]) -> None:
    """What each is for, in one line of a usual terminal."""
    told = CliRunner().invoke(app, [*group, "--help"], env={"COLUMNS": "80"})

    assert 0 == told.exit_code
    assert not re.search(r"^  .*\.\.\.$", told.output, re.MULTILINE)


def test_each_example_of_init_is_a_line_to_copy() -> None:
    """None runs on into the next."""
    told = CliRunner().invoke(app, ["init", "--help"]).output

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
    refused = CliRunner().invoke(app, ["ask", "deploy", "--socket", "/proc/none", *words])

    assert 2 == refused.exit_code
    assert 1 == len(refused.stderr.splitlines())


def test_a_line_may_hold_formatting_language_and_refs() -> None:
    """`sayso replies parse --jsonl` hands them to the reader."""
    lines = '{"text": "yes", "spans": [[0, 3, "struck"]]}\n{"text": "ya", "language": "id"}\n'
    lines += '{"text": "yes ABCDEF", "refs": ["ABCDEF"]}\n'
    done = CliRunner().invoke(app, ["replies", "parse", "--jsonl"], input=lines)

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
    refused = CliRunner().invoke(app, ["replies", "parse", "--jsonl"], input=f'{{"text": "yes"}}\n{line}\n')

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
        done = CliRunner().invoke(app, [*words, "--socket", str(tmp_path / "s")])

    assert 0 == done.exit_code
    assert [view] == [request["view"] for request in service.requests]
