"""What each operator answers, to tighten and to loosen."""

import json
from typing import Any

import pytest

from hitl.policy import PolicyCall, load

TIGHT = {"yes": "deny", "unsure": "approve", "no": "allow"}

# operator, value, argument (... is absent), answer to tighten, answer to loosen
ANSWERS: tuple[tuple[str, Any, Any, str, str], ...] = (
    ("eq", "a", "a", "yes", "yes"),
    ("eq", "a", "A", "unsure", "unsure"),
    ("eq", "a", " a ", "unsure", "unsure"),
    ("eq", "a", "b", "no", "no"),
    ("eq", "a", 5, "unsure", "no"),
    ("eq", "a", None, "unsure", "no"),
    ("eq", "a", ..., "unsure", "no"),
    ("eq", "", "", "yes", "yes"),
    ("eq", 5, 5, "yes", "yes"),
    ("eq", 5, 5.0, "yes", "yes"),
    ("eq", 5, "5", "yes", "unsure"),
    ("eq", "5", 5, "yes", "unsure"),
    ("eq", "true", True, "yes", "unsure"),
    ("eq", True, True, "yes", "yes"),
    ("eq", True, 1, "unsure", "no"),
    ("eq", True, False, "no", "no"),
    ("eq", True, "TRUE", "yes", "unsure"),
    ("eq", True, "false", "no", "no"),
    ("eq", 1, True, "unsure", "no"),
    ("eq", 70000, "7e4", "yes", "unsure"),
    ("eq", 70000, " 70000 ", "yes", "unsure"),
    ("eq", 70000, "70_000", "unsure", "no"),
    ("eq", 70000, "70,000", "unsure", "no"),
    ("eq", 70000, float("nan"), "unsure", "no"),
    ("eq", 70000, 69999, "no", "no"),
    ("eq", None, None, "yes", "yes"),
    ("eq", None, ..., "unsure", "no"),
    ("eq", "a", ["b", "a"], "yes", "no"),
    ("eq", "a", ["a", "a"], "yes", "yes"),
    ("eq", "a", [], "unsure", "no"),
    ("eq", "a", {"x": "a"}, "yes", "unsure"),
    ("eq", "a", {"x": "b"}, "unsure", "unsure"),
    ("eq", "a", [{"x": "a"}], "yes", "unsure"),
    ("eq", "a", ["a", {"x": "b"}], "yes", "unsure"),
    ("ne", "a", "b", "yes", "yes"),
    ("ne", "a", "a", "no", "no"),
    ("ne", "a", ..., "unsure", "no"),
    ("ne", 70000, "70_000", "yes", "unsure"),
    ("ne", 70000, None, "yes", "unsure"),
    ("ne", "a", ["a", "b"], "yes", "no"),
    ("ne", 5, "5", "unsure", "no"),
    ("in", ["a", 5], "a", "yes", "yes"),
    ("in", ["a", 5], 5, "yes", "yes"),
    ("in", ["a", 5], "b", "no", "no"),
    ("in", ["a", 5], "A", "unsure", "unsure"),
    ("in", ["a", "b"], 5, "unsure", "no"),
    ("in", [5, 6], "5_0", "unsure", "no"),
    ("in", [5, 6], "6e0", "yes", "unsure"),
    ("in", ["a", 5], None, "unsure", "no"),
    ("in", ["a", 5], ..., "unsure", "no"),
    ("in", "a, b", "b", "yes", "yes"),
    ("matches", "b+", "abbc", "yes", "yes"),
    ("matches", "^b", "ab", "no", "no"),
    ("matches", "(?i)B", "ab", "yes", "yes"),
    ("matches", "^12$", 12, "yes", "yes"),
    ("matches", "é", "café", "yes", "yes"),
    ("matches", "b", ["a", "b"], "yes", "no"),
    ("matches", "b", None, "unsure", "no"),
    ("matches", "b", True, "unsure", "no"),
    ("matches", "b", float("nan"), "unsure", "no"),
    ("matches", ".", None, "yes", "unsure"),
    ("matches", "b", ..., "unsure", "no"),
    ("lt", 10, 9, "yes", "yes"),
    ("lt", 10, 10, "no", "no"),
    ("le", 10, 10, "yes", "yes"),
    ("gt", 0.3, 0.1 + 0.2, "yes", "yes"),
    ("ge", "0.1", 0.1, "yes", "yes"),
    ("gt", 10, "11", "yes", "yes"),
    ("gt", 9007199254740992, 9007199254740993, "yes", "yes"),
    ("gt", 10, "many", "unsure", "unsure"),
    ("gt", 10, True, "unsure", "unsure"),
    ("gt", 10, None, "unsure", "unsure"),
    ("gt", 10, ..., "unsure", "no"),
    ("gt", 10, "1_1", "unsure", "unsure"),
    ("gt", 10, float("nan"), "unsure", "unsure"),
    ("gt", 10, [], "unsure", "no"),
    ("gt", 10, {"value": 11}, "yes", "unsure"),
    ("gt", 10, {"value": 9}, "unsure", "unsure"),
    ("exists", True, None, "yes", "yes"),
    ("exists", True, ..., "no", "no"),
    ("exists", False, ..., "yes", "yes"),
    ("size", 2, "ab", "yes", "yes"),
    ("size", {"gt": 2}, [1, 2, 3], "yes", "yes"),
    ("size", {"ge": 1, "lt": 3}, {"a": 1}, "yes", "yes"),
    ("size", {"gt": 2}, 5, "unsure", "unsure"),
    ("size", {"gt": 2}, ..., "unsure", "no"),
    ("glob", "/d/**", "/d/x", "yes", "yes"),
    ("glob", "/d/**", "/e/x", "no", "no"),
    ("glob", "/d/**", ["/d/x", "/e/y"], "yes", "no"),
    ("glob", "/d/**", {"path": "/d/x"}, "yes", "unsure"),
    ("glob", "/d/**", {"path": "/e/x"}, "unsure", "unsure"),
    ("glob", "/d/**", [{"path": "/d/x"}], "yes", "unsure"),
    ("glob", "/d/**", [["/d/x"], "/d/y"], "yes", "yes"),
    ("glob", "/d/**", [["/d/x", "/e/x"]], "yes", "no"),
    ("glob", "/d/**", ["/d/x", []], "yes", "no"),
    ("glob", "/d/**", None, "unsure", "no"),
    ("glob", "/d/**", 7, "unsure", "no"),
    ("glob", "/d/**", ..., "unsure", "no"),
    ("glob", ["/d/*", "/e/*"], "/e/x", "yes", "yes"),
    ("glob", "/d/**", "/d/" + "x" * 5000, "unsure", "unsure"),
    ("host", "example.org", "https://example.org/", "yes", "yes"),
    ("host", "example.org", "https://a.example.org/", "yes", "unsure"),
    ("host", "example.org", "https://u@example.org/", "yes", "unsure"),
    ("host", "example.org", "example.org", "yes", "unsure"),
    ("host", "example.org", "https://other.org/", "no", "no"),
    ("host", "example.org", "http://exa mple.org/", "unsure", "unsure"),
    ("host", "example.org", "", "no", "no"),
    ("host", "example.org", None, "unsure", "no"),
    ("host", "example.org", ..., "unsure", "no"),
    ("host_class", "loopback", None, "unsure", "no"),
    ("url_port", 443, None, "unsure", "no"),
    ("host", "example.org", "git@example.org:a/b", "unsure", "unsure"),
    ("host", "example.org", "jdbc:mysql://example.org/d", "unsure", "unsure"),
    ("host", "*.example.org", "a.example.org:a/b", "unsure", "unsure"),
    ("host", "example.org", "git@other.org:a/b", "no", "no"),
    ("host", "example.org", "mailto:me@example.org", "no", "no"),
    ("host", "10.0.0.0/8", "http://[64:ff9b::10.1.1.1]/", "yes", "unsure"),
    ("host", "127.0.0.2", "http://0x7f000002/", "yes", "yes"),
    ("host_class", "loopback,private", "http://127.3/", "yes", "yes"),
    ("host_class", "public", "http://8.8.8.8/", "yes", "yes"),
    ("host_class", "public", "https://example.org/", "no", "unsure"),
    ("host_class", "public", "http://[64:ff9b::a00:1]/", "no", "no"),
    ("host_class", "ambiguous", "http:/x/", "yes", "yes"),
    ("url_scheme", "https", "HTTPS://x.org/", "yes", "yes"),
    ("url_scheme", ["http", "https"], "ftp://x.org/", "no", "no"),
    ("url_scheme", "https", "https:/x.org/", "yes", "unsure"),
    ("url_port", [443, 8443], "https://x.org/", "yes", "yes"),
    ("url_port", 443, "https://x.org:444/", "no", "no"),
    ("command_blacklist", "rm", "ls; rm x", "yes", "yes"),
    ("command_blacklist", "rm", "ls", "no", "no"),
    ("command_blacklist", "rm", "$X", "unsure", "unsure"),
    ("command_blacklist", "rm", ["rm", "x"], "yes", "yes"),
    ("command_blacklist", "rm", {"a": "rm"}, "unsure", "unsure"),
    ("command_blacklist", "rm", None, "unsure", "unsure"),
    ("command_blacklist", "rm", ["ls", None], "unsure", "unsure"),
    ("command_blacklist", "rm", ["rm", None], "yes", "unsure"),
    ("command_blacklist", "rm", ..., "unsure", "no"),
    ("command_blacklist", "rm -r", "rm -fr x", "yes", "unsure"),
    ("command_ask_always", ["git push"], "git -C d push", "yes", "yes"),
    ("command_ask_always", ["git push"], "git push; sh x", "yes", "unsure"),
    ("command_blacklist", "ls", "ls; sh x", "yes", "unsure"),
    ("command_resolvable", True, "ls | wc", "yes", "yes"),
    ("command_resolvable", True, "sh x.sh", "no", "no"),
    ("command_resolvable", False, "sh x.sh", "yes", "yes"),
    ("command_resolvable", True, "", "no", "no"),
    ("command_prefix_allowlist", "git log, ls", "git log -3", "yes", "yes"),
    ("command_prefix_allowlist", "git log, ls", "git log && ls", "yes", "yes"),
    ("command_prefix_allowlist", "git log, grep", "grep -n 'a|b;c' f", "yes", "yes"),
    ("command_prefix_allowlist", "git log, grep", "grep 'a|b' f; rm x", "no", "no"),
    ("command_prefix_allowlist", "git log, grep", "", "no", "no"),
    ("command_prefix_allowlist", "git log, ls", "git logs", "no", "no"),
    ("command_prefix_allowlist", "git log, ls", "git log > f", "no", "no"),
    ("command_prefix_allowlist", "git log, ls", "ls; curl x", "no", "no"),
    ("command_prefix_allowlist", "env", "env rm x", "no", "no"),
    ("no_command_substitution", None, "echo $(x)", "yes", "yes"),
    ("no_command_substitution", None, "echo x", "no", "no"),
)


def outcome(op: str, value: Any, given: Any, action: str, *, negated: bool = False) -> str:
    """What a document of one rule says of an argument."""
    condition: dict[str, Any] = {
        "key": "command" if op.startswith(("command", "no_command")) else "k",
        "op": op,
    }
    if value is not None or op == "eq":
        condition["value"] = value
    when = [{"not": condition}] if negated else [condition]
    rule = {"tool": "t", "action": action, "when": when}
    document = {"version": 1, "default_action": "allow" if action == "deny" else "deny", "rules": [rule]}
    args = {} if given is ... else {condition["key"]: given}
    return load(json.dumps(document), name="p").judge(PolicyCall("", "t", args)).action


@pytest.mark.parametrize(("op", "value", "given", "tight", "_loose"), ANSWERS)
def test_answers_to_tighten(op: str, value: Any, given: Any, tight: str, _loose: str) -> None:
    """A deny fires where its condition holds, and becomes an ask where that cannot be told."""
    assert TIGHT[tight] == outcome(op, value, given, "deny")


@pytest.mark.parametrize(("op", "value", "given", "_tight", "loose"), ANSWERS)
def test_answers_to_loosen(op: str, value: Any, given: Any, _tight: str, loose: str) -> None:
    """An allow fires only where its condition holds for certain."""
    assert ("allow" if loose == "yes" else "deny") == outcome(op, value, given, "allow")


@pytest.mark.parametrize(("op", "value", "given", "tight", "loose"), ANSWERS)
def test_not_is_the_opposite_with_the_uses_swapped(op: str, value: Any, given: Any, tight: str, loose: str) -> None:
    """Under ``not`` a deny uses the loosening reading, an allow the tightening one; what is absent allows nothing."""
    opposite = {"yes": "no", "no": "yes", "unsure": "unsure"}
    absent = (given is ... or given == []) and op != "exists"

    assert TIGHT[opposite[loose]] == outcome(op, value, given, "deny", negated=True)
    assert ("allow" if tight == "no" and not absent else "deny") == outcome(op, value, given, "allow", negated=True)


def judge(document: dict[str, Any], call: PolicyCall) -> str:
    """The action that a document gives a call."""
    return load(json.dumps({"version": 1, **document}), name="p").judge(call).action


def test_a_pointer_reaches_into_objects_and_lists() -> None:
    """A key that begins with a slash is a JSON pointer."""
    document = {
        "default_action": "allow",
        "rules": [{"action": "deny", "when": [{"key": "/a/1/x~1y", "op": "eq", "value": 5}]}],
    }

    assert "deny" == judge(document, PolicyCall("", "t", {"a": [0, {"x/y": 5}]}))
    assert "allow" == judge(document, PolicyCall("", "t", {"a": [0, {"x/y": 6}]}))
    assert "approve" == judge(document, PolicyCall("", "t", {"a": [0]}))
    assert "approve" == judge(document, PolicyCall("", "t", {"/a/1/x~1y": 5}))


def test_a_star_stands_for_every_value() -> None:
    """The key ``*`` looks at every value at any depth, names of arguments included."""
    document = {
        "default_action": "allow",
        "rules": [{"action": "deny", "when": [{"key": "*", "op": "glob", "value": "**/.key"}]}],
    }

    assert "deny" == judge(document, PolicyCall("", "t", {"anything": {"deep": ["x", "/a/.key"]}}))
    assert "deny" == judge(document, PolicyCall("", "t", {"/a/.key": 1}))
    assert "allow" == judge(document, PolicyCall("", "t", {"text": "the .key of\nsuccess" * 500}))


ANNOTATIONS: tuple[tuple[dict[str, Any] | None, bool, str, str], ...] = (
    (None, True, "deny", "deny"),
    ({}, True, "deny", "deny"),
    ({"destructiveHint": True}, True, "deny", "deny"),
    ({"destructiveHint": False}, True, "allow", "allow"),
    ({"destructiveHint": False}, False, "deny", "deny"),
    ({"destructiveHint": "no"}, True, "deny", "deny"),
)


@pytest.mark.parametrize(("annotations", "trusted", "tight", "loose"), ANNOTATIONS)
def test_a_missing_hint_counts_as_destructive(
    annotations: dict[str, Any] | None, trusted: bool, tight: str, loose: str
) -> None:
    """Hints are taken at their worst unless a trusted server gives them."""
    call = PolicyCall("", "t", {}, annotations=annotations, trusted_annotations=trusted)
    deny = {
        "default_action": "allow",
        "rules": [{"action": "deny", "when": [{"op": "annotation", "key": "destructiveHint", "value": True}]}],
    }
    allow = {
        "default_action": "deny",
        "rules": [{"action": "allow", "when": [{"op": "annotation", "key": "destructiveHint", "value": False}]}],
    }

    assert tight == judge(deny, call)
    assert loose == judge(allow, call)


def test_an_untrusted_hint_still_tightens() -> None:
    """What an untrusted server says against itself is believed."""
    document = {
        "default_action": "allow",
        "rules": [{"action": "deny", "when": [{"op": "annotation", "key": "readOnlyHint", "value": False}]}],
    }

    assert "deny" == judge(document, PolicyCall("", "t", {}, annotations={"readOnlyHint": True}))
    assert "allow" == judge(
        document, PolicyCall("", "t", {}, annotations={"readOnlyHint": True}, trusted_annotations=True)
    )


def test_a_destructive_set_is_exact_or_part_of_the_name() -> None:
    """Destructive sets: the whole name, or any part of it."""
    exact = {
        "default_action": "allow",
        "rules": [{"action": "approve", "when": [{"op": "destructive_set", "value": ["refund"]}]}],
    }
    part = {
        "default_action": "allow",
        "rules": [
            {
                "action": "approve",
                "when": [{"op": "destructive_set", "value": ["refund"], "match": "substring"}],
            }
        ],
    }

    assert [
        "approve",
        "approve",
        "allow",
    ] == [judge(exact, PolicyCall("", tool, {})) for tool in ("refund", "Refund", "refunds")]
    assert [
        "approve",
        "approve",
        "allow",
    ] == [judge(part, PolicyCall("", tool, {})) for tool in ("refunds", "bulkREFUND", "fund")]


class Addresses:
    """Name resolution, for tests."""

    def __init__(self, answers: dict[str, list[str] | None]) -> None:
        self.answers = answers

    def resolve(self, host: str) -> list[str] | None:
        """The addresses of a host."""
        return self.answers.get(host)


def test_addresses_are_judged_at_the_moment_of_the_call() -> None:
    """With a resolver, a name with a private address is denied, and one that cannot be resolved is asked about."""
    text = json.dumps(
        {
            "version": 1,
            "default_action": "allow",
            "rules": [{"action": "deny", "when": [{"key": "u", "op": "host_class", "value": "private"}]}],
        }
    )
    policy = load(
        text,
        name="p",
        resolver=Addresses({"in.example": ["8.8.8.8", "10.0.0.1"], "out.example": ["8.8.8.8"]}),
    )

    def judged(url: str) -> str:
        return policy.judge(PolicyCall("", "t", {"u": url})).action

    assert "deny" == judged("https://in.example/")
    assert "allow" == judged("https://out.example/")
    assert "approve" == judged("https://gone.example/")
    assert "allow" == load(text, name="p").judge(PolicyCall("", "t", {"u": "https://in.example/"})).action


def test_a_program_and_its_arguments_may_come_apart() -> None:
    """``command`` with ``args`` is read as started without a shell, and as a shell would if one is asked for."""
    document = {
        "default_action": "allow",
        "rules": [{"action": "deny", "when": [{"key": "command", "op": "command_blacklist", "value": "rm"}]}],
    }

    assert "deny" == judge(document, PolicyCall("", "t", {"command": "rm", "args": ["x"]}))
    assert "deny" == judge(document, PolicyCall("", "t", {"command": "env", "args": "rm x"}))
    assert "deny" == judge(document, PolicyCall("", "t", {"command": "ls", "args": ["&&", "rm"], "shell": True}))
    assert "allow" == judge(document, PolicyCall("", "t", {"command": "echo", "args": ["rm"]}))


def test_conditions_on_a_nested_command() -> None:
    """A pointer may name the command."""
    document = {
        "default_action": "allow",
        "rules": [{"action": "deny", "when": [{"key": "/run/line", "op": "command_blacklist", "value": "rm"}]}],
    }

    assert "deny" == judge(document, PolicyCall("", "t", {"run": {"line": "sh -c 'rm x'"}}))


@pytest.mark.parametrize(("pattern", "path"), [("**/se\\-cret", "/a/se-cret"), ("**/[\\]a]-key", "/a/]-key")])
@pytest.mark.parametrize("key", ["*", "path"])
def test_an_escaped_letter_of_a_glob_is_found(key: str, pattern: str, path: str) -> None:
    """A backslash before a letter of a glob stands for that letter, whichever values the condition looks at."""
    rules = [{"action": "deny", "when": [{"key": key, "op": "glob", "value": [pattern, "/other/**"]}]}]
    policy = load(json.dumps({"version": 1, "default_action": "allow", "rules": rules}), name="p")

    assert "deny" == policy.judge(PolicyCall("", "t", {"path": path})).action
