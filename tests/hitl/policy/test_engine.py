"""In which order rules are tried, and what their answers come to."""

import json
from collections.abc import Callable
from typing import Any

from hitl.outcomes import Because, because
from hitl.policy import PolicyCall, Verdict, load

RUNS_RM = {"key": "command", "op": "command_blacklist", "value": "rm"}
HAS_Q = {"key": "q", "op": "exists", "value": True}
UNTOLD = {"key": "n", "op": "gt", "value": 5}  # cannot be told of a text


def judge(document: dict[str, Any], **args: Any) -> Verdict:
    """The verdict of a document on a call of one tool."""
    return load(json.dumps({"version": 1, **document}), name="p").judge(PolicyCall("g", "t", args))


def test_nothing_said_means_ask() -> None:
    """An empty document asks about every call."""
    verdict = judge({})

    assert (
        verdict.action, verdict.rule, verdict.reason, verdict.timeout_s, verdict.execution_s,
    ) == ("approve", None, "default_action", 300, 30)  # fmt: skip


def test_the_first_rule_that_holds_decides() -> None:
    """Later rules do not matter, however narrow."""
    document = {
        "rules": [
            {
                "id": "a",
                "tool": "t*",
                "action": "approve",
                "when": [{"key": "k", "op": "exists", "value": True}],
            },
            {"id": "b", "tool": "t", "action": "deny"},
        ]
    }

    assert (judge(document, k=1).action, judge(document, k=1).rule) == ("approve", "a")
    assert (judge(document).action, judge(document).rule) == ("deny", "b")


def test_forbid_comes_before_everything() -> None:
    """A forbidden call is denied, whatever the rules and the default say."""
    document = {
        "default_action": "allow",
        "forbid": [{"id": "f", "when": [{"key": "k", "op": "eq", "value": "x"}], "message": "closed"}],
        "rules": [{"action": "allow", "when": [{"key": "k", "op": "exists", "value": True}]}],
    }

    verdict = judge(document, k="x")
    assert (
        verdict.action,
        verdict.rule,
        verdict.reason,
        verdict.message,
    ) == ("deny", "f", "forbidden", "closed")
    assert "allow" == judge(document, k="y").action


def test_a_deny_that_cannot_tell_becomes_an_ask() -> None:
    """Neither a later allow nor an allowing default lets such a call pass; a later deny still denies."""
    deny = {"id": "d", "tool": "t", "action": "deny", "when": [UNTOLD]}

    alone = judge({"default_action": "allow", "rules": [deny]}, n="x")
    assert (alone.action, alone.rule, alone.reason) == ("approve", "d", "matched_rule")
    assert "'d'" in (alone.message or "")
    assert (
        "approve" == judge({"default_action": "deny", "rules": [deny, {"tool": "t*", "action": "allow"}]}, n="x").action
    )
    assert "deny" == judge({"rules": [deny, {"tool": "t*", "action": "deny"}]}, n="x").action
    assert "deny" == judge({"default_action": "deny", "rules": [deny]}, n="x").action
    assert "approve" == judge({"default_action": "allow", "forbid": [{"id": "d", "when": [UNTOLD]}]}, n="x").action


def test_a_denial_without_a_message_names_its_rule() -> None:
    """The message is the rule's own if it has one. A rule that asks or allows without a message has none."""
    rules: dict[str, dict[str, Any]] = {
        action: {
            "id": "staging",
            "tool": "t",
            "action": action,
            "message": "said",
            **({"harmless": ["q"]} if action == "allow" else {}),
        }
        for action in ("deny", "approve", "allow")
    }
    told = {action: judge({"rules": [rule]}, q=1).message for action, rule in rules.items()}
    for rule in rules.values():
        del rule["message"]
    untold = {action: judge({"rules": [rule]}, q=1).message for action, rule in rules.items()}

    assert {"deny": "said", "approve": "said", "allow": "said"} == told
    assert {"deny": because(Because.DENIES, (Because.RULE_ID, "'staging'")), "approve": None, "allow": None} == untold


def test_an_allow_that_cannot_tell_does_not_fire() -> None:
    """It is as if it were not there."""
    document = {"default_action": "deny", "rules": [{"tool": "t", "action": "allow", "when": [UNTOLD]}]}

    assert "deny" == judge(document, n="x").action
    assert "allow" == judge(document, n=6).action


def test_any_and_not_nest() -> None:
    """Groups are three-valued: any needs one, not turns yes and no around."""
    has: Callable[[str], dict[str, Any]] = lambda key: {"key": key, "op": "exists", "value": True}  # noqa: E731
    document = {
        "default_action": "deny",
        "rules": [{"action": "allow", "when": [{"any": [has("a"), {"all": [has("b"), {"not": has("c")}]}]}]}],
    }

    assert "allow" == judge(document, a=1).action
    assert "allow" == judge(document, b=1).action
    assert "deny" == judge(document, b=1, c=1).action
    assert "deny" == judge(document, c=1).action


def test_groups_of_tools_and_lists_of_names() -> None:
    """Names are exact, globs or lists, compared with case."""
    policy = load(
        json.dumps({"version": 1, "rules": [{"tools": ["g", "h*"], "tool": ["x", "y_?"], "action": "deny"}]}),
        name="p",
    )

    def judged(tools: str, tool: str) -> str:
        return policy.judge(PolicyCall(tools, tool, {})).action

    assert [judged("g", "x"), judged("hh", "y_1"), judged("h", "y_1")] == ["deny"] * 3
    assert [judged("G", "x"), judged("g", "xx"), judged("i", "x"), judged("g", "y_12")] == ["approve"] * 4


def test_risk_levels_ask_for_what_rules_leave_open() -> None:
    """A level's action counts where no rule matched; its timeout and reason wherever a person is asked."""
    document = {
        "default_action": "deny",
        "risk": {"low": {"action": "allow"}, "high": {"timeout_s": 900, "require_reason": True}},
        "rules": [{"tool": "send_*", "action": "approve"}],
    }
    policy = load(json.dumps({"version": 1, **document}), name="p")
    low, high, other = (policy.judge(PolicyCall("", tool, {})) for tool in ("list_files", "send_mail", "write_file"))

    assert (low.action, low.risk, low.reason) == ("allow", "low", "default_action")
    assert (high.action, high.risk, high.timeout_s, high.require_reason) == ("approve", "high", 900, True)
    assert (other.action, other.risk) == ("deny", "medium")


def test_risk_rules_set_and_raise_levels() -> None:
    """The first rule with ``risk`` sets the level, each with ``at_least`` may raise it, a rule's own counts most."""
    document = {
        "risk_rules": [
            {"tool": "t", "risk": "low", "when": [{"key": "k", "op": "exists", "value": True}]},
            {"tool": "t", "risk": "medium"},
            {
                "at_least": "high",
                "when": [{"key": "amount", "op": "gt", "value": 100}],
                "message": "much money",
            },
        ],
    }

    assert "low" == judge(document, k=1).risk
    assert "medium" == judge(document).risk
    assert (judge(document, amount=101).risk, judge(document, amount=101).why) == ("high", "much money")
    assert "high" == judge(document, amount="lots").risk
    assert "critical" == judge({**document, "rules": [{"id": "r", "action": "approve", "risk": "critical"}]}).risk


def test_programs_of_a_shell_call_are_given() -> None:
    """The verdict on a shell tool names the programs, also where no condition looked at the command."""
    policy = load("version: 1", name="p")

    assert ("ls", "sh", "rm") == policy.judge(PolicyCall("", "bash", {"command": "ls && sh -c 'rm x'"})).programs
    assert ("?",) == policy.judge(PolicyCall("local_shell", "run", {"command": "$X"})).programs
    assert () == policy.judge(PolicyCall("", "fetch", {"url": "x"})).programs


class Odd(dict[str, Any]):
    """Arguments that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def get(self, key: str, _default: Any = None) -> Any:
        """Fail as well."""
        raise RuntimeError(key)


def test_what_cannot_be_judged_is_denied() -> None:
    """An error in judging is a verdict of its own, and never an allow."""
    policy = load(
        "version: 1\ndefault_action: allow\nrules: [{tool: t, action: allow, when: [{key: k, op: eq, value: 1}]}]",
        name="p",
    )
    verdict = policy.judge(PolicyCall("", "t", Odd(k=1)))

    assert (verdict.action, verdict.reason, verdict.rule) == ("deny", "policy_error", None)
    assert verdict.message is not None
    assert "RuntimeError" in verdict.message


def test_explain_names_every_rule_that_was_tried() -> None:
    """Each rule up to the deciding one, whether it held, and why."""
    policy = load(
        json.dumps({
            "version": 1,
            "risk_rules": [{"id": "money", "tool": "pay", "risk": "critical"}],
            "forbid": [{"id": "f", "tool": "t", "when": [{"key": "k", "op": "eq", "value": "x"}]}],
            "rules": [
                {"id": "other", "tool": "u", "action": "allow"},
                {"id": "line", "tool": "t", "action": "deny", "when": [RUNS_RM, {"not": {"any": [UNTOLD, HAS_Q]}}]},
                {"id": "last", "tool": "t", "action": "approve"},
                {"id": "never", "tools": "z", "action": "deny"},
            ],
        }),
        name="p",
    )  # fmt: skip
    explanation = policy.explain(PolicyCall("g", "t", {"command": "sh -c 'rm x'", "k": "y", "q": 1}))

    assert [
        ("money", "no"),
        ("f", "no"),
        ("other", "no"),
        ("line", "no"),
        ("last", "yes"),
    ] == [(one.rule, one.outcome) for one in explanation.tried]
    assert "is for other tools (tool: u)" == explanation.tried[2].why
    assert "command command_blacklist: yes (runs sh, rm)" in explanation.tried[3].why
    assert "q exists: yes (the call has '1')" in explanation.tried[3].why
    assert "k eq: no (the call has 'y')" == explanation.tried[1].why
    assert "last" == explanation.verdict.rule
