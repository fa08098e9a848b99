"""`sayso policy ...`: what it prints, and how it fails. Nothing of it needs a service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import application
from tests.sentences import says

DOCUMENT = """version: 1
forbid:
  - id: secrets
    message: Keys are closed.
    when: [{key: "*", op: glob, value: "**/.ssh/**"}]
rules:
  - id: looking
    tool: bash
    when:
      - {key: command, op: command_prefix_allowlist, value: [ls]}
      - {key: command, op: command_resolvable, value: true}
    action: allow
"""
BROKEN = "version: 1\nrules:\n  - tol: bash\n    action: allow\n"
DOUBTFUL = """version: 1
rules:
  - {id: all, tool: "b*", action: allow, when: [{key: a, op: eq, value: 1}]}
  - {id: some, tool: bash, action: deny}
"""
EXPECTED = """tests:
  - name: looking is fine
    call: {tool: bash, args: {command: ls -la}}
    expect: allow
  - name: keys are closed
    call: {tool: cat, args: {file: /home/me/.ssh/id}}
    expect: {action: deny, rule: secrets}
"""
ENVELOPE = json.dumps({"default_action": "deny", "rules": [{"tools": "fs", "tool": "read", "action": "allow"}]})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with documents."""
    texts = {"good": DOCUMENT, "broken": BROKEN, "doubtful": DOUBTFUL, "expected": EXPECTED}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "envelope.json").write_text(ENVELOPE)
    return tmp_path


def policy(*words: object, given: str = "", settings: Path | None = None) -> Result:
    """The command to its end."""
    return CliRunner(env={"SAYSO_CONFIG": str(settings) if settings else None}).invoke(
        application(), ["policy", *map(str, words)], input=given
    )


def data(done: Result) -> Any:
    """What it printed, for programs."""
    return json.loads(done.stdout)


class TestCheck:
    """What is wrong with a document."""

    def test_a_good_one_has_no_problems(self, place: Path) -> None:
        """Said in a line, with 0."""
        done = policy("check", place / "good.yaml")

        assert (0, f"{place}/good.yaml: no problems\n") == (done.exit_code, done.stdout)

    def test_a_bad_one_is_told_with_file_and_line(self, place: Path) -> None:
        """And what was probably meant; 1."""
        done = policy("check", place / "broken.yaml")

        assert 1 == done.exit_code
        assert done.stdout.startswith(f"{place}/broken.yaml:3: /rules/0/tol: ")
        assert "tool" in done.stdout
        assert done.stdout.endswith(f"{place}/broken.yaml: it cannot be used\n")

    def test_a_doubtful_one_is_told_to_be_usable(self, place: Path) -> None:
        """After what was found; 1."""
        done = policy("check", place / "doubtful.yaml")

        assert 1 == done.exit_code
        assert says(done.stdout.splitlines()[-1], "policy.usable", name=f"{place}/doubtful.yaml")

    @pytest.mark.parametrize(("name", "usable"), [("doubtful", True), ("broken", False)])
    def test_programs_are_told_whether_it_would_load(self, place: Path, name: str, *, usable: bool) -> None:
        """A warning is a finding, too."""
        done = policy("check", place / f"{name}.yaml", "--json")
        told = data(done)

        assert (1, usable) == (done.exit_code, told["usable"])
        assert {"line", "path", "message", "suggestion"} == set(told["problems"][0])

    @pytest.mark.parametrize("preset", ["default", "strict", "dev", "headless"])
    def test_the_presets_have_no_problems(self, preset: str) -> None:
        """They are documents like any other."""
        assert 0 == policy("check", "--preset", preset).exit_code

    def test_without_a_file_it_is_the_settings_policy(self, place: Path) -> None:
        """As the service would find it."""
        settings = place / "sayso.toml"
        settings.write_text(f'policy = "doubtful"\npolicies = ["{place}"]\n')
        place.chmod(0o755)
        (place / "doubtful.yaml").chmod(0o644)
        done = policy("check", settings=settings)

        assert (1, True) == (done.exit_code, f"{place}/doubtful.yaml:4: " in done.stdout)


class TestExplain:
    """Why a call gets its verdict."""

    def test_each_rule_says_whether_it_held(self, place: Path) -> None:
        """With the verdict first."""
        args = json.dumps({"command": "ls; rm x"})
        done = policy("explain", place / "good.yaml", "--tool", "bash", "--args", args)
        lines = done.stdout.splitlines()

        assert 0 == done.exit_code
        assert lines[0].startswith("approve (default_action), risk high: ")
        assert "  programs: ls, rm" in lines
        assert any(line.startswith("  rules  looking  no  ") for line in lines)

    def test_a_denial_gives_its_message(self, place: Path) -> None:
        """As data, with the rule that decided last."""
        args = json.dumps({"path": "/root/.ssh/x"})
        told = data(policy("explain", place / "good.yaml", "--tool", "cat", "--args", args, "--json"))

        assert ("deny", "forbidden", "Keys are closed.") == tuple(
            told["verdict"][name] for name in ("action", "reason", "message")
        )
        assert ("secrets", "yes") == (told["tried"][-1]["rule"], told["tried"][-1]["held"])


class TestTest:
    """A file of expectations."""

    def test_what_is_met_is_counted(self, place: Path) -> None:
        """And no more is said."""
        done = policy("test", place / "good.yaml", place / "expected.yaml")

        assert (0, "2 passed\n") == (done.exit_code, done.stdout)

    def test_what_differs_is_told_with_its_line(self, place: Path) -> None:
        """1, also for programs."""
        (place / "expected.yaml").write_text(EXPECTED.replace("expect: allow", "expect: deny"))
        done = policy("test", place / "good.yaml", place / "expected.yaml")
        told = data(policy("test", place / "good.yaml", place / "expected.yaml", "--json"))

        assert 1 == done.exit_code
        assert f"{place}/expected.yaml:2: looking is fine: action: expected deny, got allow\n" in done.stdout
        assert done.stdout.endswith("1 passed, 1 failed\n")
        assert (1, "looking is fine") == (told["passed"], told["failed"][0]["name"])

    def test_a_misspelt_key_tests_nothing_and_is_refused(self, place: Path) -> None:
        """On stderr, with its line; 1."""
        (place / "expected.yaml").write_text(EXPECTED.replace("expect: allow", "expects: allow"))
        done = policy("test", place / "good.yaml", place / "expected.yaml")

        assert (1, "") == (done.exit_code, done.stdout)
        assert f"{place}/expected.yaml:2: " in done.stderr


class TestEval:
    """Verdicts by the batch."""

    def test_a_line_in_a_line_out(self) -> None:
        """In order; a document that must not load is refused, and allows nothing."""
        rows = [
            {"id": 1, "policy": {"version": 1, "default_action": "allow"}, "tool": "a", "args": {}},
            {"id": 2, "policy": {"version": 9}, "tool": "a", "args": {}},
        ]
        done = policy("eval", "--jsonl", given="".join(f"{json.dumps(row)}\n" for row in rows))
        answers = [json.loads(line) for line in done.stdout.splitlines()]

        assert 0 == done.exit_code
        assert [(1, "allow", False), (2, "deny", True)] == [
            (answer["id"], answer["action"], answer["refused"]) for answer in answers
        ]

    def test_rows_without_a_policy_are_judged_by_the_one_named(self, place: Path) -> None:
        """It is read once."""
        given = '{"tool": "bash", "args": {"command": "ls"}}\n\n{"tool": "bash", "args": {"command": "rm x"}}\n'
        done = policy("eval", place / "good.yaml", "--jsonl", given=given)

        assert ["allow", "approve"] == [json.loads(line)["action"] for line in done.stdout.splitlines()]

    def test_one_call_is_one_verdict(self, place: Path) -> None:
        """With its digest."""
        told = data(policy("eval", place / "good.yaml", given='{"tool": "bash", "args": {"command": "ls"}}'))

        assert ("allow", ["ls"], 64) == (told["action"], told["programs"], len(told["policy"]))


def test_the_schema_takes_what_the_loader_takes() -> None:
    """It is one that validators can use."""
    found = data(policy("schema"))

    jsonschema.Draft202012Validator.check_schema(found)
    assert "rules" in found["properties"]


class TestImport:
    """Other systems' documents."""

    def test_the_result_is_a_document(self, place: Path) -> None:
        """That loads as it is."""
        done = policy("import", "contenox", place / "envelope.json")
        (place / "new.yaml").write_text(done.stdout)

        assert 0 == done.exit_code
        assert 0 == policy("check", place / "new.yaml").exit_code

    def test_programs_get_document_and_differences(self, place: Path) -> None:
        """Apart."""
        assert {"document", "differences"} == set(data(policy("import", "contenox", place / "envelope.json", "--json")))

    def test_what_is_no_such_document_is_one(self, place: Path) -> None:
        """With file and line."""
        done = policy("import", "harombe", place / "envelope.json")

        assert (1, "") == (done.exit_code, done.stdout)
        assert f"{place}/envelope.json:1: " in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["check", "none.yaml"],
        ["check", "good.yaml", "--preset", "dev"],
        ["check", "--preset", "lax"],
        ["explain", "good.yaml"],
        ["explain", "good.yaml", "--tool", "x", "--args", "[]"],
        ["explain", "good.yaml", "--tool", "x", "--args", "{"],
        ["test", "good.yaml", "none.yaml"],
        ["eval", "good.yaml"],
        ["import", "another", "envelope.json"],
    ],
)
def test_what_makes_no_sense_is_two(place: Path, words: list[str]) -> None:
    """Nothing on stdout, no traceback."""
    done = policy(*(str(place / word) if "." in word else word for word in words))

    assert (2, "") == (done.exit_code, done.stdout)
    assert done.stderr
