"""Answers the questions of policy conditions about this machine's paths and hosts, at the moment of the call."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLateError

from adapters.policies.repositories import repository, tracked
from adapters.policies.trees import tree, unhidden
from hitl.ports import Repository, Tree

_LOOKUP_S = 0.5
_LOOKUPS = 4


class RealPaths:
    """Answers questions about paths from the file system of this machine."""

    def resolve(self, path: str, cwd: str) -> str | None:
        """Return the absolute path without links, `.` and `..`.

        Return None for a loop of links, or for a text that can't be a path.
        """
        joined = os.path.join(cwd, path)  # noqa: PTH118 - a Path would drop the dots of `link/..`
        try:
            found = os.path.realpath(joined)
            os.lstat(found)
        except FileNotFoundError:
            return found
        except (OSError, ValueError):
            return None
        return None if os.path.islink(found) else found  # noqa: PTH114 - realpath leaves a link only if it is in a loop

    def case_insensitive(self, path: str) -> bool:
        """Return whether the file system at this path ignores upper and lower case.

        The test takes the nearest existing ancestor whose name has letters, and looks for it with the case swapped.
        """
        at = os.path.abspath(path)  # noqa: PTH100 - no link may be followed here
        while at != "/":
            folder, name = os.path.split(at)
            swapped = name.swapcase()
            if swapped != name and os.path.exists(at):  # noqa: PTH110
                return _same(at, os.path.join(folder, swapped))  # noqa: PTH118
            at = folder
        return False

    def repository(self, path: str) -> Repository | None:
        """Return the repository that git would use in this folder, or None.

        This reads the repository's files and never runs git.
        """
        return repository(path)

    def tracked(self, path: str, *, most: int) -> Sequence[str] | None:
        """Return the paths in the index of this folder's repository, or None if the index can't be read."""
        return tracked(path, most)

    def unhidden(self, path: str, files: Sequence[str]) -> Sequence[str] | None:
        """Return the patterns after `!` in the ignore files of this folder, and of the folders above and below it.

        `files` has the paths of all files below the folder. Return None if an ignore file can't be read.
        """
        return unhidden(path, files)

    def tree(self, path: str, *, most: int, deep: bool = True) -> Tree | None:
        """Return the files below a folder, or None if the path doesn't exist.

        At most `most` entries are examined. Without `deep`, subfolders aren't searched.
        """
        return tree(path, most, deep=deep)


class SystemResolver:
    """Looks up host names as this machine does, for at most half a second each."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="resolver")

    def resolve(self, host: str) -> Sequence[str] | None:
        """Return every address of the host, or None if the lookup fails or takes too long."""
        asked = self._pool.submit(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        try:
            found = asked.result(_LOOKUP_S)
        except (OSError, UnicodeError, TooLateError):
            asked.cancel()
            return None
        return sorted({str(address[0]).partition("%")[0] for *_, address in found})


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False
