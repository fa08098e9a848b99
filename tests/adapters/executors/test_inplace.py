"""The card of a plain `sed -i` shows the difference that it makes."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from adapters.executors.bash import Bash, Shell
from adapters.executors.confinement import Confinement, Sandbox, works
from adapters.executors.registry import Registry
from hitl.call import Preparation, Result
from tests.adapters.executors.conftest import Run, a_lease, an_ask, names

TEXT = "one two\nthree two\nFour\n"


def _gnu_sed() -> bool:
    found = shutil.which("sed")
    if found is None:
        return False
    return b"GNU" in subprocess.run([found, "--version"], capture_output=True, check=False).stdout


pytestmark = pytest.mark.skipif(not _gnu_sed(), reason="GNU sed is not installed")


@pytest.fixture
def files(root: Path) -> Path:
    """A workspace with files to edit."""
    for name in ("a.txt", "b c.txt"):
        (root / name).write_text(TEXT)
    return root


def _look(root: Path, command: str) -> Preparation:
    return Shell(root).look(Bash(command=command))


@pytest.mark.parametrize(
    "line",
    [
        "sed -i 's/two/2/' a.txt",
        "sed -i s/two/2/ a.txt",
        'sed -i "s/two/2/" a.txt',
        "sed --in-place -E 's/(one|three) (two)/\\2 \\1/g' a.txt 'b c.txt'",
        "sed -i -r -e 's|two|2|' -e '2d' ./a.txt",
        "sed -Ei '/^F/d' a.txt",
        "sed -i '1,2s/o/0/2' a.txt",
        "sed -i '$d' a.txt",
        "sed -i 's/two$/x\\ny/I' a.txt",
    ],
)
async def test_the_difference_on_the_card_is_the_one_that_is_made(
    files: Path, registry: Registry, run: Run, line: str
) -> None:
    """Bound to the files as they are, and nothing is changed by the look."""
    prepared = await registry.prepare(an_ask("bash", command=line))
    untouched = {name: (files / name).read_text() for name in names(files)}
    ran = await run("bash", command=line)
    removed = [row[1:] for row in prepared.preview.splitlines() if row.startswith("-") and not row.startswith("---")]
    added = [row[1:] for row in prepared.preview.splitlines() if row.startswith("+") and not row.startswith("+++")]

    assert (Result.SUCCEEDED, {"a.txt": TEXT, "b c.txt": TEXT}) == (ran.result, untouched)
    changed = [(files / name[len("base:") :]).read_text() for name, _ in prepared.preconditions[1:]]
    assert changed
    assert all(row in "".join(changed).splitlines() for row in added)
    assert sorted("".join(changed).splitlines() + removed) == sorted(TEXT.splitlines() * len(changed) + added)


@pytest.mark.parametrize(
    "line",
    [
        "sed 's/two/2/' a.txt",
        "sed -i.bak 's/two/2/' a.txt",
        "sed -iE 's/two/2/' a.txt",
        "sed -n -i 's/two/2/p' a.txt",
        "sed -i 's/two/touch ran/e' a.txt",
        "sed -i 's/two/2/w out' a.txt",
        "sed -i '1e touch ran' a.txt",
        "sed -i 'r b c.txt' a.txt",
        "sed -i ':a;ba' a.txt",
        "sed -i F a.txt",
        "sed -f script -i a.txt",
        "sed -i 's/two/2/' $HOME/a.txt",
        'sed -i "s/two/$(touch ran)/" a.txt',
        "sed -i 's/two/2/' *.txt",
        "sed -i 's/two/2/' a.txt; touch ran",
        "sed -i 's/two/2/' a.txt > out",
        "sed -i 's/two/2/' a.txt &",
        "sed -i 's/two/2/' {a,b}.txt",
        'sed -i "s/two/\\"\'$HOME\'""/" a.txt',
        "./sed -i 's/two/2/' a.txt",
        "A=1 sed -i 's/two/2/' a.txt",
        "sed -i 's/two/2/' missing.txt",
        "sed -i 's/two/2/' link",
        "sed -i 's/two/2/' binary",
        "sed -i 's/two/2/' ../secret.txt",
        "sed -i 's/two/2/' a.txt a.txt",
        "sed -i 's/two/2/'",
        "sed -i 's/(two/2/' -E a.txt",
        "sed -i",
    ],
)
def test_any_other_command_shows_nothing_new(files: Path, line: str) -> None:
    """No difference is shown that might not be the whole of what happens, and nothing runs."""
    (files / "link").symlink_to("a.txt")
    (files / "binary").write_bytes(b"two\0\xff")
    before = names(files)
    prepared = _look(files, line)

    assert ("", 1, before) == (prepared.preview, len(prepared.preconditions), names(files))


@pytest.mark.parametrize("way", list(Confinement), ids=str)
def test_the_difference_is_found_in_every_confinement(files: Path, way: Confinement) -> None:
    """Sed is confined as the command itself will be."""
    if way is not Confinement.NONE and not works(Sandbox(way)):
        pytest.skip(f"{way} doesn't work here")
    prepared = Shell(files, Sandbox(way)).look(Bash(command="sed -i s/Four/4/ a.txt"))

    assert ["-Four", "+4"] == prepared.preview.splitlines()[-2:]


@pytest.mark.parametrize("script", ["s/.*/" + "&" * 60_000 + "/", "s/./" + "&" * 60_000 + "/g", "s/\\(.*\\)*\\1*x//"])
def test_a_script_that_takes_too_much_is_given_up(files: Path, script: str) -> None:
    """Within a few seconds, and with no more memory than the bounds allow."""
    (files / "a.txt").write_text("ab" * 100_000)
    start = time.monotonic()
    prepared = _look(files, f"sed -i '{script}' a.txt")

    assert "" == prepared.preview
    assert time.monotonic() - start < 8


async def test_a_file_that_changed_after_its_difference_was_shown_is_left_alone(
    files: Path, registry: Registry
) -> None:
    """The command that was approved is the one with that difference."""
    ask = an_ask("bash", command="sed -i s/two/2/ a.txt")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (files / "a.txt").write_text("two\n")
    ran = await registry.run(lease, limit_s=10)

    assert (Result.REFUSED, "two\n") == (ran.result, (files / "a.txt").read_text())
    assert await registry.still_holds(lease.call)
