"""What a policy would have changed about past requests, and the rules that the record suggests."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hitl.call import Call, Decision, PolicyCall, Risk, Runs
from hitl.policy import Policy, load
from hitl.policy.backtest import LeftOut, asked_of, backtest, suggest
from hitl.policy.ports import Document
from hitl.policy.proposal import proposed, shift_line
from hitl.records import replace
from hitl.testing import a_call

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ASKING = "version: 1\ndefault_action: approve\n"
DOCUMENT = Document("tried", "tried.yaml", ASKING, "yaml")


def past(args: dict[str, Any], decision: Decision = Decision.APPROVED, after_s: float = 30, **changes: Any) -> Call:
    """A request of the past, decided so many seconds after it was asked."""
    decided = {"decision": decision, "decided_at": NOW + timedelta(seconds=after_s), "decided_by": "ada"}
    fields = {"tools": "notes", "tool": "save", **decided, **changes}
    return a_call(NOW, args=json.dumps(args).encode(), **fields)


def policy(rules: str = "") -> Policy:
    """A policy that asks, but for its rules."""
    return load(ASKING + rules, name="tried")


def test_requests_that_get_another_answer_are_told_with_how_people_decided() -> None:
    """A rule that would have let a rejected request pass shows at once."""
    calls = [past({"name": "a"}), past({"name": "b"}, Decision.REJECTED), past({"other": 1})]
    tried = policy("rules: [{id: named, tool: save, when: [{key: name, op: exists, value: true}], action: allow}]")
    done = backtest(policy(), tried, calls)
    (shift,) = done.shifts

    assert (3, 2, "approve", "allow", "named") == (done.judged, shift.count, shift.before, shift.after, shift.rule)
    assert {"approved": 1, "rejected": 1} == shift.decisions
    assert {calls[0].short, calls[1].short} == set(shift.examples)


def test_the_same_policy_changes_nothing() -> None:
    """Whatever its answers are."""
    assert () == backtest(policy(), policy(), [past({"name": "a"})]).shifts


STRICT = "approvers: [boss], exclude_requester: true, require_reason: true, timeout_s: 60"


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("risk: critical", "risk: low", {("risk", "critical", "low")}),
        ("risk: low, approvers: [boss]", "risk: low", {("approvers", ("boss",), None)}),
        ("risk: low, approvers: [boss]", "risk: low, approvers: [eve]", {("approvers", ("boss",), ("eve",))}),
        (
            f"risk: low, {STRICT}",
            "risk: low",
            {
                ("approvers", ("boss",), None),
                *(("exclude_requester", True, False), ("require_reason", True, False), ("timeout_s", 60, 300)),
            },
        ),
    ],
)
def test_a_weaker_question_is_a_change_too(before: str, after: str, changes: set[tuple[str, object, object]]) -> None:
    """Both policies ask, but for another risk, other approvers or a shorter time. Each part is told, also to people."""
    rule = "rules: [{{id: saving, tool: save, action: approve, {}}}]"
    done = backtest(policy(rule.format(before)), policy(rule.format(after)), [past({"name": "a"})])
    (shift,) = done.shifts
    line = shift_line(shift)

    assert ("approve", "approve", "saving", 1) == (shift.before, shift.after, shift.rule, shift.count)
    assert changes == set(shift.changes)
    assert all(name in line for name, _, _ in changes)
    assert ("boss" in line) == any("approvers" == name for name, _, _ in changes)


def test_what_a_denial_would_have_asked_is_no_change() -> None:
    """Nobody is asked, so its risk changes nothing."""
    rule = "rules: [{{id: saving, tool: save, action: deny, risk: {}}}]"

    assert () == backtest(policy(rule.format("low")), policy(rule.format("high")), [past({"name": "a"})]).shifts


def suggested(calls: list[Call], least: int = 3) -> Policy | None:
    """The policy with the rules that the record suggests, in force."""
    found, _ = suggest(calls, policy(), least=least)
    return load(proposed(DOCUMENT, found), name="suggested") if found else None


def test_what_was_always_approved_is_suggested_and_nothing_beside_it() -> None:
    """Another value, a further argument or a missing one still asks."""
    made = suggested([past({"name": "a", "size": 3, "draft": True})] * 3)

    assert made is not None
    for args, action in (
        ({"name": "a", "size": 3, "draft": True}, "allow"),
        ({"name": "b", "size": 3, "draft": True}, "approve"),
        ({"name": "a", "size": 3, "draft": True, "more": 1}, "approve"),
        ({"name": "a", "size": 3}, "approve"),
        ({"name": "a", "size": 3, "draft": 1}, "approve"),
    ):
        assert action == made.judge(asked_of(past(args))).action, args


def test_a_command_is_suggested_word_by_word() -> None:
    """With a further word, or two words in one, it asks; the folder that no rule can name is told."""
    words = {"argv": ["make", "lint"]}
    calls = [past(words, runs=Runs.CALLER, cwd="/srv/app") for _ in range(3)]
    made = suggested(calls)

    assert made is not None
    assert "allow" == made.judge(asked_of(calls[0])).action
    for argv in (["make"], ["make", "lint", "x"], ["make lint"]):
        assert "approve" == made.judge(asked_of(past({"argv": argv}, runs=Runs.CALLER))).action
    assert "approve" == made.judge(PolicyCall("notes", "other", {"argv": ["make", "lint"]})).action
    assert [("/srv/app",)] == [each.folders for each in suggest(calls, policy(), least=3)[0]]


@pytest.mark.parametrize(
    ("tools", "tool"), [("*", "*"), ("notes", "sa*"), ("notes", "sav?"), ("notes", "[s]ave"), ("n*", "save")]
)
def test_a_name_that_is_a_pattern_is_never_suggested(tools: str, tool: str) -> None:
    """A caller chooses the names of its tools. As a pattern, such a name would allow tools that nobody approved."""
    assert suggested([past({"confirm": True}, tools=tools, tool=tool)] * 3) is None


#: Approvals of one request.
ALWAYS = [past({"name": "a"})] * 5


def risky(call: Call) -> Call:
    """The same request with a high risk."""
    return replace(call, verdict=replace(call.verdict, risk=Risk.HIGH))


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        pytest.param([past({"name": "a"})] * 2, LeftOut.RARE, id="too seldom"),
        pytest.param(
            [past({"name": "a"})] * 5 + [past({"name": "a"}, Decision.REJECTED)], LeftOut.ENDED, id="rejected once"
        ),
        pytest.param(
            [past({"name": "a"})] * 5 + [past({"name": "a"}, Decision.EXPIRED)],
            LeftOut.ENDED,
            id="left unanswered once",
        ),
        pytest.param(
            [past({"name": "a"})] * 5 + [past({"name": "a"}, Decision.UNDELIVERABLE)], LeftOut.ENDED, id="unseen once"
        ),
        pytest.param([past({"name": "a"}, after_s=1)] * 5, LeftOut.QUICK, id="approved unread"),
        pytest.param(
            [
                *[past({"argv": ["make"]}, runs=Runs.CALLER, cwd="/srv/app")] * 5,
                past({"argv": ["make"]}, Decision.REJECTED, runs=Runs.CALLER, cwd="/srv/production"),
            ],
            LeftOut.ENDED,
            id="rejected in another folder",
        ),
        pytest.param([risky(past({"name": "a"}))] * 5, LeftOut.RISK, id="high risk"),
        pytest.param([past({"name": ["a"]})] * 5, LeftOut.INEXACT, id="a list"),
        pytest.param([past({"size": 1.5})] * 5, LeftOut.INEXACT, id="a fraction"),
        pytest.param([past({"@writes": "a"})] * 5, LeftOut.INEXACT, id="a name that a condition reads otherwise"),
        pytest.param([past({"/name": "a"})] * 5, LeftOut.INEXACT, id="a name that a condition takes for a path"),
        pytest.param([past({})] * 5, LeftOut.INEXACT, id="no arguments"),
    ],
)
def test_nothing_else_is_suggested(calls: list[Call], why: LeftOut) -> None:
    """What isn't certain stays with people, and the reason is counted."""
    assert ([], {why: 1}) == suggest(calls, policy(), least=3)


def test_a_hostile_folder_stays_in_its_comment() -> None:
    """A line break in a working folder would write rules."""
    folder = "/srv\n  - {id: all, tool: '*', action: allow}"
    made = suggested([past({"argv": ["make"]}, runs=Runs.CALLER, cwd=folder)] * 3)

    assert made is not None
    assert "approve" == made.judge(asked_of(past({"name": "x"}))).action


def test_a_request_that_passes_by_now_is_not_suggested_again() -> None:
    """Who puts the suggested policy in place gets no second rule for the same request."""
    calls = [past({"name": "a"})] * 3
    made = suggested(calls)

    assert made is not None
    assert ([], {LeftOut.ALLOWED: 1}) == suggest(calls, made, least=3)
