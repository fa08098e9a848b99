"""`sayso demo` in a pipe: one message a line, plain text out."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hitl.cards.wording import say
from hitl.outcomes import Told
from tests.acceptance.installation import Installation
from tests.sentences import says

ROOT = Path(__file__).parents[2]
#: Anything but visible characters and line feeds; ESC (0x1b) among it.
UNSEEN = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Ended:
    """A demo that is over: how, what it said, and the events on record in the order in which they came."""

    returncode: int
    stdout: str
    stderr: str
    record: list[str]


Demo = Callable[..., Ended]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with one file in it."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("Buy milk.\n")
    return folder


@pytest.fixture
def demo(install: Callable[..., Installation], workspace: Path) -> Demo:
    """Runs the demo on the workspace, fed some lines."""
    place = install()

    def run(*lines: str, **environment: str) -> Ended:
        fed = "".join(f"{line}\n" for line in lines)
        done = place.run("demo", "--workspace", str(workspace), "--state", str(place.state), given=fed, **environment)
        with place.database() as database:
            recorded = [event for (event,) in database.execute("SELECT event FROM audit WHERE ref <> '' ORDER BY id")]
        return Ended(done.returncode, done.stdout, done.stderr, recorded)

    return run


def test_a_yes_writes_and_a_no_leaves_the_file(demo: Demo, workspace: Path) -> None:
    """What was approved is done, what was rejected is not, and the reason is told."""
    done = demo("write notes.txt hello", "yes", "delete notes.txt", "no because risky")

    assert (0, "") == (done.returncode, done.stderr)
    assert "hello" == (workspace / "notes.txt").read_text().strip()
    told = say(Told.REJECTED_WITH_REASON, short="[0-9A-Z]{6}", reason="risky")
    assert re.search(f"^{told}$", done.stdout, re.MULTILINE)
    assert ["asked", "approved", "succeeded", "asked", "rejected"] == done.record


def test_a_maybe_is_asked_back_once_and_the_yes_runs_once(demo: Demo, workspace: Path) -> None:
    """`maybe` decides nothing; the `yes` after it deletes the file, by one run."""
    done = demo("delete notes.txt", "maybe", "yes")

    assert 0 == done.returncode
    assert 1 == sum(says(line, Told.UNCLEAR) for line in done.stdout.splitlines())
    assert not (workspace / "notes.txt").exists()
    assert ["asked", "unclear", "approved", "succeeded"] == done.record


def test_a_no_to_deleting_everything_deletes_nothing(demo: Demo, workspace: Path) -> None:
    """The card names what would go; after `no` all of it is there."""
    (workspace / "more.txt").touch()
    done = demo("delete all files", "no")

    assert 0 == done.returncode
    assert says(done.stdout, "does.delete.many", files=say("count.files", count=2))
    assert {"more.txt", "notes.txt"} == {file.name for file in workspace.iterdir()}


def test_what_waits_at_the_end_of_input_is_withdrawn(demo: Demo, workspace: Path) -> None:
    """Nobody can answer any more: the call is withdrawn, on record, and said; nothing is gone."""
    done = demo("delete notes.txt")

    assert 0 == done.returncode
    assert says(done.stdout, "by.withdrawn")
    assert (workspace / "notes.txt").exists()
    assert ["asked"] == done.record[:1]
    assert 2 == len(done.record)


def test_no_input_is_no_mistake(demo: Demo) -> None:
    """An empty pipe ends at once, well."""
    done = demo()

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


def test_only_plain_text_comes_out_of_a_pipe(demo: Demo) -> None:
    """No colours, no cursor movements, whatever FORCE_COLOR says."""
    done = demo("list", "delete notes.txt", "details", "yes", "run ls", "no", FORCE_COLOR="1", TERM="xterm-256color")

    assert [] == UNSEEN.findall(done.stdout.encode())


def test_escape_sequences_are_shown_and_not_obeyed(demo: Demo, workspace: Path) -> None:
    """Whatever an agent writes into arguments, and whatever a tool prints, reaches the terminal as visible text."""
    done = demo(
        "write notes.txt \x1b[2Jhello\x1b]0;owned\x07",
        "no",
        "read \x1b[31mred",
        "delete \u202egnp.exe",
        "run printf '\\033[31mred'",
        "yes",
    )

    assert 0 == done.returncode
    assert [] == UNSEEN.findall(done.stdout.encode() + done.stderr.encode())
    assert "\\u{1b}[2Jhello" in done.stdout
    assert "\u202e" not in done.stdout
    assert "\\u{1b}[31mred" in done.stdout
    assert "Buy milk.\n" == (workspace / "notes.txt").read_text()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bytes_and_encodings_that_do_not_fit_are_no_crash(install: Callable[..., Installation], encoding: str) -> None:
    """Input that isn't text, and a terminal that can't show the card's signs, end in words."""
    fed = b"read \xff\xfe\nlist\ndelete notes.txt\nno\n"
    done = install().run("demo", given=fed, PYTHONIOENCODING=encoding)

    assert (0, "") == (done.returncode, done.stderr)
    assert "notes.txt" in done.stdout
    assert says(done.stdout, Told.REJECTED)


def test_without_a_workspace_the_demo_brings_its_own(install: Callable[..., Installation]) -> None:
    """A temporary folder with something to delete, gone when the demo ends."""
    place = install()
    temporary = place.root / "tmp"
    temporary.mkdir()
    done = place.run("demo", given="delete notes.txt\nyes\n", TMPDIR=str(temporary))

    assert 0 == done.returncode
    assert say("did.delete", path="notes.txt") in done.stdout
    assert [] == list(temporary.iterdir())


#: Runs the demo as `make demo` does, and then prints the distributions whose modules it imported.
LISTING = """
import atexit, sys
from importlib.metadata import packages_distributions

def listed():
    known = packages_distributions()
    names = {module.partition(".")[0] for module in list(sys.modules)}
    print("USED", *{each for name in names for each in known.get(name, ())})

atexit.register(listed)
sys.argv = ["sayso", "demo"]
import bot.__main__
"""


def test_the_demo_needs_only_its_own_requirements() -> None:
    """A fresh checkout installs no other package before it runs the demo."""
    fed = "write notes.txt hello\nyes\nrun git status\nno because risky\nread notes.txt\n"
    done = subprocess.run(
        [sys.executable, "-c", LISTING], input=fed, capture_output=True, text=True, cwd=ROOT, check=True
    )
    used = done.stdout.splitlines()[-1].split()
    pins = (ROOT / "scripts/demo-requirements.txt").read_text()
    pinned = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", pins, re.MULTILINE)}

    assert "USED" == used.pop(0)
    assert {"msgspec", "pydantic"} <= {name.lower() for name in used}
    assert set() == {name.lower().replace("_", "-") for name in used} - pinned - {"sayso", "setuptools"}
