"""What lies below a folder, listed without following a link."""

from __future__ import annotations

# Paths stay text: a Path for each entry takes ten times as long.
# ruff: noqa: PTH112
import os

from hitl.ports import Tree


def tree(path: str, most: int, *, deep: bool = True) -> Tree | None:
    """Implement `hitl.ports.Paths.tree`."""
    try:
        root = os.path.realpath(path)
        if not os.path.isdir(root):
            return _single(root, most)
    except (OSError, ValueError):
        return None
    return _below(root, most, deep=deep)


def _single(root: str, most: int) -> Tree | None:
    folder, name = os.path.split(root)
    if not os.path.lexists(root):
        return None
    return Tree(folder, (name,) if most > 0 else (), complete=most > 0, single=True)


def _below(root: str, most: int, *, deep: bool) -> Tree:
    files: list[str] = []
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
        except OSError:
            complete = False
    return Tree(root, files, complete)
