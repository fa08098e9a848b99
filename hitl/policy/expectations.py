"""Tests of a policy: a file of calls and the verdicts that they should get.

tests:
  - name: secrets stay closed
    call: {tools: fs, tool: read_file, args: {path: /home/me/.ssh/id_ed25519}}
    expect: deny
  - call: {tool: send_email, args: {to: a@example.org}}
    expect: {action: approve, risk: high, rule: mail}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hitl.call import Runs
from hitl.operating_mode import judged
from hitl.policy import text
from hitl.policy.engine import Policy
from hitl.policy.model import ACTIONS, PolicyCall, PolicyInvalid, Problem, Verdict
from hitl.policy.wording import say

_CALL_KEYS = frozenset(("tools", "tool", "args", "cwd", "annotations", "trusted_annotations", "requester", "origin"))
_EXPECT_KEYS = frozenset(("action", "risk", "rule", "reason", "timeout_s", "require_reason", "programs"))


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """The result of one test: the verdict, and a sentence for each difference from the expected verdict.

    If the verdict was as expected, there are no differences.
    """

    name: str
    line: int
    differences: tuple[str, ...]
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Whether the verdict was as expected."""
        return not self.differences


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all tests in a file."""

    results: tuple[ExpectationResult, ...]

    @property
    def passed(self) -> bool:
        """Whether the file has tests and all of them passed."""
        return bool(self.results) and all(result.passed for result in self.results)


def run_expectations(policy: Policy, doc: str, *, name: str = "expectations") -> Report:
    """Judge every call of a file (YAML or JSON) and compare each verdict with the expected one.

    Raises:
        PolicyInvalid: the file is not well formed, or has an unknown key. Without this error, a misspelt key would test
            nothing.
    """
    parsed = text.parse(doc, name=name)
    tests = (
        parsed.value.get("tests")
        if isinstance(parsed.value, dict) and set(parsed.value) <= {"tests", "policy"}
        else None
    )
    if not isinstance(tests, list) or not tests:
        raise PolicyInvalid(name, [Problem(1, "", say("fault.tests"))])
    lines = [parsed.line(f"/tests/{at}") for at in range(len(tests))]
    problems = [Problem(line, f"/tests/{at}", wrong) for at, line in enumerate(lines) if (wrong := _wrong(tests[at]))]
    if problems:
        raise PolicyInvalid(name, problems)
    return Report(tuple(_run(policy, test, at, line) for at, (test, line) in enumerate(zip(tests, lines, strict=True))))


def _run(policy: Policy, test: Mapping[str, Any], at: int, line: int) -> ExpectationResult:
    expected = {"action": test["expect"]} if isinstance(test["expect"], str) else test["expect"]
    verdict = policy.judge(_call(test["call"]))
    differences = tuple(
        say("test.differs", key=key, wanted=_shown(wanted), got=_shown(_part(verdict, key)))
        for key, wanted in expected.items()
        if _part(verdict, key) != wanted
    )
    return ExpectationResult(str(test.get("name", f"test {at + 1}")), line, differences, verdict)


def _wrong(test: Any) -> str | None:
    if not isinstance(test, dict) or not {"call", "expect"} <= set(test) <= {"name", "call", "expect"}:
        return say("fault.tests.keys")
    call, expect = test["call"], test["expect"]
    if not isinstance(call, dict) or not set(call) <= _CALL_KEYS or "tool" not in call:
        return say("fault.tests.call", keys=", ".join(sorted(_CALL_KEYS - {"tool"})))
    if not isinstance(call.get("args", {}), dict):
        return say("fault.tests.args")
    if isinstance(expect, str):
        return None if expect in ACTIONS else say("fault.tests.expect", actions=", ".join(ACTIONS))
    if not isinstance(expect, dict) or not expect or not set(expect) <= _EXPECT_KEYS:
        return say("fault.tests.expect_keys", keys=", ".join(sorted(_EXPECT_KEYS)))
    return None


def written_call(tool: str, args: Mapping[str, Any], **terms: Any) -> PolicyCall:
    """Return the call that a file of tests or a command line describes. `terms` are further fields of `PolicyCall`.

    A call with a list `argv` is judged as a command that its caller starts, like the call of `sayso ask NAME -- CMD`.
    """
    seen, is_command = judged(Runs.CALLER, args)
    return PolicyCall(**{"tools": "", "tool": tool, **terms}, args=seen, is_command=is_command)


def _call(call: Mapping[str, Any]) -> PolicyCall:
    return written_call(**{**call, "args": plain(call.get("args", {}))})


def plain(value: Any) -> Any:
    """Return a value of a YAML document as JSON would hold it: decimal numbers become floats."""
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return float(value) if isinstance(value, Decimal) else value


def _part(verdict: Verdict, key: str) -> Any:
    found = getattr(verdict, key)
    return list(found) if isinstance(found, tuple) else found


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
