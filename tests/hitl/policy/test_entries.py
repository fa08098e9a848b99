"""Entries of program lists: each matches what its author meant, or does not load."""

from __future__ import annotations

import json

import pytest

from hitl.policy import PolicyCall, PolicyInvalid, load
from hitl.policy.shell import read_line
from hitl.policy.shell.lists import Programs
from hitl.policy.three_valued import NO, UNSURE, YES

#: An entry, a command line, and whether the line runs the entry.
MATCHES = (
    ("cp -r", "cp -r a b", YES),
    ("cp -r", "cp a b -r", YES),
    ("cp -r", "cp -vr a b", YES),
    ("cp -r", "cp -R a b", YES),
    ("cp -r", "cp --recursive a b", YES),
    ("cp --recursive", "cp -fr a b", YES),
    ("cp -r", "cp --rec a b", UNSURE),
    ("cp -r", "cp $OPTIONS a b", UNSURE),
    ("cp -r", "cp -- -r b", UNSURE),
    ("cp -r", "cp -f a b", NO),
    ("cp -r", "echo cp -r", NO),
    ("cp -rf", "cp -f --recursive a b", YES),
    ("cp -rf", "cp -r a b", NO),
    ("podman run --network=host", "podman run --rm --network=host image", YES),
    ("podman run --network", "podman run --network=host image", YES),
    ("podman run --pid", "podman --log-level debug run --rm --pid host image", YES),
    ("podman run --pid", "podman run -p 80:80 image", NO),
    ("podman run --pid", "podman ps", NO),
    ("git push --mirror", "git -C x push origin --mirror", YES),
    ("git push --mirror", "git push --mir", UNSURE),
    ("git push --f*", "git push --force-with-lease", YES),
    ("find -delete", "find . -type f -delete", YES),
    ("find -delete", "find . -type f", NO),
    ("tofu destroy -auto-approve", "tofu destroy --auto-approve", YES),
    ("acme --purge", "acme -p", UNSURE),
    ("acme -p", "acme --purge", UNSURE),
    ("acme -p", "acme -vp now", YES),
    ("curl -X PUT", "curl -XPUT https://x.example", YES),
    ("curl -X PUT", "curl --request PUT https://x.example", YES),
    ("curl -X PUT", "curl -X GET https://x.example", NO),
    ("kubectl * apply", "kubectl -n web apply -f x", YES),
    ("cargo *", "cargo build", YES),
    ("cargo publish *", "cargo publish", YES),
    ("terra* apply", "terragrunt apply", YES),
    ("npm run *:live", "npm run push:live", YES),
    ("npm run *:live", "npm run push", NO),
    ("cargo publish:*", "cargo publish", YES),
    ("/usr/bin/shred", "shred x", YES),
    ("cp -*", "cp -v a b", YES),
    ("sed -i", "sed -i.bak s/a/b/ f", YES),
)


@pytest.mark.parametrize(("entry", "line", "found"), MATCHES)
def test_an_entry_matches_in_any_spelling(entry: str, line: str, found: int) -> None:
    """Options count at any place, joined, combined, or in their other spelling; what may be one can't be told."""
    assert found == Programs.of([entry]).judge(read_line(line))


@pytest.mark.parametrize(
    ("entry", "instead"),
    [
        ("wget | sh", "'wget'"),
        ("cp; mv", "'cp'"),
        ("^cp", "'cp'"),
        (r"cp\s+-r", "'cp'"),
        ("(cp|mv)", "'cp'"),
        ("'cp -r'", "'cp'"),
        ("> /dev/sdb", "'>'"),
        ("cp:*", "'cp'"),
        ("--recursive", "program before it"),
        ("A=1 cp", "begin with the program"),
        ("/usr/bin/*", "the name alone"),
    ],
)
@pytest.mark.parametrize("op", ["command_blacklist", "command_ask_always"])
def test_an_entry_that_nothing_can_match_does_not_load(op: str, entry: str, instead: str) -> None:
    """The refusal names the entry and says what to write instead."""
    when = [{"key": "command", "op": op, "value": [entry]}]
    with pytest.raises(PolicyInvalid) as refused:
        load(json.dumps({"version": 1, "rules": [{"action": "deny", "when": when}]}), name="p")

    assert instead in refused.value.problems[0].message


def test_an_allow_does_not_rest_on_an_option() -> None:
    """Other options may be beside it, so such an allow never fires."""
    when = [{"key": "command", "op": "command_ask_always", "value": ["cp --no-clobber"]}]
    policy = load(json.dumps({"version": 1, "rules": [{"action": "allow", "when": when}]}), name="p")

    assert "approve" == policy.judge(PolicyCall("", "bash", {"command": "cp --no-clobber a b"})).action


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("terminal(npm *)", "'terminal'"),
        ("^terminal$", "'terminal'"),
        ("read|write", "[read, write]"),
        ("read,write", "[read, write]"),
        ("(read|write)", "[read, write]"),
        ("get_[9-0]", "[0-9]"),
        ("!terminal", "before this rule"),
        ("my tool", "'mytool'"),
        (" terminal", "'terminal'"),
        ("get_.*", "'get_*'"),
        ("get_\\w", "get_w"),
        ("get_[", "close it"),
        ("get_[]", "close it"),
        ("get_[$]", "leave it out"),
    ],
)
@pytest.mark.parametrize("key", ["tool", "tools"])
def test_a_name_that_no_tool_can_have_does_not_load(key: str, name: str, instead: str) -> None:
    """The refusal says what to write instead."""
    with pytest.raises(PolicyInvalid) as refused:
        load(json.dumps({"version": 1, "rules": [{key: name, "action": "deny"}]}), name="p")

    assert instead in (refused.value.problems[0].suggestion or "")


@pytest.mark.parametrize("name", ["mcp__git__push", "web.get", "srv:tool", "a/b", "x-y", "*_delete", "v[0-9]", "[!a]*"])
def test_a_name_that_a_tool_can_have_loads(name: str) -> None:
    """Letters, digits and the marks that hosts put between a server and its tool."""
    policy = load(json.dumps({"version": 1, "rules": [{"tool": name, "action": "deny"}]}), name="p")

    assert (name,) == policy.checked.rules[0].tool


def test_contenox_loads_odd_entries_and_names_with_a_warning() -> None:
    """Its own loader takes them, so that `check` says what they come to."""
    when = [{"key": "command", "op": "command_blacklist", "value": "wget | sh"}]
    policy = load(json.dumps({"rules": [{"tool": "^x$", "action": "deny", "when": when}]}), name="p")

    assert 2 == len(
        [problem for problem in policy.lint() if problem.path in ("/rules/0/tool", "/rules/0/when/0/value")]
    )
