"""A policy's own tests."""

import pytest

from hitl.policy import PolicyInvalid, load, run_expectations

POLICY = load(
    "version: 1\nrules:\n  - {id: big, tool: pay, action: deny, when: [{key: amount, op: gt, value: 9.5}]}\n",
    name="p",
)


def test_expectations_are_compared_with_verdicts() -> None:
    """Each call is judged; an expectation is an action, or several parts of a verdict."""
    report = run_expectations(
        POLICY,
        """
        tests:
          - name: too much
            call: {tool: pay, args: {amount: 9.75}}
            expect: {action: deny, rule: big, reason: matched_rule, risk: high}
          - call: {tool: pay, args: {amount: 9}}
            expect: allow
        """,
    )
    met, missed = report.results

    assert (met.name, met.passed, met.differences) == ("too much", True, ())
    assert (
        missed.name,
        missed.line,
        missed.differences,
    ) == ("test 2", 6, ("action: expected allow, got approve",))
    assert not report.passed


def test_all_met_is_a_pass() -> None:
    """A file whose expectations are all met passes."""
    assert run_expectations(POLICY, '{"tests": [{"call": {"tool": "pay"}, "expect": "approve"}]}').passed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tests: []",
        "test: [{call: {tool: x}, expect: deny}]",
        "tests: [{call: {tool: x}}]",
        "tests: [{call: {tol: x}, expect: deny}]",
        "tests: [{call: {tool: x}, expect: denied}]",
        "tests: [{call: {tool: x}, expect: {acton: deny}}]",
        "tests: [{call: {tool: x}, expect: {}}]",
        "tests: [{call: {tool: x, args: [1]}, expect: deny}]",
        "tests: [{call: {tool: x}, expect: deny, only: true}]",
        "tests: [x]",
    ],
)
def test_a_file_that_would_test_nothing_is_refused(text: str) -> None:
    """A misspelt key or an empty list is an error, not a pass."""
    with pytest.raises(PolicyInvalid):
        run_expectations(POLICY, text)


def test_words_in_argv_are_a_command_that_the_caller_starts() -> None:
    """A rule about commands applies to `sayso ask NAME -- CMD` in a test file as in the service, whatever NAME is."""
    when = "{key: '@command', op: command_blacklist, value: [sudo]}"
    rule = f"{{id: no-root, kind: command, action: deny, when: [{when}]}}"
    policy = load(f"version: 1\nrules:\n  - {rule}\n", name="commands")
    asked = "{tools: shell, tool: release, args: {argv: [sudo, ls]}}"
    report = run_expectations(policy, f"tests:\n  - {{call: {asked}, expect: {{action: deny, rule: no-root}}}}\n")

    assert report.passed
