"""Which files of its command a client binds, and when it finds them changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from sayso_client.scripts import changed, digests


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with scripts, data and a Makefile."""
    for name in ("deploy.sh", "run.py", "data.csv", "Makefile", "rules.mk", "plain"):
        (tmp_path / name).write_text(name)
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("./tool prod", "./tool"),
        ("bash plain data.csv", "plain"),
        ("sudo -u bob bash -x deploy.sh data.csv", "deploy.sh"),
        ("env A=1 ./tool", "./tool"),
        ("python3 run.py --input=data.csv", "run.py"),
        ("make all", "Makefile"),
        ("make -f rules.mk all", "rules.mk"),
        ("acme-run tool data.csv", "tool"),
        ("sh -c true", ""),
        ("terraform apply", ""),
        ("cat data.csv", ""),
    ],
)
def test_scripts_are_found_and_data_is_not(folder: Path, command: str, files: str) -> None:
    """A program by its path, what an interpreter is given, and other words that are scripts."""
    found = digests(command.split(), str(folder))

    assert found is not None
    assert files.split() == list(found)
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == found[name] for name in found)


def test_a_change_is_found(folder: Path) -> None:
    """By the bytes; a file that is gone has changed, too."""
    found = digests(["bash", "deploy.sh"], str(folder)) or {}
    before = changed(found, str(folder))
    (folder / "deploy.sh").write_text("other")
    after = changed(found, str(folder))
    (folder / "deploy.sh").unlink()

    assert (None, "deploy.sh", "deploy.sh") == (before, after, changed(found, str(folder)))


def test_a_command_with_more_scripts_than_can_be_bound_is_refused(folder: Path) -> None:
    """Nobody may believe that all of them stay as they are."""
    names = [f"s{number}.sh" for number in range(201)]
    for name in names:
        (folder / name).touch()

    assert digests(["cat-all", *names], str(folder)) is None
    assert 200 == len(digests(["cat-all", *names[1:]], str(folder)) or ())
