"""The client's types hold for its users: what mypy says of programs that use it well, and of one that doesn't."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = """
from typing import assert_type
from sayso_client import Answer, AsyncSayso, NotRun, Planned, Ran, Request, Sayso

sayso, loop = Sayso(), AsyncSayso()
"""
GOOD = (
    HEAD
    + """
@sayso.gated
def pay(amount: int, to: str = "ada") -> str:
    return to

@sayso.gated(ask=True, files=["script"])
def deploy(script: str) -> int:
    return 0

@loop.gated
async def publish(page: str) -> bytes:
    return b""

assert_type(pay(5), str | NotRun)
assert_type(deploy(script="x"), int | NotRun)
assert_type(sayso.call(Request("x", {}), lambda: 3), Ran[int] | NotRun)
assert_type(sayso.ask_human("May I?"), Answer)

async def main() -> None:
    assert_type(await publish("home"), bytes | NotRun)
"""
)
BAD = {
    "an_argument_of_another_type": HEAD + '@sayso.gated\ndef pay(amount: int) -> None: ...\npay("five")\n',
    "an_unknown_term": HEAD + "@sayso.gated(asks=True)\ndef pay(amount: int) -> None: ...\n",
    "a_result_that_may_not_be_there": HEAD + "@sayso.gated\ndef name() -> str: return ''\nname().upper()\n",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of all the programs, in one run: it reads the standard library's types once."""
    folder = tmp_path_factory.mktemp("programs")
    for name, program in {"good": GOOD, **BAD}.items():
        (folder / f"{name}.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder), *sorted(folder.glob("*.py"))],
        cwd=folder,
        env={"MYPYPATH": str(ROOT / "clients"), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 1 == done.returncode, done.stderr
    return done.stdout


def test_a_program_that_uses_it_well_passes(said: str) -> None:
    """A gated function keeps its parameters, and gains NotRun as a result."""
    assert "good.py:" not in said
    assert "sayso_client/" not in said


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_found(said: str, name: str) -> None:
    """Before anything runs."""
    assert f"{name}.py:" in said
