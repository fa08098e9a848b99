"""What conditions on paths and hosts ask of this machine, at the moment of the call."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLateError

from adapters.policies.repositories import repository, tracked
from adapters.policies.trees import tree
from hitl.ports import Repository, Tree

_LOOKUP_S = 0.5
_LOOKUPS = 4


class RealPaths:
    """The file system as this process sees it."""

    def resolve(self, path: str, cwd: str) -> str | None:
        """The absolute path after links and dots; None for a loop of links, or what no path can be."""
        joined = os.path.join(cwd, path)  # noqa: PTH118 - a Path would drop the dots that links must be followed for
        try:
            found = os.path.realpath(joined)
            os.lstat(found)
        except FileNotFoundError:
            return found
        except (OSError, ValueError):
            return None
        return None if os.path.islink(found) else found  # noqa: PTH114 - a link that is left is a loop

    def case_insensitive(self, path: str) -> bool:
        """Whether the nearest name on the way to the path that exists is found in the other case, too."""
        at = os.path.abspath(path)  # noqa: PTH100 - the text of the path, not where it leads
        while at != "/":
            folder, name = os.path.split(at)
            swapped = name.swapcase()
            if swapped != name and os.path.exists(at):  # noqa: PTH110 - as above
                return _same(at, os.path.join(folder, swapped))  # noqa: PTH118 - as above
            at = folder
        return False

    def repository(self, path: str) -> Repository | None:
        """Return the git repository that git would use from this folder, or None; by reading files, not by git."""
        return repository(path)

    def tracked(self, path: str, *, most: int) -> Sequence[str] | None:
        """Return the paths that the repository of this folder tracks, by its index; None if that can't be told."""
        return tracked(path, most)

    def tree(self, path: str, *, most: int, deep: bool = True) -> Tree | None:
        """Return what lies below a folder, as far as `most` entries go; None for what isn't there."""
        return tree(path, most, deep=deep)


class SystemResolver:
    """The names that this machine can look up, within half a second."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="resolver")

    def resolve(self, host: str) -> Sequence[str] | None:
        """Every address of the host; None where nobody told in time."""
        asked = self._pool.submit(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        try:
            found = asked.result(_LOOKUP_S)
        except (OSError, UnicodeError, TooLateError):
            asked.cancel()
            return None
        return sorted({str(address[0]).partition("%")[0] for *_, address in found})


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - as above
    except OSError:
        return False
