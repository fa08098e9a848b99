"""Lists the files below a folder without following links."""

from __future__ import annotations

# Paths are strings here: making a Path for each entry takes ten times as long.
# ruff: noqa: PTH116
import os
import stat

from hitl.ports import Tree


def tree(path: str, most: int, *, deep: bool = True) -> Tree | None:
    """Implement `hitl.ports.Paths.tree`."""
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
