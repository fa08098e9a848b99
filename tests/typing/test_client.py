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
    "an argument of another type": HEAD + '@sayso.gated\ndef pay(amount: int) -> None: ...\npay("five")\n',
    "an unknown term": HEAD + "@sayso.gated(asks=True)\ndef pay(amount: int) -> None: ...\n",
    "a result that may not be there": HEAD + "@sayso.gated\ndef name() -> str: return ''\nname().upper()\n",
}


def checked(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """What mypy says of a program."""
    (folder / "program.py").write_text(program)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder), "program.py"],
        cwd=folder,
        env={"MYPYPATH": str(ROOT / "clients"), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_program_that_uses_it_well_passes(tmp_path: Path) -> None:
    """A gated function keeps its parameters, and gains NotRun as a result."""
    done = checked(tmp_path, GOOD)

    assert 0 == done.returncode, done.stdout


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_found(tmp_path: Path, name: str) -> None:
    """Before anything runs."""
    assert 1 == checked(tmp_path, BAD[name]).returncode
