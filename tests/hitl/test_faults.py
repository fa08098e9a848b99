"""Fault points do what is planned, where they are reached, and nothing otherwise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hitl import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_faults() -> Iterator[None]:
    """What one test plans is gone in the next."""
    yield
    faults.clear()


def test_a_point_does_what_is_planned_until_that_is_cleared() -> None:
    """Each time that it is reached."""
    seen: list[str] = []
    faults.plan("writer.before-commit", lambda: seen.append("reached"))

    faults.reach("writer.before-commit")
    faults.reach("writer.after-commit")
    faults.reach("writer.before-commit")
    faults.clear()
    faults.reach("writer.before-commit")

    assert ["reached", "reached"] == seen


def test_what_the_plan_raises_is_raised_there() -> None:
    """So a test can make a step fail."""

    def fail() -> None:
        raise ValueError("gone")

    faults.plan("writer.before-commit", fail)

    with pytest.raises(ValueError, match="gone"):
        faults.reach("writer.before-commit")


def test_a_point_that_isnt_there_cant_be_planned() -> None:
    """A misspelt one would make a test that tests nothing."""
    with pytest.raises(KeyError, match=r"writer\.befor"):
        faults.plan("writer.befor", lambda: None)


def test_nothing_in_the_product_plans_a_fault() -> None:
    """Only tests and their own entry point arm a point: no setting, argument or environment of `sayso` can."""
    files = [path for package in ("hitl", "adapters", "bot", "clients") for path in (ROOT / package).rglob("*.py")]
    uses = {
        name for path in files for name in re.findall(r"\bfaults\b.*\bimport (.*)|\bfaults\.(\w+)", path.read_text())
    }

    assert {("reach", "")} == uses


def test_every_point_is_in_the_code() -> None:
    """The list and the code name the same ones."""
    files = [path for package in ("hitl", "adapters", "bot") for path in (ROOT / package).rglob("*.py")]
    reached = {name for path in files for name in re.findall(r'\breach\("([^"]+)"\)', path.read_text())}

    assert set(faults.POINTS) == reached
