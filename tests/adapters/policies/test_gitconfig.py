"""Git's configuration files are read as git reads them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from adapters.policies.gitconfig import Unreadable, settings

GIT = shutil.which("git")

# Pieces that generated files are made of: valid, odd, and broken ones.
PIECES = (
    *("[core]", "[CORE]", "[a.B.c]", '[a "B c"]', "[ a]", '[a\t"x\\"y\\\\z"]', '[a "b\\n"]', '[a ""]', '[a "]"]'),
    *('[a "b" ]', '[a"b"]', "[a", "[]", '[ "x"]k', "[.a]", "[a] x = 1", "[a] [b] y", "[ä]", '[a "ä"]', "[a 'b']"),
    *("key", "Key = value", "k-1=v", "key =", "1k = v", "-k = v", "k_y = v", "key : v", "key # no", "key\t= v"),
    *('k = "a;b" # c', "k = a ; b", 'k = "a', 'k = a\\tb\\nc\\bd\\"e\\\\f', "k = a\\x", "k = a \\", "k = \\"),
    *('k = "a b"  c', "k =  a  b  ", 'k = ""', 'k = "  " x', "# c [a]", "; k = v", "   ", "k = a\\ ", "k\r= v"),
    *("\r", "\x0b", "é = 1", "k = é", "=", '"', "]", "k = [x]", "include", "[include]path=/x", 'k = a"b"c'),
)


def _ours(data: bytes) -> list[tuple[str, str | None]] | None:
    try:
        return [(found.key, found.value) for found in settings(data)]
    except Unreadable:
        return None


def _gits(path: Path) -> list[tuple[str, str | None]] | None:
    """The same from git itself; git before 2.45 writes every blank inside a value as a space."""
    command = [GIT or "git", "config", "--file", str(path), "--no-includes", "--list", "-z"]
    ran = subprocess.run(command, capture_output=True, check=False, env={"PATH": os.defpath})
    if ran.returncode:
        return None
    rows = [row.partition("\n") for row in os.fsdecode(ran.stdout).split("\0")[:-1]]
    return [(key, value if feed else None) for key, feed, value in rows]


@pytest.mark.skipif(GIT is None, reason="git is not installed")
def test_generated_files_are_read_as_git_reads_them(tmp_path: Path) -> None:
    """The keys and values of 400 files, and which files git refuses, are git's."""
    dice = random.Random(16)  # noqa: S311 - the same files each time
    path = tmp_path / "config"
    differing = []
    for _ in range(400):
        lines = dice.choices(PIECES[:8], k=1) + dice.choices(PIECES, k=dice.randint(1, 4))
        bom = dice.choice(["", "", "", "\ufeff"])
        data = (bom + dice.choice(["\n", "\n", "\r\n"]).join(lines) + dice.choice(["", "\n"])).encode()
        path.write_bytes(data)
        if _ours(data) != _gits(path):
            differing.append((data, _ours(data), _gits(path)))

    assert [] == differing


def test_a_key_is_split_at_its_first_and_last_dot() -> None:
    """Section and name are in lower case; a quoted subsection keeps its case and its dots."""
    found = [(s.section, s.subsection, s.name) for s in settings(b'[Branch "A.b"] ReMote\n[x.Y]z\n[core]a')]

    assert [("branch", "A.b", "remote"), ("x", "y", "z"), ("core", None, "a")] == found


@pytest.mark.parametrize("data", [b'[core "fsmonitor\0x"]\nk = ./x\n', b"\xef\xbb[core]", b"[core]\nk = v\0"])
def test_what_git_could_read_otherwise_is_unreadable(data: bytes) -> None:
    """A NUL ends a key inside git, and half a byte order mark is no text."""
    assert _ours(data) is None
