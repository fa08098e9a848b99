"""Batches: a row in, an answer out."""

from typing import Any

import pytest

from hitl.policy import evaluate_row

LISTED = {"key": "command", "op": "command_blacklist", "value": "rm"}


def test_a_row_is_judged() -> None:
    """The answer names the action, the rule and what was found."""
    rule = {"id": "d", "tool": "bash", "action": "deny", "when": [LISTED]}
    row = {"id": "r1", "policy": {"version": 1, "rules": [rule]}, "tools": "shell", "tool": "bash", "cwd": "/"}
    answer = evaluate_row({**row, "args": {"command": "sudo rm x"}})

    assert (
        answer["id"], answer["action"], answer["rule"], answer["refused"], answer["reason"], answer["programs"],
    ) == ("r1", "deny", "d", False, "matched_rule", ["sudo", "rm"])  # fmt: skip


def test_a_refused_document_denies_and_says_why() -> None:
    """Nothing is allowed by a document that must not load."""
    answer = evaluate_row({"id": 7, "policy": {"version": 9}, "tools": "g", "tool": "t", "args": {}})

    assert (
        answer["id"],
        answer["action"],
        answer["rule"],
        answer["refused"],
        answer["reason"],
    ) == (7, "deny", None, True, "policy_error")
    assert ["line 1: /version: the version 9 is not known (write 'version: 1')"] == answer["problems"]


def test_a_document_may_be_text() -> None:
    """Text is loaded as JSON; the name of the built-in fallback asks about everything."""
    row = {"tools": "g", "tool": "t", "args": None}

    assert evaluate_row({**row, "policy": "{"})["refused"]
    assert "deny" == evaluate_row({**row, "policy": '{"default_action": "deny"}'})["action"]
    assert "approve" == evaluate_row({**row, "policy": "BUILTIN_FALLBACK"})["action"]


@pytest.mark.parametrize("args", [[], [1], "", "x", 5, False, [{"path": "x"}]])
def test_arguments_that_are_no_object_are_denied(args: Any) -> None:
    """Without them it would be another call, which might be allowed."""
    answer = evaluate_row({"id": 1, "policy": {"default_action": "allow"}, "tools": "g", "tool": "t", "args": args})

    assert ("deny", False, "policy_error") == (answer["action"], answer["refused"], answer["reason"])


@pytest.mark.parametrize("args", [None, {}])
def test_no_arguments_are_an_empty_object(args: Any) -> None:
    """They may be left out as well."""
    answer = evaluate_row({"id": 1, "policy": {"default_action": "allow"}, "tools": "g", "tool": "t", "args": args})

    assert "allow" == answer["action"]
