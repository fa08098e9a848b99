"""What setting up and `doctor` print is in the catalogue, so that it is on one page with everything else."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from bot.errors import SettingsError
from bot.settings import load
from hitl.policy.operators import OPERATORS
from tests.hitl.cards.test_wording import constants
from tests.pseudo import outside, speak_in_commands

ROOT = Path(__file__).parents[2]

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
    done = CliRunner().invoke(application(), [*words])
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


#: Names in the settings of the test below.
NAMED = "list_files ann matrix room monitor low dev the preset default state db keys json run"


def test_what_doctor_finds_is_in_the_catalogue(tmp_path: Path) -> None:
    """A first configuration before the first start, with a platform, a token's owner and an open port."""
    file = tmp_path / "sayso.toml"
    file.write_text(
        'approvers = ["local:1", "ann"]\nrequesters = ["bot", "local:1"]\nstate = "state"\nworkspace = "work"\n'
        'runtime = "run"\nroutes = ["matrix:!room"]\nself_approval_socket = "low"\nmode = "monitor"\nstage = "dev"\n'
        'tools.allow = ["list_files"]\nfallback = { list_files = "pass" }\n'
        '[stages.dev]\npolicy = "default"\n'
        '[http]\nport = 0\nhost = "0.0.0.0"\nproxy = true\n[telegram]\nreceive = "polling"\n'
        '[conversations."slack:T1/C1"]\napprovers = []\n'
    )
    report = json.loads("".join(said("doctor", "--json", "--config", str(file))))

    assert len(report) > 12
    # The client has a catalogue of its own for what it says without a service.
    texts = [check["text"] for check in report if check["name"] != "service"]
    found = outside(texts, [*NAMES, str(tmp_path), NAMED])

    assert [] == found


@pytest.mark.parametrize(
    "text",
    [
        'approvers = ["a"]\napprovrs = 1',
        'http.port = "x"\nlog = "loud"\nroutes = 1',
        'retention.calls = "1h"\nretention.events = "soon"\nself_approval_socket = "critical"',
        'principals = { ann = ["local:1"], bob = ["local:1"] }',
        'mcp.servers.files = { command = ["x"], url = "y" }',
        'telegram.token = "1:x"',
        "not toml",
    ],
)
def test_an_error_of_the_settings_is_in_the_catalogue(text: str, tmp_path: Path) -> None:
    """A misspelled key, a wrong type, a value that is out of bounds, an identity of two people."""
    file = tmp_path / "sayso.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(file).directory()

    assert [] == outside([str(caught.value)], [*NAMES, str(tmp_path), text, *OTHERS])


#: Words of Python's TOML parser, and values that a setting may have.
OTHERS = ("Expected after key in key value pair at line column missing or", "json text off low medium high")


def test_the_faults_of_a_policy_are_in_the_catalogue(tmp_path: Path) -> None:
    """`policy check` prints the faults of a document, its remedies, and probable mistakes."""
    file = tmp_path / "p.yaml"
    keys = "yaml document ab allow approve low medium high critical"
    faulty = "version: 1\nrules:\n  - {tool: a b, acton: deny, action: denny, risk: 3, when: [{op: is}]}\ncards: 3\n"
    doubtful = "version: 1\nrules:\n  - {tool: a, action: allow}\n  - {tool: a, action: deny}\n"
    for text in (faulty, doubtful, "version: 1\nversion: 1\n", "a: *b\n", "[]\n"):
        file.write_text(text)
        told = said("policy", "check", str(file))

        assert told
        assert [] == outside(told, [keys, str(tmp_path), *re.findall("[a-z]+", text), *OPERATORS]), text


def test_the_explanation_of_a_verdict_is_in_the_catalogue(tmp_path: Path) -> None:
    """`policy explain` prints the reason of the verdict, and the answer of each condition."""
    file = tmp_path / "p.yaml"
    rules = (
        "{id: aa, tool: other, action: deny}",
        "{id: bb, action: deny, when: [{key: path, op: eq, value: xx}, {key: gone, op: eq, value: 1}]}",
        "{id: cc, action: deny, when: [{not: {key: command, op: command_blacklist, value: ls}}]}",
        "{id: dd, action: approve, risk: high}",
    )
    file.write_text("version: 1\nrules:\n" + "".join(f"  - {rule}\n" for rule in rules))
    arguments = '{"path": "notes", "command": "ls"}'
    told = said("policy", "explain", str(file), "--tool", "look", "--args", arguments)

    assert len(rules) < len(told)
    assert [] == outside(
        told, [*re.findall("[a-z]+", f"{rules} {arguments}"), "matched rule programs rules yes no cannot tell"]
    )


#: The files whose sentences are all in a catalogue. `_WORDS` finds a text of them that isn't: the names of checks are
#: shorter.
SPEAKING = (
    "bot/doctor/*.py",
    "bot/settings.py",
    "adapters/*/checks.py",
    *(
        f"hitl/policy/{name}.py"
        for name in ("compose", "engine", "expectations", "explain", "globs", "grammar", "text")
    ),
    "hitl/policy/dialects/[!o]*.py",
    "hitl/policy/operators/[!s]*.py",
)
_WORDS = re.compile(r"([A-Za-z][a-z']*[,;:]? ){3}[a-z]+")


def test_the_checks_and_the_settings_hold_no_sentence() -> None:
    """Each of their words for people comes from a catalogue, so that the page of messages shows it."""
    files = [path for pattern in SPEAKING for path in sorted(ROOT.glob(pattern))]
    found = [f"{path.name}:{line}: {text}" for path in files for line, text in constants(path) if _WORDS.search(text)]

    assert len(files) > 5
    assert [] == found


#: The errors for people, and the function with which commands end with one.
ERRORS = {"SettingsError", "Unavailable", "InvalidConfirmation", "NotApprover", "CallUnknown", "KeyConflict", "fail"}


def test_no_error_for_people_holds_a_sentence() -> None:
    """Its words come from a catalogue, wherever it is raised."""
    raised = [
        (path, node)
        for package in ("adapters", "bot")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS
    ]
    texts = [
        f"{path.name}:{node.lineno}: {one.value}"
        for path, node in raised
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and _WORDS.search(one.value)
    ]

    assert len(raised) > 100
    assert [] == texts
