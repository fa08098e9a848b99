"""The offline agent: which words lead to which call."""

from __future__ import annotations

import pytest

from adapters.agents.offline import Offline, Plan, understand


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("list", "list_files", {"path": "."}),
        ("ls docs", "list_files", {"path": "docs"}),
        ("READ Notes.txt", "read_file", {"path": "Notes.txt"}),
        ("cat notes.txt", "read_file", {"path": "notes.txt"}),
        ("delete notes.txt", "delete_file", {"path": "notes.txt"}),
        ("rm notes.txt", "delete_file", {"path": "notes.txt"}),
        ("delete all files", "delete_files", {"pattern": "*"}),
        ("delete all", "delete_files", {"pattern": "*"}),
        ("delete *.log", "delete_files", {"pattern": "*.log"}),
        ("run echo one; echo two", "bash", {"command": "echo one; echo two"}),
        ("  list  ", "list_files", {"path": "."}),
    ],
)
def test_a_command_is_a_plan(text: str, tool: str, args: dict[str, str]) -> None:
    """The words name the tool, the rest its arguments, letter for letter."""
    assert Plan(tool, args) == understand(text)


def test_what_is_written_is_what_was_said() -> None:
    """Blanks and capitals of the text survive."""
    plan = understand("write notes.txt  Two  Eggs")

    assert isinstance(plan, Plan)
    assert ("write_file", "notes.txt", "Two  Eggs") == (plan.tool, plan.args["path"], str(plan.args["text"]).strip())


@pytest.mark.parametrize("text", ["", "hello", "yes", "delete", "write a.txt", "don't delete notes.txt now"])
def test_anything_else_is_not_understood(text: str) -> None:
    """No guess is made a call."""
    assert None is understand(text)
    assert not Offline().understands(text)
