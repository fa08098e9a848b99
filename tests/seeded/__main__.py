"""Put small faults into copies of the code, one at a time, and see which test catches each.

    python -m tests.seeded
    python -m tests.seeded --only forged-button own-approved
    python -m tests.seeded --near
    python -m tests.seeded --sound

Tests run until the first one fails: the one that caught the fault last time, those of the changed file, then the others
in the order of `SUITES`. What was found goes into `caught.toml`. `--near` runs only the tests nearest to each fault and
writes down only what they catch. `--sound` runs the same tests on a copy without a fault, where all must pass. Exit
status 1 if a fault is caught by nothing and `caught.toml` doesn't say why.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.seeded.faults import TREE, Fault, caught, keep, load

#: The tests of a file, or of all files of a folder.
MIRRORS = {
    "hitl/gate": ("tests/hitl/gate",),
    "hitl/people": ("tests/hitl/people", "tests/hitl/gate"),
    "hitl/proof": ("tests/hitl/proof", "tests/hitl/gate"),
    "hitl/testing.py": ("tests/contracts", "tests/hitl/test_testing.py"),
    "adapters/database": ("tests/adapters/database", "tests/contracts"),
    "adapters/http": ("tests/adapters/http",),
    "bot/workers/inbox.py": ("tests/bot/workers/test_inbox.py", "tests/bot/test_platform_runner.py"),
    "bot/conversation": (
        "tests/scenarios/telegram/test_what_never_counts.py",
        "tests/scenarios/telegram",
        "tests/scenarios/slack",
    ),
}
#: Run after the mirrors. Policies and replies are decided elsewhere, by code that no fault touches.
SUITES = (
    ("tests/hitl", "--ignore=tests/hitl/policy", "--ignore=tests/hitl/replies"),
    ("tests/scenarios",),
    ("tests/bot",),
    ("tests/faults",),
    ("tests/acceptance/test_ask.py", "tests/acceptance/test_running.py"),
)
#: A test that doesn't end has caught the fault too. So many seconds may a suite take, on a busy machine.
PATIENCE_S = 900
#: Exit statuses of pytest: all passed, and there is no such test any more.
_PASSED, _NO_SUCH_TEST = 0, 4
_STARTED = re.compile(r"^(tests/\S+::[^\s\[]+)", re.MULTILINE)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.*?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


class Copy:
    """A copy of the tree, with an environment in which `sayso` and every import are the copy's."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.tree.mkdir()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=TREE, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, files):
            if (TREE / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TREE / name, self.tree / name)
        self.python = self._environment(folder / "venv")

    def _environment(self, venv: Path) -> Path:
        """Libraries are those of this environment, by a path file; those that install by path files are left out.

        Such a one is our own installation for development, which would lead back to the original.
        """
        libraries = Path(sysconfig.get_path("purelib"))
        site = venv / libraries.relative_to(sys.prefix)
        site.mkdir(parents=True)
        (site / "copy.pth").write_text(f"{self.tree}\n{self.tree / 'clients'}\n{libraries}\n")
        shutil.copy(Path(sys.prefix, "pyvenv.cfg"), venv)
        (venv / "bin").mkdir()
        python = venv / "bin" / "python"
        python.symlink_to(Path(sys.executable).resolve())
        sayso = venv / "bin" / "sayso"
        sayso.write_text(f"#!{python}\nimport sys\nfrom bot.cli.main import main\nsys.exit(main())\n")
        sayso.chmod(0o755)
        return python

    def first_failure(self, suite: Sequence[str]) -> str | None:
        """The first test that fails, without its parameters; None if all pass, or if there is no such test."""
        options = ["-x", "-v", "-n0", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:randomly"]
        running = subprocess.Popen(
            [self.python, "-m", "pytest", *options, *suite],
            cwd=self.tree,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            told, _ = running.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            told, _ = running.communicate()
            return f"{_STARTED.findall(told)[-1]} (it doesn't end)"
        if running.returncode in {_PASSED, _NO_SUCH_TEST}:
            return None
        found = _FAILED.search(told)
        if found is None:
            raise RuntimeError(told[-3000:])
        return found[1]


def suites(file: str, *, near: bool) -> list[Sequence[str]]:
    """What is run for a fault in that file, in order; nothing is run twice."""
    (mirror,) = [tests for place, tests in MIRRORS.items() if file == place or file.startswith(f"{place}/")]
    if near:
        return [mirror, SUITES[0]]
    return [mirror, *((*suite, *(f"--ignore={folder}" for folder in mirror)) for suite in SUITES)]


def first_failure(fault: Fault, before: str | None, *, near: bool) -> str | None:
    """The first test that fails with the fault; None if nothing catches it. `before` caught it last time."""
    tried = suites(fault.file, near=near)
    if before is not None:
        tried.insert(0, [before.partition(" ")[0]])
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        copy = Copy(Path(folder))
        fault.apply(copy.tree)
        return next(filter(None, map(copy.first_failure, tried)), None)


def seed(names: Sequence[str], *, near: bool) -> int:
    """Try all faults, or those named; the exit status."""
    found, missed = caught(), 0
    for fault in load():
        if names and fault.name not in names:
            continue
        began = time.monotonic()
        by = first_failure(fault, found.get(fault.name, {}).get("by"), near=near)
        why = found.get(fault.name, {}).get("why", "")
        missed += not by and not why
        if by or not near:
            found[fault.name] = {"by": by} if by else {"why": why}
            keep(found)
        say(f"{fault.name}: {by or 'NOT CAUGHT'} ({time.monotonic() - began:.0f} s)")
    say(f"seeded faults: {sum('by' in one for one in found.values())} of {len(found)} caught")
    return 1 if missed else 0


def sound() -> int:
    """Run everything on an unchanged copy; the exit status."""
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        copy = Copy(Path(folder))
        failures = [copy.first_failure(suite) for suite in (*MIRRORS.values(), *SUITES)]
    for name in filter(None, failures):
        say(f"fails without a fault: {name}")
    return 1 if any(failures) else 0


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run what was asked for; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeded", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", choices=[fault.name for fault in load()])
    parser.add_argument("--near", action="store_true", help="run only the tests nearest to each fault")
    parser.add_argument("--sound", action="store_true", help="check that the tests pass on a copy without a fault")
    arguments = parser.parse_args()
    return sound() if arguments.sound else seed(arguments.only, near=arguments.near)


if __name__ == "__main__":
    sys.exit(main())
