"""The approval templates, held to a file of expectations each, as `sayso policy test` holds any policy."""

from pathlib import Path

import pytest

from hitl.policy import load, presets, run_expectations

EXPECTATIONS = Path(__file__).parent / "templates"
NAMES = sorted(file.stem for file in EXPECTATIONS.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_template_does_what_its_users_expect(name: str) -> None:
    """Every expectation in the file of its name is met, and `check` has nothing to say."""
    policy = load(presets()[name], name=name)
    report = run_expectations(policy, (EXPECTATIONS / f"{name}.yaml").read_text("utf-8"), name=name)

    assert [] == [(result.name, result.differences) for result in report.results if not result.passed]
    assert [] == policy.lint()
