"""Judging a call has bounded work: whatever a caller sends, the rest can't be told and the call asks."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from hitl.policy import PolicyCall, load, presets
from hitl.policy.dialects import check
from hitl.policy.engine import compile_when
from hitl.policy.operators import OPERATORS
from hitl.policy.operators.base import ConditionUse
from hitl.policy.operators.scope import MAX_WORK, CallScope, Surroundings
from hitl.policy.text import parse
from hitl.ports import Repository, Tree

MANY = 100_000
BIG: dict[str, Any] = {
    "a long text": "x" * 1_000_000,
    "long words": "/tmp/ab c.d " * 83_000,
    "letters of several bytes": "é%2e" * 250_000,
    "numbers": [at * 1.5 for at in range(MANY)],
    "texts": [f"/p/{at}" for at in range(MANY)],
    "paths of two readings": [f"~/p%2e/{at}" for at in range(MANY)],
    "addresses": [f"http://h{at}.example/" for at in range(MANY)],
    "values in objects": {f"k{at}": [str(at)] for at in range(MANY)},
    "deep lists": json.loads("[" * 300 + "]" * 300),
}
VALUES: dict[str, Any] = {
    "eq": "never", "ne": "never", "in": ["never", -7], "matches": "(?i)ne[v]er", "path_matches": "^/never", "lt": -7,
    "le": -7, "gt": 10**9, "ge": 10**9, "glob": "**/never/**", "host": "never.example", "host_class": "metadata",
    "url_scheme": "never", "url_port": 7, "credential": True,
}  # fmt: skip


def documents(key: str) -> dict[str, str]:
    """A document of one deny for each operator that looks at values."""
    return {
        op: json.dumps(
            {
                "version": 1,
                "default_action": "allow",
                "rules": [{"action": "deny", "when": [{"key": key, "op": op, "value": value}]}],
            }
        )
        for op, value in VALUES.items()
    }


class Counting:
    """The file system, which counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def resolve(self, path: str, cwd: str) -> str | None:
        """The path itself."""
        self.asked += 1
        return path if path.startswith("/") else f"{cwd}/{path}"

    def case_insensitive(self, _path: str) -> bool:
        """No."""
        self.asked += 1
        return False

    def repository(self, _path: str) -> Repository | None:
        """There is none."""
        self.asked += 1
        return None

    def tracked(self, _path: str, *, most: int) -> tuple[str, ...] | None:
        """Nothing is tracked."""
        self.asked += most > 0
        return ()

    def unhidden(self, path: str, files: Sequence[str]) -> tuple[str, ...] | None:
        """No ignore file names a hidden file."""
        self.asked += bool(path or files)
        return ()

    def tree(self, _path: str, *, most: int, deep: bool = True) -> Tree | None:
        """Nothing is there."""
        self.asked += most > 0 or deep
        return None


@pytest.mark.parametrize("key", ["*", "value"])
@pytest.mark.parametrize("op", VALUES)
@pytest.mark.parametrize("shape", ["numbers", "texts", "paths of two readings", "addresses", "values in objects"])
def test_what_is_too_much_to_look_at_asks(op: str, shape: str, key: str) -> None:
    """No operator answers that a deny doesn't hold where it looked at a part of the values only."""
    files = Counting()
    policy = load(documents(key)[op], name="p", paths=files)

    assert policy.judge(PolicyCall("", "t", {"value": BIG[shape]}, "/srv")).action in ("approve", "deny")
    assert files.asked <= MAX_WORK


@pytest.mark.parametrize("rules", [1, 50])
def test_the_work_for_a_call_does_not_grow_with_the_rules(rules: int) -> None:
    """All conditions on a call share what it may cost."""
    judged = 0

    def counting(text: str) -> str:
        nonlocal judged
        judged += 1
        return text

    class Text(str):
        """A text that counts how often its length is asked, which every judgement does once."""

        __slots__ = ()

        def __len__(self) -> int:
            counting("")
            return super().__len__()

    when = [{"key": "*", "op": "matches", "value": f"never{at}"} for at in range(rules)]
    document = {"version": 1, "rules": [{"action": "deny", "when": [{"any": when}]}]}
    checked = check(parse(json.dumps(document), name="p"), "p")
    scope = CallScope(PolicyCall("", "t", {"value": [Text("x") for _ in range(MANY)]}), Surroundings())
    compile_when(checked.rules[0].when, ConditionUse(loosen=False))(scope)

    assert judged <= 2 * MAX_WORK


def test_every_operator_that_looks_at_values_is_tried() -> None:
    """A new operator gets its row above."""
    others = {"exists", "size", "destructive_set", "annotation", "command_resolvable", "no_command_substitution"}
    others |= {"command_blacklist", "command_ask_always", "command_prefix_allowlist", "command_effects"}
    others |= {"isolated", "open_tree"}

    assert set(OPERATORS) - others <= set(VALUES)


@pytest.mark.fuzz
@pytest.mark.parametrize("shape", BIG)
@pytest.mark.parametrize("name", [*presets(), *VALUES])
def test_a_verdict_does_not_hold_the_loop(name: str, shape: str) -> None:
    """A mebibyte of arguments is judged in 50 ms of this thread's time, the best of three."""
    text = presets()[name] if name in presets() else documents("*")[name]
    policy = load(text, name=name)
    call = PolicyCall("", "t", {"value": BIG[shape]}, "/srv")
    taken = []
    for _ in range(3):
        begun = time.thread_time()
        policy.judge(call)
        taken.append(time.thread_time() - begun)

    assert min(taken) < 0.05
