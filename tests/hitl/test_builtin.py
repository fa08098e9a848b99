"""The policy that applies where no document is given."""

from __future__ import annotations

import pytest

from hitl.builtin import BuiltinPolicy
from hitl.model import Action, PolicyCall, Risk


@pytest.mark.parametrize(
    ("tool", "args", "programs"),
    [
        ("bash", {"command": "env -i nice make | tee log"}, ("env", "nice", "make", "tee")),
        ("run_bash", {"command": "sudo -u db psql"}, ("sudo", "psql")),
        ("bash", {"command": 7}, ()),
        ("bash", {}, ()),
        ("write_file", {"command": "make"}, ()),
    ],
)
def test_a_shells_programs_are_read_for_people(tool: str, args: dict[str, object], programs: tuple[str, ...]) -> None:
    """Behind their wrappers; what is no shell's command has none."""
    assert programs == BuiltinPolicy().judge(PolicyCall("any", tool, args)).programs


@pytest.mark.parametrize("command", ["git status", "list", ""])
def test_they_make_no_difference(command: str) -> None:
    """A shell is high, whatever it would run."""
    verdict = BuiltinPolicy().judge(PolicyCall("any", "bash", {"command": command}))

    assert (Action.APPROVE, Risk.HIGH) == (verdict.action, verdict.risk)
