"""Patterns for paths: `*`, `?` and `[...]` match within one name, and `**` matches any number of folders.

As in a shell, a name that starts with a dot matches only if its part of the pattern starts with a dot.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def regular_files(pattern: tuple[str, ...], root: int) -> Iterator[tuple[str, ...]]:
    """Yield the regular files below an open folder that match the pattern.

    The files of a folder come in the order of their names, and before the files of its subfolders. Links are neither
    matched nor followed. Names that aren't UTF-8 are left out, because an agent can't write them in an argument.
    """
    for at, folders, names, folder in os.fwalk(".", dir_fd=root, follow_symlinks=False):
        above = tuple(part for part in at.split("/") if part != ".")
        folders[:] = sorted(name for name in folders if _leads_on(pattern, (*above, name)))
        for name in sorted(names):
            parts = (*above, name)
            if matches(pattern, parts) and _is_utf8(name) and _is_regular(name, folder):
                yield parts


def matches(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Return whether the whole path matches the whole pattern. Both are given as their components."""
    return len(pattern) in _reached(pattern, parts)


def _leads_on(pattern: tuple[str, ...], folders: tuple[str, ...]) -> bool:
    """Return whether a path in this folder can match the pattern. `folders` has the components of the folder's path."""
    return any(place < len(pattern) for place in _reached(pattern, folders))


def _reached(pattern: tuple[str, ...], parts: tuple[str, ...]) -> set[int]:
    """Return all positions in the pattern at which the next path component can continue with the match.

    The function follows all positions together, because backtracking could take very long.
    """
    places = _past_stars(pattern, {0})
    for part in parts:
        stepped = {place + (pattern[place] != "**") for place in places if _step(pattern, place, part)}
        places = _past_stars(pattern, stepped)
    return places


def _past_stars(pattern: tuple[str, ...], places: set[int]) -> set[int]:
    reached = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] == "**":
            place += 1  # noqa: PLW2901  each position is moved past the `**`
            reached.add(place)
    return reached


def _step(pattern: tuple[str, ...], place: int, part: str) -> bool:
    if place == len(pattern):
        return False
    if part.startswith(".") and not pattern[place].startswith("."):
        return False
    return pattern[place] == "**" or fnmatch.fnmatchcase(part, pattern[place])


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _is_regular(name: str, folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
