"""Lists the files below a folder without following links."""

from __future__ import annotations

# Paths are strings here: making a Path for each entry takes ten times as long.
# ruff: noqa: PTH116, PTH118, PTH120, PTH123
import os
import stat
from collections.abc import Sequence

from hitl.ports import Tree

#: The files whose patterns ripgrep obeys, in every folder (ripgrep's guide, "Automatic filtering").
_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")
_MOST_IGNORE_FILES = 500
_MOST_PATTERNS = 256 * 1024


def tree(path: str, most: int, *, deep: bool = True) -> Tree | None:
    """Return the files below a folder, or None if the path doesn't exist. Implements `hitl.ports.Paths.tree`."""
    try:
        root = os.path.realpath(path)
        status = os.stat(root)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError:
        return Tree(path, (), complete=False)
    if stat.S_ISDIR(status.st_mode):
        return _below(root, most, deep=deep)
    folder, name = os.path.split(root)
    return Tree(folder, (name,) if most > 0 else (), complete=most > 0, single=True)


def _below(root: str, most: int, *, deep: bool) -> Tree:
    files: list[str] = []
    links: list[str] = []
    folders, left, complete = [""], most, True
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                for entry in entries:
                    if left <= 0:
                        return Tree(root, files, complete=False)
                    left -= 1
                    path = folder + entry.name
                    if deep and entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    else:
                        files.append(path)
                        if entry.is_symlink():
                            links.append(path)
        except OSError:
            complete = False
    return Tree(root, files, complete, links=links)


def unhidden(path: str, files: Sequence[str]) -> tuple[str, ...] | None:
    """Return the patterns after ``!`` in the ignore files of this folder, and of the folders above and below it.

    Return None if an ignore file can't be read. Implements `hitl.ports.Paths.unhidden`.
    """
    try:
        at = os.path.realpath(path)
        below = [f"{at}/{name}" for name in files if name.endswith(_IGNORE_FILES)]
        above = []
        while at != "/":
            at = os.path.dirname(at)
            above += [os.path.join(at, name) for name in _IGNORE_FILES]
        if len(below) > _MOST_IGNORE_FILES:
            return None
        return tuple(line for one in (*below, *above) for line in _negated(one))
    except (OSError, ValueError):
        return None


def _negated(path: str) -> list[str]:
    """Return the patterns after ``!`` in an ignore file, or [] if there is no such file. Raises OSError."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_PATTERNS:
        raise OSError(f"{path} is no ignore file that can be read")
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return [line[1:].rstrip() for line in file if line.startswith("!")]
