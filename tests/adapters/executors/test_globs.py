"""Patterns over paths match as in a shell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapters.executors.globs import matches, regular_files


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.log", "a.log", True),
        ("*.log", "sub/a.log", False),
        ("*.log", ".a.log", False),
        (".*", ".a.log", True),
        ("sub/*", "sub/a", True),
        ("sub/*", "sub/a/b", False),
        ("**/*.log", "a.log", True),
        ("**/*.log", "x/y/a.log", True),
        ("**/*.log", "x/.git/a.log", False),
        ("x/**", "x/y/z", True),
        ("x/**", "y/z", False),
        ("**/a/**/b", "q/a/b", True),
        ("**/a/**/b", "q/a/r/s/b", True),
        ("**/a/**/b", "q/r/b", False),
        ("[ab]?", "b1", True),
        ("[!a]", "a", False),
        ("A", "a", False),
    ],
)
def test_patterns(pattern: str, path: str, *, expected: bool) -> None:
    """A star stays in its name, two stars cross folders, a leading dot must be said."""
    assert expected is matches(tuple(pattern.split("/")), tuple(path.split("/")))


def test_many_stars_take_no_time() -> None:
    """Matching goes on from all places at once, so that no pattern makes it try again and again."""
    assert not matches(("**", "a") * 50, ("a",) * 49)


def test_files_come_sorted_and_links_are_left_out(tmp_path: Path) -> None:
    """Regular files only, also below folders; nothing behind a link."""
    (tmp_path / "sub").mkdir()
    for name in ("b", "a", "sub/c"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "linked").symlink_to(tmp_path / "sub")
    os.mkfifo(tmp_path / "pipe")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        found = list(regular_files(("**", "*"), folder))
    finally:
        os.close(folder)

    assert [("a",), ("b",), ("sub", "c")] == found
