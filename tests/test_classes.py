"""The size of the product's classes."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("hitl", "adapters", "bot", "clients")
#: A larger class has more than one subject.
MOST_LINES = 300


def test_no_class_has_more_than_300_lines() -> None:
    """A class of the product stays within the limit. Simulators may be larger, because they copy whole platforms."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    classes = {
        f"{file.relative_to(ROOT)}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }

    assert len(classes) > len(PACKAGES)
    assert {} == {name: lines for name, lines in classes.items() if lines > MOST_LINES}
