"""What the decision may import: a short list of pure libraries, and the standard library's pure parts."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import hitl

#: None of them reads a file, a clock or the network when it is used as here.
PURE = {
    *("cachetools", "idna", "msgspec", "re2", "regex", "rfc8785", "transitions", "tree_sitter", "tree_sitter_bash"),
    "yaml",
}
ROOT = Path(str(hitl.__file__)).parent


def imported() -> Iterator[str]:
    """The first part of the name of everything that is imported anywhere in the package."""
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


def test_only_listed_libraries_are_used() -> None:
    """Whoever needs another one puts it on the list, and says by that that it is pure."""
    assert set() == set(imported()) - set(sys.stdlib_module_names) - PURE - {"hitl"}
