"""The how-to page: every document on it loads, and its last policy meets its expectations."""

import re
from pathlib import Path

import pytest

from hitl.policy import load, run_expectations

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "policy.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
POLICIES = [block for block in BLOCKS if block.startswith("version")]


@pytest.mark.parametrize("text", POLICIES)
def test_each_step_is_a_policy_without_problems(text: str) -> None:
    """A reader who stops anywhere has a policy that loads and warns of nothing."""
    assert [] == load(text, name="policy.yaml").lint()


def test_the_last_step_meets_its_expectations() -> None:
    """The page's own test passes, with the number of tests that it promises."""
    (expectations,) = [block for block in BLOCKS if block.startswith("tests")]
    policy = BLOCKS[BLOCKS.index(expectations) - 1]
    report = run_expectations(load(policy, name="policy.yaml"), expectations)

    assert [] == [result.differences for result in report.results if not result.passed]
    assert f"{len(report.results)} passed" in PAGE.read_text(encoding="utf-8")
