"""Rules for kinds of tools and roles of arguments, and what an allow rule vouches for."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.policies.surroundings import RealPaths
from hitl.policy import Policy, PolicyCall, PolicyInvalid, Verdict, load, presets

DEFAULT = load(presets()["default"], name="default")


def policy(*rules: dict[str, Any], **more: Any) -> Policy:
    """A document with these rules."""
    return load(json.dumps({"version": 1, "rules": list(rules), **more}), name="p")


def judged(found: Policy, tool: str, **args: Any) -> Verdict:
    """The verdict on a call in a working folder."""
    return found.judge(PolicyCall("", tool, args, cwd="/srv/app"))


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("Read", {"file_path": "a.py", "limit": 3}, "allow"),
        ("Read", {"file_path": "/etc/hosts"}, "approve"),
        ("view", {"path": "a.py"}, "allow"),
        ("Bash", {"command": "ls", "description": "look", "timeout": 9}, "allow"),
        ("exec_command", {"cmd": "ls"}, "allow"),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "allow"),
        ("run_shell_command", {"command": "rm a"}, "approve"),
        ("Bash", {"command": "mkfs /dev/sda"}, "deny"),
        ("exec_command", {"cmd": "mkfs /dev/sda"}, "deny"),
        ("mcp__filesystem__read_text_file", {"path": "a.py"}, "allow"),
        ("mcp__other__read_text_file", {"path": "a.py"}, "approve"),
        ("search", {"query": "x"}, "allow"),
        ("web_search", {"query": "x"}, "allow"),
        ("get", {"id": "7"}, "allow"),
        ("get", {"url": "https://example.org"}, "approve"),
        ("list", {"path": "."}, "allow"),
        ("Write", {"file_path": "a.py", "content": "x"}, "approve"),
        ("acme_read", {"path": "a.py"}, "approve"),
    ],
)
def test_hosts_tools_are_known_by_what_they_do(tool: str, args: dict[str, Any], expected: str) -> None:
    """The default preset speaks of kinds, so every host's name for a tool gets the same verdict."""
    assert expected == judged(DEFAULT, tool, **args).action


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("Glob", {"pattern": "src/**/*.py"}, "allow"),
        ("Glob", {"pattern": "**/*.{ts,tsx}"}, "allow"),
        ("Glob", {"pattern": "*.[ch]", "path": "src"}, "allow"),
        ("glob", {"pattern": "**/package.json", "dir_path": "web"}, "allow"),
        ("glob_file_search", {"glob_pattern": "*_test.go", "target_directory": "pkg"}, "allow"),
        ("find_files", {"patterns": ["a/*.py", "b/**/*.md"]}, "allow"),
        ("find_files", {"patterns": ["a/*.py", "../b/*.md"]}, "approve"),
        ("Glob", {"pattern": "/srv/other/**/*.py"}, "approve"),
        ("Glob", {"pattern": "*.py", "path": "/srv/other"}, "approve"),
        ("Glob", {"pattern": "*.py", "path": "src/../.."}, "approve"),
        ("Glob", {"pattern": "src/*/../../*.py"}, "approve"),
        ("Glob", {"pattern": "{src,/etc}/*.py"}, "approve"),
        ("Glob", {"pattern": "{src,../lib}/*.py"}, "approve"),
        ("Glob", {"pattern": "~/*.py"}, "approve"),
        ("Glob", {"pattern": "$HOME/*.py"}, "approve"),
        ("Glob", {"pattern": "src\\..\\*.py"}, "approve"),
        ("Glob", {"pattern": "%2e%2e/*.py"}, "approve"),
        ("Glob", {"pattern": "{src/*.py"}, "approve"),
        ("Glob", {"pattern": "**/.ssh/*"}, "deny"),
        ("Read", {"file_path": "src/*.py"}, "approve"),
    ],
)
def test_a_pattern_of_names_is_judged_by_the_folder_that_it_lists(
    tool: str, args: dict[str, Any], expected: str
) -> None:
    """A tool that only lists names passes with a pattern below the working folder; a tool that reads files asks."""
    assert expected == judged(DEFAULT, tool, **args).action


def test_a_pattern_of_names_follows_no_link_elsewhere(tmp_path: Path) -> None:
    """A link that a wildcard may match, or that comes before the pattern, counts as the folder to which it leads."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "out").symlink_to("/etc")
    here = DEFAULT.with_ports(RealPaths())
    verdicts = {
        str(args): here.judge(PolicyCall("", "Glob", args, cwd=str(tmp_path))).action
        for args in (
            {"pattern": "src/*.py"},
            {"pattern": "src/*/*.py"},
            {"pattern": "src/out/*.py"},
            {"pattern": "out/*.py", "path": "src"},
        )
    }

    assert ["allow", "approve", "approve", "approve"] == list(verdicts.values())


def test_only_a_rule_for_everything_below_a_folder_covers_a_pattern_of_names() -> None:
    """A pattern may list any name below its folder, so a glob for some of these names doesn't cover it."""
    for glob, expected in (
        ("./src/**", "allow"),
        ("./**", "allow"),
        ("./src/*", "approve"),
        ("./src/**/*.py", "approve"),
    ):
        own = policy({"kind": "list", "when": [{"key": "@reads", "op": "glob", "value": glob}], "action": "allow"})

        assert expected == judged(own, "Glob", pattern="src/a/*.py").action
        assert "approve" == judged(own, "Glob", pattern="../*.py").action


def test_an_allow_rule_vouches_only_for_what_it_looked_at() -> None:
    """Another argument makes the call ask, unless the tool's definition or the rule calls it harmless."""
    rule = {"tool": "transfer", "when": [{"key": "amount", "op": "le", "value": 10}], "action": "allow"}
    strict, wide = policy(rule), policy({**rule, "harmless": ["memo"]})

    assert "allow" == judged(strict, "transfer", amount=5).action
    assert "approve" == judged(strict, "transfer", amount=5, memo="x").action
    assert "allow" == judged(wide, "transfer", amount=5, memo="x").action
    assert "approve" == judged(wide, "transfer", amount=5, memo="x", to="y").action
    assert "allow" == judged(policy({**rule, "harmless": ["*"]}), "transfer", amount=5, to="y").action


def test_a_rule_without_conditions_vouches_for_the_tool() -> None:
    """Who allows a tool by name allows it with any arguments."""
    assert "allow" == judged(policy({"tool": "get_weather", "action": "allow"}), "get_weather", city="x").action


def test_a_rule_for_a_kind_vouches_for_known_arguments_only() -> None:
    """A kind without conditions passes with the arguments that its tools' definitions list as harmless."""
    notes = policy({"kind": "note", "action": "allow"})

    assert "allow" == judged(notes, "TodoWrite", todos=["a"]).action
    assert "approve" == judged(notes, "TodoWrite", todos=["a"], path="b").action


def test_a_switch_is_harmless_only_while_it_is_off() -> None:
    """An argument that takes protection away counts as looked at only if it is false, null or absent."""
    assert "allow" == judged(DEFAULT, "Bash", command="ls", dangerouslyDisableSandbox=False).action
    assert "approve" == judged(DEFAULT, "Bash", command="ls", dangerouslyDisableSandbox=True).action
    assert "approve" == judged(DEFAULT, "Bash", command="ls", dangerouslyDisableSandbox="false").action


def test_a_deny_on_a_role_finds_every_argument_in_it() -> None:
    """Whatever a tool calls the file that it writes, a rule on `@writes` sees it."""
    closed = policy(
        {"kind": ["write", "move"], "when": [{"key": "@writes", "op": "glob", "value": "**/a"}], "action": "deny"},
        default_action="allow",
    )

    assert "deny" == judged(closed, "Write", file_path="x/a", content="").action
    assert "deny" == judged(closed, "move_file", source="x/a", destination="b").action
    assert "allow" == judged(closed, "Write", file_path="x/b", content="").action


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "reads", "action": "allow"},
        {"kind": [], "action": "allow"},
        {"when": [{"key": "@paths", "op": "exists", "value": True}], "action": "allow"},
        {"tool": "a", "harmless": [], "action": "allow"},
        {"tool": "a", "harmless": ["x"], "action": "deny"},
        {"when": [{"key": "command", "op": "command_effects", "value": ["look"]}], "action": "allow"},
    ],
)
def test_what_means_nothing_is_refused(rule: dict[str, Any]) -> None:
    """Unknown kinds, roles and effects, and keys that have no effect, are mistakes of the document."""
    with pytest.raises(PolicyInvalid):
        policy(rule)


def test_what_a_caller_starts_is_a_command_whatever_it_is_called() -> None:
    """The name that a caller gives its command neither lowers the risk nor finds another kind's rules."""
    for name in ("list", "search", "read", "get"):
        call = PolicyCall("", name, {"command": ["./deploy.sh", "prod"]}, "/srv/app", is_command=True)
        verdict = DEFAULT.judge(call)

        assert ("approve", "high") == (verdict.action, verdict.risk)
    looking = DEFAULT.judge(PolicyCall("", "deploy", {"command": ["cat", "a"]}, "/srv/app", is_command=True))

    assert ("allow", "low") == (looking.action, looking.risk)


def test_builds_pass_only_where_they_are_confined() -> None:
    """A developer's preset runs the project's own tests unasked only confined and without network."""
    dev = load(presets()["dev"], name="dev")
    call = PolicyCall("", "bash", {"command": "pytest -q"}, cwd="/srv/app")

    assert "approve" == dev.judge(call).action
    assert "allow" == dev.judge(PolicyCall("", "bash", {"command": "pytest -q"}, "/srv/app", isolated=True)).action


@pytest.mark.parametrize(
    ("tool", "args", "risk"),
    [
        ("bash", {"command": "cat a"}, "low"),
        ("bash", {"command": "grep -n 'rm -rf /' a"}, "low"),
        ("bash", {"command": "echo x > a"}, "medium"),
        ("bash", {"command": "rm a"}, "high"),
        ("bash", {"command": "acme"}, "high"),
        ("bash", {"command": "terraform destroy"}, "critical"),
        ("bash", {"command": "rm -rf /"}, "critical"),
        ("bash", {"command": "echo x > /etc/hosts"}, "critical"),
        ("delete_file", {"path": "/boot/vmlinuz"}, "critical"),
        ("delete_file", {"path": "C:\\Windows\\win.ini"}, "critical"),
        ("delete_file", {"path": "/srv/app/../../etc/passwd"}, "critical"),
        ("delete_file", {"path": "a"}, "high"),
        ("write_file", {"path": "/etc/hosts", "content": ""}, "critical"),
        ("write_file", {"path": "a", "content": ""}, "medium"),
        ("read_file", {"path": "/etc/hosts"}, "low"),
    ],
)
def test_what_will_run_decides_the_risk(tool: str, args: dict[str, Any], risk: str) -> None:
    """A line that the tables know has the risk of what it does, any other is at least high."""
    assert risk == judged(load('{"version": 1, "rules": []}', name="p"), tool, **args).risk


READERS = ("read", "list", "search", "get", "web_search", "think")


@pytest.mark.parametrize("tool", READERS)
def test_a_reader_that_says_it_destroys_asks(tool: str) -> None:
    """A tool of another server may have a reader's name; its own hint is believed against itself."""
    args = {"path": "a.py"} if tool == "read" else {"query": "x"} if "search" in tool else {}
    quiet = PolicyCall("other", tool, args, cwd="/srv/app", annotations={"readOnlyHint": True})
    loud = PolicyCall("other", tool, args, cwd="/srv/app", annotations={"destructiveHint": True})

    assert ("allow", "approve") == (DEFAULT.judge(quiet).action, DEFAULT.judge(loud).action)
    assert "high" == DEFAULT.judge(loud).risk
    assert DEFAULT.judge(loud) == DEFAULT.judge_slowly(loud)
    assert "allow" == DEFAULT.judge(quiet).action


@pytest.mark.parametrize(
    "hints", [{}, {"destructiveHint": None}, {"openWorldHint": True}, {"readOnlyHint": True}, None]
)
def test_a_server_that_says_nothing_disputes_nothing(hints: dict[str, Any] | None) -> None:
    """Only a hint that is given counts against what the tables know of a tool."""
    call = PolicyCall("other", "search", {"query": "x"}, cwd="/srv/app", annotations=hints)

    assert ("allow", "low") == (DEFAULT.judge(call).action, DEFAULT.judge(call).risk)


@pytest.mark.parametrize("action", ["deny", "approve"])
@pytest.mark.parametrize("kind", ["read", "unknown"])
def test_a_disputed_tool_is_held_to_the_stricter_rules_of_both_kinds(action: str, kind: str) -> None:
    """A hint takes an allow away, and never a deny: rules for readers and for unknown tools count alike."""
    strict = policy({"kind": kind, "action": action}, default_action="allow")
    call = PolicyCall("other", "read", {"path": "./a"}, cwd="/srv/app", annotations={"readOnlyHint": False})

    assert action == strict.judge(call).action == strict.judge_slowly(call).action


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("Bash", {"command": "ls", "description": {"command": "rm x"}}, "approve"),
        ("Bash", {"command": "ls", "description": ["a", {"b": "c"}]}, "approve"),
        ("get", {"id": {"$ne": 1}}, "approve"),
        ("get", {"ids": ["1", "2"]}, "allow"),
        ("list_directory", {"path": ".", "file_filtering_options": {"respect_git_ignore": True}}, "allow"),
        ("list_directory", {"path": ".", "file_filtering_options": {"respect_git_ignore": "x"}}, "approve"),
        ("TodoWrite", {"todos": [{"content": "x", "status": "pending"}]}, "allow"),
    ],
)
def test_a_harmless_argument_is_harmless_as_a_plain_value(tool: str, args: dict[str, Any], expected: str) -> None:
    """Some programs take an object for a query or for more arguments, so only switches may be in one."""
    assert expected == judged(DEFAULT, tool, **args).action


@pytest.mark.parametrize("preset", ["default", "dev", "headless"])
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Read", {"file_path": "a.txt"}),
        ("list", {"path": "."}),
        ("bash", {"command": "ls"}),
        ("mcp__filesystem__read_file", {"path": "a.txt"}),
    ],
)
def test_the_name_of_a_hosts_tool_vouches_for_nothing_that_another_program_serves(
    preset: str, tool: str, args: dict[str, object]
) -> None:
    """An MCP server's `Read` does what that server likes. The same call of a coding agent is what the table says."""
    policy = load(presets()[preset], name=preset)

    assert "allow" != policy.judge(PolicyCall("evil", tool, args, "/srv/app", foreign=True)).action


def test_a_known_servers_tool_is_known_by_its_group() -> None:
    """The operator gave the server that name."""
    policy = load(presets()["default"], name="default")
    call = PolicyCall("filesystem", "read_file", {"path": "a.txt"}, "/srv/app", foreign=True)

    assert "allow" == policy.judge(call).action


@pytest.mark.parametrize("tool", ["bash", "Bash", "shell", "sh", "terminal", "run_command", "execute_command", "exec"])
@pytest.mark.parametrize(
    "words",
    [
        ["ls", "&&", "rm", "a"],
        ["ls", ";rm a"],
        ["ls", "|", "sh"],
        ["ls", "&"],
        ["ls", "x\nrm a"],
        ["echo", "$(rm a)"],
        ["echo", "`id`"],
        ["cat", "<(rm a)"],
        ["ls", ">", "out"],
        ["cat", "a", ">>b"],
        ["cat", "'/etc/hosts'"],
        ["cat", "docs/a .env"],
        ["bash", "-lc", "ls", "; rm a"],
        ["bash", "-c", "cd docs && cat ../notes"],
        ["bash", "-c", "python3 --version < a.py"],
    ],
)
def test_words_that_are_another_line_to_a_shell_need_a_person(tool: str, words: list[str]) -> None:
    """Some tools join a list of words and give it to a shell, so the list is judged as words and as that line."""
    assert "allow" != judged(DEFAULT, tool, command=words).action


@pytest.mark.parametrize(
    "words",
    [
        ["ls", "-la", "src"],
        ["grep", "-n", "two words", "a.py"],
        ["git", "log", "--format=%h %s"],
        ["bash", "-lc", "cd src && ls | head"],
        ["sh", "-c", "git status; git log -3"],
    ],
)
def test_words_that_are_as_harmless_as_their_line_need_nobody(words: list[str]) -> None:
    """A list passes if it only reads in both meanings; a shell with its script is the usual form of a line."""
    assert "allow" == judged(DEFAULT, "shell", command=words).action


def test_words_that_the_caller_starts_itself_are_no_line() -> None:
    """`sayso ask -- CMD` starts the words as they are, so a sign of the shell in a word means nothing."""
    args = {"argv": ["grep", "-n", "a|b", "a.py"], "command": ["grep", "-n", "a|b", "a.py"]}

    assert "allow" == DEFAULT.judge(PolicyCall("", "shell", args, cwd="/srv/app", is_command=True)).action


def test_a_denied_program_is_found_in_words_that_a_shell_would_join() -> None:
    """A rule that denies a program also finds it behind an operator in a list of words."""
    assert "deny" == judged(DEFAULT, "bash", command=["ls", "&&", "mkfs", "/dev/sda"]).action


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("web_search", {"query": "why is ghp_" + "a1B2" * 9 + " refused"}),
        ("WebSearch", {"query": "sk-ant-" + "a1B2" * 9}),
        ("google_web_search", {"query": "AKIA" + "A2B3" * 4}),
        ("web_search", {"search_term": "xoxb-" + "1234567890" * 3}),
        ("web_search", {"query": "x", "q": "glpat-" + "a1B2" * 5}),
    ],
)
def test_a_search_of_the_web_for_a_key_needs_a_person(tool: str, args: dict[str, Any]) -> None:
    """The words of a search leave the machine, so a person is asked if they have the form of a key."""
    assert "approve" == judged(DEFAULT, tool, **args).action
    assert "allow" == judged(DEFAULT, tool, query="what is a password manager, token=abc").action


@pytest.mark.parametrize(("wanted", "expected"), [(True, "deny"), (False, "allow")])
def test_a_credential_is_found_in_a_text(wanted: bool, expected: str) -> None:
    """`credential: true` holds for a text with a key; `false` holds for every other text."""
    when = [{"key": "text", "op": "credential", "value": wanted}]
    found = policy({"when": when, "action": "deny"}, default_action="allow")

    assert expected == judged(found, "note_it", text="ghp_" + "a1B2" * 9).action
    assert "approve" == judged(found, "note_it", text="x" * 20_000).action
