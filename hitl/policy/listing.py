"""Lists the files that a shell's pattern of file names matches now, and the symbolic links that it matches."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from hitl.policy.globs import BadGlob, broadened, glob, is_pattern, literal_folder

if TYPE_CHECKING:
    from hitl.policy.ports import Paths
    from hitl.ports import Tree

#: At most this many files and folders below a folder are judged. If there are more, a person is asked.
MOST_ENTRIES: Final = 5_000
_MOST_MATCHES: Final = 200
#: Matches a component ``**``. zsh, and bash with `globstar`, take it for any number of folders; other shells take it
#: for one folder.
_DEEP = re.compile(r"(?:^|/)\*\*+(?:/|$)")


@dataclass(frozen=True, slots=True)
class Listing:
    """The files below a working folder, as they are now.

    ``paths`` is the file system, or None if it can't be used. ``cwd`` is the working folder, or None if it is unknown.
    """

    cwd: str | None
    paths: Paths | None

    def tree(self, path: str, *, deep: bool = True) -> Tree | None:
        """Return the files and folders below a path, or None if they can't be listed completely.

        Without ``deep``, the result has only the entries of the folder itself.
        """
        tree = self._looked(path, deep=deep)
        return tree if tree is not None and tree.complete else None

    def is_link(self, path: str) -> bool:
        """Return whether a path is a symbolic link, or can't be examined. Without a file system, return False."""
        if self.paths is None or self.cwd is None:
            return False
        folder, name = posixpath.split(posixpath.normpath(path))
        tree = self.tree(folder or ".", deep=False)
        return tree is None or name in tree.links

    def expanded(self, pattern: str) -> list[str] | None:
        """Return the file names that a pattern matches now, also hidden ones, or None if a folder can't be listed
        completely or if there are too many names.
        """
        if _DEEP.search(pattern):
            return self._expanded_deep(pattern)
        found = ["/"] if pattern.startswith("/") else [""]
        for part in pattern.strip("/").split("/"):
            if not is_pattern(part):
                found = [posixpath.join(folder, part) for folder in found]
                continue
            listed = [self.tree(folder or ".", deep=False) for folder in found]
            if None in listed:
                return None
            found = [
                posixpath.join(folder, name)
                for folder, tree in zip(found, listed, strict=True)
                if tree is not None and not tree.single
                for name in tree.files
                if may_be(name, part)
            ]
            if len(found) > _MOST_MATCHES:
                return None
        return [name for name in found if self._is_folder(name)] if pattern.endswith("/") else found

    def links(self, pattern: str) -> list[str] | None:
        """Return the symbolic links that a pattern now matches, also as a folder in the middle of the path.

        Return None if a folder can't be listed completely or if there are too many links. Without a file system,
        return [].
        """
        if self.paths is None or self.cwd is None:
            return []
        if _DEEP.search(pattern):
            return self._links_deep(pattern)
        folders, linked = ["/" if pattern.startswith("/") else ""], set[str]()
        for part in pattern.strip("/").split("/"):
            if not is_pattern(part):
                folders = [posixpath.join(folder, part) for folder in folders]
                continue
            reached: list[str] = []
            for folder in folders:
                tree = self._looked(folder or ".", deep=False)
                if tree is not None and not tree.complete:
                    return None
                if tree is not None and not tree.single:
                    links = frozenset(tree.links)
                    names = [name for name in tree.files if may_be(name, part)]
                    reached += [posixpath.join(folder, name) for name in names]
                    linked |= {posixpath.join(folder, name) for name in names if name in links}
            folders = reached
            if len(linked) > _MOST_MATCHES or len(folders) > MOST_ENTRIES:
                return None
        return list(linked)

    def _expanded_deep(self, pattern: str) -> list[str] | None:
        """Return what ``expanded`` returns, for a pattern with a component ``**``.

        A symbolic link below the folder could lead the rest of the pattern elsewhere, so the result is then None.
        """
        folder = _folder_of(pattern)
        tree = self.tree(folder or ".")
        if tree is None or _reachable(tree.links, pattern) or ".." in pattern.split("/"):
            return None
        try:
            wanted = glob(broadened(pattern[len(folder) :].lstrip("/")))
        except BadGlob:
            return None
        names = dict.fromkeys(part for name in tree.files for part in (*above(name), name))
        found = [] if tree.single else [posixpath.join(folder, name) for name in names if wanted.covers(name)]
        return None if len(found) > _MOST_MATCHES else found

    def _links_deep(self, pattern: str) -> list[str] | None:
        """Return all symbolic links to which a pattern with a component ``**`` may lead, or None as ``links``."""
        folder = _folder_of(pattern)
        tree = self._looked(folder or ".")
        if tree is None:
            return []
        linked = _reachable(tree.links, pattern)
        if not tree.complete or ".." in pattern.split("/") or len(linked) > _MOST_MATCHES:
            return None
        return [posixpath.join(folder, name) for name in linked]

    def _is_folder(self, path: str) -> bool:
        tree = self.tree(path, deep=False)
        return tree is None or not tree.single

    def _looked(self, path: str, *, deep: bool = True) -> Tree | None:
        if self.paths is None or self.cwd is None:
            return None
        return self.paths.tree(posixpath.join(self.cwd, path), most=MOST_ENTRIES, deep=deep)


def may_be(name: str, pattern: str) -> bool:
    """Return whether some program or shell could take a pattern to match a name."""
    return fnmatchcase(name, broadened(pattern))


def above(path: str) -> Iterator[str]:
    """Yield each folder above a relative path, from the top."""
    return (path[:at] for at, char in enumerate(path) if char == "/")


def _reachable(links: Sequence[str], pattern: str) -> list[str]:
    """Return the links to which a pattern with a component ``**`` may lead.

    Without a component that begins with a dot, the pattern matches nothing in a hidden folder.
    """
    hidden = any(part.startswith(".") and part != "." for part in pattern.split("/"))
    return [name for name in links if hidden or not (name.startswith(".") or "/." in name)]


def _folder_of(pattern: str) -> str:
    """Return the folder before the first wildcard of a pattern. For a relative pattern without one, return ''."""
    return literal_folder(pattern) or ("/" if pattern.startswith("/") else "")
