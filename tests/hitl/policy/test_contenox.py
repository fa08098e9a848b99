"""JSON documents without a version: those of contenox, with its verdicts where those are safe, and ours where not."""

import json
from typing import Any

import pytest

from hitl.policy import Policy, PolicyCall, PolicyInvalid, load
from hitl.policy.wording import say


def envelope(*rules: dict[str, Any], default: str = "allow", **more: Any) -> Policy:
    """A document of contenox."""
    return load(json.dumps({"default_action": default, "rules": list(rules), **more}), name="envelope", format="json")


def denying(op: str, value: str, key: str = "k", action: str = "deny") -> dict[str, Any]:
    """A rule with one condition."""
    return {"tools": "g", "tool": "t", "action": action, "when": [{"key": key, "op": op, "value": value}]}


def judged(policy: Policy, **args: Any) -> str:
    """The action on a call with these arguments."""
    return policy.judge(PolicyCall("g", "t", args)).action


# What contenox lets pass, or crashes on, and must not: condition, arguments, the safe outcome.
SAFER: tuple[tuple[str, str, str, Any, str], ...] = (
    ("host", "intra.example", "u", "http://intra.example./x", "deny"),
    ("host", "intra.example", "u", "intra.example", "deny"),
    ("host", "10.0.0.7", "u", "http://10.7/", "deny"),
    ("host", "10.0.0.7", "u", "http://167772167/", "deny"),
    ("host", "10.0.0.7", "u", "http://[::ffff:a00:7]:80/", "deny"),
    ("host", "intra.example", "u", "http://x@intra.example\\@other.example/", "deny"),
    ("command_blacklist", "shred", "command", "doas shred f", "deny"),
    ("command_blacklist", "shred", "command", "\\shred f", "deny"),
    ("command_blacklist", "shred", "command", "bash -c 'shred f'", "deny"),
    ("command_blacklist", "shred", "command", "nice -n 5 shred f", "deny"),
    ("command_blacklist", "shred", "command", "stdbuf -oL timeout -s KILL 3 shred f", "deny"),
    ("command_blacklist", "shred", "command", "find d -name x -execdir shred {} +", "deny"),
    ("command_blacklist", "shred", "command", "\t\n", "allow"),
    ("command_blacklist", "shred", "command", ["shred", "f"], "deny"),
    ("command_ask_always", ">>,>:", "command", "ls >f", "deny"),
    ("command_ask_always", ">>", "command", "ls >> f", "deny"),
    ("glob", "/home/me/.keys/**", "p", "~/.keys/a", "approve"),
    ("glob", "/home/me/.keys/**", "p", "${HOME}/.keys/a", "approve"),
    ("glob", "/etc/hosts", "p", "file:///etc/hosts", "deny"),
    ("glob", "**/.token", "p", "d/.TOKEN", "approve"),
    ("glob", "**/.keys/**", "p", {"file": "/home/me/.keys/a"}, "deny"),
    ("glob", "d/[x", "p", "d/y", "approve"),
    ("glob", "/etc/**", "p", None, "approve"),
    ("glob", "/etc/**", "p", 7, "allow"),
    ("host", "intra.example", "u", None, "approve"),
    ("command_blacklist", "rm", "command", None, "approve"),
)


@pytest.mark.parametrize(("op", "value", "key", "given", "expected"), SAFER)
def test_where_contenox_is_unsafe_ours_is_not(op: str, value: str, key: str, given: Any, expected: str) -> None:
    """Spellings that evade its conditions are found, and what cannot be told is asked about."""
    assert expected == judged(envelope(denying(op, value, key)), **{key: given})


SAME: tuple[tuple[str, str, str, Any, str], ...] = (
    ("eq", "7", "k", 7, "deny"),
    ("eq", "7", "k", 7.0, "deny"),
    ("eq", "false", "k", False, "deny"),
    ("eq", "x", "k", ["y", "x"], "deny"),
    ("eq", "x", "k", "X", "allow"),
    ("eq", "", "k", "", "deny"),
    ("host", "example.org", "u", "https://a.b.example.org:8/x", "deny"),
    ("host", "example.org", "u", "https://example.org.evil.test/", "allow"),
    ("host", "*.example.org", "u", "https://example.org/", "allow"),
    ("host", " A.example , ,B.example", "u", "https://b.EXAMPLE", "deny"),
    ("host", "example.org", "u", "mailto:me@example.org", "allow"),
    ("glob", "*", "p", "a/b", "allow"),
    ("glob", "{a,b}/**", "p", "b", "deny"),
    ("command_blacklist", "rm", "command", "git rm x", "allow"),
    ("command_blacklist", "", "command", "rm", "allow"),
    ("command_blacklist", "rm", "command", 7, "allow"),
    ("no_command_substitution", "", "command", "echo ${X}", "allow"),
    ("no_command_substitution", "", "command", "echo '`x`'", "deny"),
)


@pytest.mark.parametrize(("op", "value", "key", "given", "expected"), SAME)
def test_where_contenox_is_safe_ours_is_the_same(op: str, value: str, key: str, given: Any, expected: str) -> None:
    """Texts are compared as texts, lists element by element, hosts with their subdomains."""
    assert expected == judged(envelope(denying(op, value, key)), **{key: given})


def test_a_condition_needs_the_argument_that_it_names() -> None:
    """An absent argument equals nothing; any other condition on it can't be told, so that the call asks."""
    assert "allow" == judged(envelope(denying("eq", "", "k")))
    assert "approve" == judged(envelope(denying("glob", "/etc/**", "path")), file="/etc/hosts")
    assert "approve" == judged(envelope(denying("command_blacklist", "rm", "command")), args=["rm", "x"])
    assert "deny" == judged(envelope(denying("command_blacklist", "rm", "args")), args=["rm", "x"])


PREFIXES = "git status,git log,ls,cat,wc"
CLEARED = (
    "git status",
    "ls -la d",
    "git log -3 | wc -l",
    "ls && git status || cat x",
    "cat 'a b' && ls",
    "/bin/ls",
    "ls *.c",
    "ls\ngit log",
)
NOT_CLEARED = (
    "git", "git stash", "lsof", "./ls", "ls; ls", "ls & ls", "(ls && ls)", "ls > f", "ls && ls > f",
    "X=1 ls && ls", "ls && cat $X", "ls && cat *.c", "ls |& wc", "! ls && ls", "ls $(x)",
    "env ls && ls", "ls\ncurl x", "ls && sh -c ls",
    "ls && ls `x`", "xargs ls", "cat 'a|b'",
    "cat <<E\nE", "if ls; then ls; fi", "ls && 'c'at\\ x", "eval ls && ls", "ls && {cat,x}", "ls && ~/x",
)  # fmt: skip


@pytest.mark.parametrize("line", CLEARED)
def test_a_prefix_list_clears_plain_lines(line: str) -> None:
    """Plain words, or plain commands joined by and, or and pipe, all of them listed."""
    assert "allow" == judged(
        envelope(denying("command_prefix_allowlist", PREFIXES, "command", "allow"), default="approve"),
        command=line,
    )


@pytest.mark.parametrize("line", NOT_CLEARED)
def test_a_prefix_list_clears_nothing_else(line: str) -> None:
    """Any other syntax, expansion, redirection or program asks."""
    assert "approve" == judged(
        envelope(denying("command_prefix_allowlist", PREFIXES, "command", "allow"), default="approve"),
        command=line,
    )


def test_a_prefix_list_and_separate_arguments() -> None:
    """An argument list is compared word by word; shell syntax in it, or a shell, asks."""
    policy = envelope(denying("command_prefix_allowlist", PREFIXES, "command", "allow"), default="approve")

    assert "allow" == judged(policy, command="git", args=["log", "-3"])
    assert "allow" == judged(policy, command="git", args="log -3")
    assert "approve" == judged(policy, command="git", args=["log", "; rm x"])
    assert "approve" == judged(policy, command="ls", args=["-l"], shell="yes")


def test_an_allow_by_host_is_for_that_host_only() -> None:
    """A bare name covers its subdomains to deny, and only itself to allow."""
    policy = envelope(denying("host", "example.org", "u", "allow"), default="approve")

    assert "allow" == judged(policy, u="https://example.org/")
    assert "approve" == judged(policy, u="https://a.example.org/")


def test_a_list_with_one_foreign_element_is_not_allowed() -> None:
    """Any element is enough to deny, all are needed to allow."""
    policy = envelope(denying("glob", "/d/**", "p", "allow"), default="approve")

    assert "allow" == judged(policy, p=["/d/a", "/d/b"])
    assert "approve" == judged(policy, p=["/d/a", "/etc/b"])


def test_names_are_globs_only_where_that_is_stricter() -> None:
    """``x_*`` matched no tool: a deny with it now does, an allow still does not; both are said."""
    deny = envelope({"tools": "g", "tool": "t*", "action": "deny"})
    allow = envelope({"tools": "g", "tool": "t*", "action": "allow"}, default="approve")

    assert "deny" == judged(deny)
    assert "approve" == judged(allow)
    assert 1 == len(deny.lint()) == len(allow.lint())


def test_empty_names_match_everything() -> None:
    """An empty or absent name, or a star, is any."""
    policy = envelope({"tools": "", "tool": "*", "action": "deny"})

    assert "deny" == policy.judge(PolicyCall("any", "thing", {})).action


def test_silence_is_never_an_approval() -> None:
    """``on_timeout: approve`` loads, is read as deny, and is reported; no deadline becomes the longest."""
    policy = envelope({"tools": "g", "action": "approve", "on_timeout": "approve", "timeout_s": 0})

    assert 7 * 24 * 3600 == policy.judge(PolicyCall("g", "t", {})).timeout_s
    assert [
        say("contenox.on_timeout"),
        say("contenox.deadline", value=0, high=604800),
    ] == [problem.message for problem in policy.lint()]


LOADS: tuple[dict[str, Any], ...] = (
    {},
    {"rules": None, "default_action": ""},
    {"defualt_action": "allow"},
    {"//note": "a comment", "rules": [{"tools": "x", "action": "deny", "//why": 1}]},
    {"rules": [{"tools": "x", "action": "deny", "tmeout": 5}]},
    {"Rules": [{"Action": "deny", "tools": "x"}]},
    {"rules": [{"tools": "x", "action": "deny"}, {"tools": "x", "action": "allow"}]},
    {"rules": [{"tools": "x", "action": "deny", "when": []}]},
    {"rules": [{"tools": "x", "action": "approve", "timeout_s": -1}]},
    {"rules": [{"tools": "x", "action": "approve", "timeout_s": 1}]},
    {
        "rules": [],
        "compute": {"maxToolCalls": 5, "maxTurns": 1, "onExhausted": "finish_stuck", "modelAllowlist": ["m"]},
    },
    {"rules": [], "attention": {"allowAgentAnswers": True, "maxAgentAnswers": 2}},
    {"version": 0, "rules": []},
    {"rules": [{"tools": "x", "action": "deny", "when": [{"key": "n", "op": "gt", "value": 5}]}]},
)


@pytest.mark.parametrize("document", LOADS)
def test_what_the_contenox_loads_loads(document: dict[str, Any]) -> None:
    """Odd keys, comments, absent parts and rules that never fire are no errors in its dialect."""
    assert "approve" == load(json.dumps(document), name="p").judge(PolicyCall("other", "t", {})).action


def test_keys_in_another_case_are_what_they_were() -> None:
    """Its reader takes keys in any case, so a deny written so still denies."""
    policy = load('{"Default_Action": "allow", "Rules": [{"Tools": "g", "ACTION": "deny"}]}', name="p")

    assert "deny" == judged(policy)


REFUSED: tuple[dict[str, Any], ...] = (
    {"default_action": "permit"},
    {"default_action": 5},
    {"version": 2},
    {"version": -1},
    {"rules": "x"},
    {"rules": [5]},
    {"rules": [{"tools": "x", "action": "permit"}]},
    {"rules": [{"tools": "x"}]},
    {"rules": [{"tools": 5, "action": "deny"}]},
    {"rules": [{"tools": ["x"], "action": "deny"}]},
    {"rules": [{"tools": "x", "action": "approve", "on_timeout": "allow"}]},
    {"rules": [{"tools": "x", "action": "approve", "on_timeout": "later"}]},
    {"rules": [{"tools": "x", "action": "approve", "timeout_s": -2}]},
    {"rules": [{"tools": "x", "action": "approve", "timeout_s": "5"}]},
    {"rules": [{"tools": "x", "action": "deny", "when": "x"}]},
    {"rules": [denying("regex", "x")]},
    {"rules": [denying("glob", "{a")]},
    {"rules": [denying("glob", "a}")]},
    {"rules": [denying("glob", "{a,b}" * 12)]},
    {"rules": [{"tools": "x", "action": "deny", "when": [{"key": "k", "op": "eq", "value": 5}]}]},
    {"compute": {"maxToolCalls": -1}},
    {"compute": {"maxTurns": 9}},
    {"compute": {"maxTurn": 1}},
    {"compute": {"onExhausted": "pause_ask"}},
    {"compute": {"modelAllowlist": [" "]}},
    {"compute": 5},
    {"attention": {"maxAgentAnswers": -1}},
    {"attention": {"allowAgentAnswers": 1}},
    {"forbid": []},
    {"risk": {}},
    {"trusted_binaries": {}},
)


@pytest.mark.parametrize("document", REFUSED)
def test_what_the_contenox_refuses_is_refused(document: dict[str, Any]) -> None:
    """And so is what would weaken if it were ignored: blocks that only our documents have, or that are not enforced."""
    with pytest.raises(PolicyInvalid):
        load(json.dumps(document), name="p")


def test_a_yaml_document_needs_a_version() -> None:
    """Only JSON is read as contenox's."""
    with pytest.raises(PolicyInvalid, match="version"):
        load("default_action: allow", name="p")
