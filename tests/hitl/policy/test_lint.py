"""What `check` says of documents that load and probably don't mean what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl.outcomes import Because, because
from hitl.policy import PolicyCall, load
from hitl.policy.wording import say

DENY = {"id": "much", "tool": "order", "action": "deny", "when": [{"key": "count", "op": "gt", "value": 10}]}


def said(*rules: dict[str, Any], **more: Any) -> list[str]:
    """The warnings about a document."""
    return [
        problem.message for problem in load(json.dumps({"version": 1, "rules": list(rules), **more}), name="p").lint()
    ]


def test_an_allow_behind_a_deny_needs_the_argument_of_the_deny() -> None:
    """Without it the deny can't be told, so the allow doesn't pass what its author expects."""
    allow = {"id": "few", "tool": "order", "action": "allow"}
    needs = {**allow, "when": [{"key": "count", "op": "exists", "value": True}]}
    forbid = {key: value for key, value in DENY.items() if key != "action"}

    untold = say("lint.untold", key="'count'", rule="much")
    assert [f"few {untold}"] == said(DENY, allow)
    assert 1 == len(said(allow, forbid=[forbid]))
    assert [] == said(DENY, needs)
    assert [] == said(DENY, {**allow, "tool": "look"})


@pytest.mark.parametrize("name", ["drop_table", "sendMail", "bash", "listed"])
def test_a_group_that_looks_like_a_tool_is_named(name: str) -> None:
    """`tools` is the group: a verb and a noun, a tool's well-known word, or what other rules call a tool."""
    other = {"tool": "listed", "action": "approve"}

    assert [f"'{name}'" in text for text in said(other, {"tools": name, "action": "deny"})] == [True]


@pytest.mark.parametrize("name", ["filesystem", "web", "github", "shell", "local_fs"])
def test_a_group_is_not_named(name: str) -> None:
    """Groups are nouns."""
    assert [] == said({"tools": name, "action": "deny"})


@pytest.mark.parametrize(("key", "pointer"), [("args.count", "/args/count"), ("$.count", "/count"), ("a[0]", "/a/0")])
def test_a_key_with_dots_is_one_name(key: str, pointer: str) -> None:
    """The warning says how to reach inside."""
    rule = {"tool": "x", "action": "deny", "when": [{"key": key, "op": "eq", "value": 1}]}
    problems = load(json.dumps({"version": 1, "rules": [rule]}), name="p").lint()

    assert [True] == [repr(pointer) in (problem.suggestion or "") for problem in problems]


def test_a_denial_by_default_says_so() -> None:
    """Not that the tool is unknown, which decided nothing."""
    whole = load("version: 1\ndefault_action: deny", name="p").judge(PolicyCall("", "odd_thing", {}))
    level = load("version: 1\nrisk: {high: {action: deny}}", name="p").judge(PolicyCall("", "odd_thing", {}))

    assert because(Because.NO_RULE) == whole.message
    assert because(Because.NO_RULE_LEVEL, "high") == level.message


@pytest.mark.parametrize(
    ("rule", "called"), [({"id": "orders"}, (Because.RULE_ID, "'orders'")), ({}, (Because.RULE_LINE, 1))]
)
def test_a_rule_with_a_risk_is_named_in_words_of_the_document(rule: dict[str, Any], called: tuple[Any, ...]) -> None:
    """By its id, else by where it is, with the risk that it states."""
    document = {"version": 1, "rules": [{**rule, "tool": "x", "action": "approve", "risk": "high"}]}
    verdict = load(json.dumps(document), name="p").judge(PolicyCall("", "x", {}))

    assert because(Because.RATED, called, "high") == verdict.why


def test_a_doubt_about_a_critical_rule_is_critical() -> None:
    """A call that may be one of the rule's is asked about as one of them."""
    rule = {"id": "much", "tool": "get_x", "action": "deny", "risk": "critical"}
    document = {"version": 1, "rules": [{**rule, "when": [{"key": "n", "op": "gt", "value": 5}]}]}
    verdict = load(json.dumps(document), name="p").judge(PolicyCall("", "get_x", {"n": "many"}))

    assert ("approve", "critical", "much") == (verdict.action, verdict.risk, verdict.rule)
