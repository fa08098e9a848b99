"""Whether a command's effects are such that it may run: each path judged as the tools that read and write are judged.

A command that reads a file may run only if the policy lets ``read_file`` read that file, and one that writes it only
if the policy lets ``write_file`` write it. So no command is allowed what the tool would be denied, whatever the rules.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from hitl.policy.globs import WILD, Glob, clean, is_pattern, meets
from hitl.policy.model import PolicyCall
from hitl.policy.shell.effects import Effects
from hitl.policy.shell.found import PathUse
from hitl.policy.shell.plain_words import looks_like_a_file
from hitl.policy.three_valued import NO, UNSURE, YES
from hitl.records import replace

if TYPE_CHECKING:
    from hitl.policy.model import Verdict
    from hitl.policy.ports import Paths
    from hitl.ports import Tree

#: Files and folders of a tree that are looked at; past them a person is asked.
MOST_ENTRIES: Final = 5_000
_MOST_MATCHES: Final = 200
_MOST_JUDGED: Final = 200
_CHUNK: Final = 200
#: The tools that a command's paths are judged as.
READ, WRITE = "read_file", "write_file"


@dataclass(frozen=True, slots=True)
class Closed:
    """What rules that deny or ask say of one tool's paths: their globs, and whether some of them say it otherwise.

    ``relevant``: a quick test of a text of many paths; false if no glob covers any of them. None if there is none.
    """

    globs: tuple[Glob, ...]
    untold: bool
    relevant: Callable[[str], bool] | None


@dataclass(frozen=True, slots=True)
class Vouching:
    """What a command's paths are judged with: the policy, the working folder, and the file system, if it may be asked.

    ``judge`` is the policy itself, ``by_text`` the same policy judging by text alone. ``closed`` says for each of the
    two tools what its rules deny or ask about.
    """

    judge: Callable[[PolicyCall], Verdict]
    by_text: Callable[[PolicyCall], Verdict]
    cwd: str | None
    paths: Paths | None
    closed: Mapping[str, Closed]

    def holds(self, found: Effects) -> int:
        """YES if every path may be used as the command uses it, NO if one is denied, else UNSURE."""
        answer = YES
        for use in found.uses:
            answer = min(answer, self._use(use))
            if answer == NO:
                break
        return answer

    def open_trees(self, folders: Sequence[str]) -> int:
        """YES if every file below the folders may be read, or if nothing but the folders' text is known."""
        if self.paths is None:
            return YES
        return min((self._tree(PathUse("tree", folder)) for folder in folders), default=YES)

    def _use(self, use: PathUse) -> int:
        if use.how in ("repository", "addresses"):
            return self._repository(use)
        if use.how in ("tree", "tracked", "moved"):
            return self._tree(use)
        if use.how == "former":
            return min(self._one(READ, use.path), self._file(use.path))
        tool = WRITE if use.how == "write" else READ
        return self._matches(use, tool) if use.wild else self._one(tool, use.path)

    def _one(self, tool: str, path: str) -> int:
        return _ANSWERS[self.judge(PolicyCall("", tool, {"path": path}, self.cwd)).action]

    def _file(self, path: str) -> int:
        """YES if the path is a file now: a branch or a folder with a name like a file's would be shown whole."""
        tree = self._tree_of(path, deep=False)
        return YES if self.paths is None or (tree is not None and tree.single) else UNSURE

    # --- patterns

    def _matches(self, use: PathUse, tool: str) -> int:
        """A pattern of names: nothing that it can name is closed, or what it names now is open."""
        closed = self.closed[tool]
        if not use.dashes and not closed.untold and not any(self._meets(one, use.path) for one in closed.globs):
            return min(self._one(tool, _example(use.path)), self._links(use.path, tool))
        found = self._expanded(use.path)
        if found is None or (use.dashes and any(name.startswith(("-", "+")) for name in found)):
            return UNSURE
        if not found:
            # It names nothing now; when the command runs, a closed file may be there.
            return min(UNSURE, self._one(tool, _example(use.path)))
        return min(self._one(tool, name) for name in found)

    def _meets(self, closed: Glob, pattern: str) -> bool:
        absolute = clean(pattern if pattern.startswith("/") or self.cwd is None else f"{self.cwd}/{pattern}")
        relative = clean(pattern)
        # What begins with ** fits the end of a path, which both have in common.
        return not closed.alternatives or any(
            meets(absolute, one) or (not one.startswith("**") and meets(relative, one)) for one in closed.alternatives
        )

    def _links(self, pattern: str, tool: str) -> int:
        """YES if each link that a pattern names now, or goes through, leads to what a tool may use."""
        if self.paths is None or self.cwd is None:
            return YES
        folders, linked = ["/" if pattern.startswith("/") else ""], set[str]()
        for part in pattern.strip("/").split("/"):
            if not is_pattern(part):
                folders = [posixpath.join(folder, part) for folder in folders]
                continue
            reached: list[str] = []
            for folder in folders:
                tree = self.paths.tree(posixpath.join(self.cwd, folder or "."), most=MOST_ENTRIES, deep=False)
                if tree is not None and not tree.complete:
                    return UNSURE
                if tree is not None and not tree.single:
                    links = frozenset(tree.links)
                    names = [name for name in tree.files if fnmatchcase(name, part)]
                    reached += [posixpath.join(folder, name) for name in names]
                    linked |= {posixpath.join(folder, name) for name in names if name in links}
            folders = reached
            if len(linked) > _MOST_MATCHES or len(folders) > MOST_ENTRIES:
                return UNSURE
        return min((self._one(tool, name) for name in linked), default=YES)

    def _expanded(self, pattern: str) -> list[str] | None:
        """The names that a pattern matches now, hidden ones too; None if that can't be told."""
        found = ["/"] if pattern.startswith("/") else [""]
        for part in pattern.strip("/").split("/"):
            if not is_pattern(part):
                found = [posixpath.join(folder, part) for folder in found]
                continue
            listed = [self._tree_of(folder or ".", deep=False) for folder in found]
            if None in listed:
                return None
            found = [
                posixpath.join(folder, name)
                for folder, tree in zip(found, listed, strict=True)
                if tree is not None and not tree.single
                for name in tree.files
                if fnmatchcase(name, part)
            ]
            if len(found) > _MOST_MATCHES:
                return None
        return found

    # --- trees and repositories

    def _tree(self, use: PathUse) -> int:
        """Every file below a folder: none may be closed to ``read_file``."""
        if use.wild and use.how == "moved":
            return min(self._matches(use, READ), self._matches(use, WRITE), self._expanded_moved(use))
        tools = (READ, WRITE) if use.how == "moved" else (READ,)
        answer = min(self._one(tool, use.path) for tool in tools)
        if answer != YES or use.wild:
            return min(answer, UNSURE)
        if self.paths is None and looks_like_a_file(use.path):
            return YES
        tree = self._tree_of(use.path)
        if tree is None or tree.single:
            return UNSURE if tree is None else YES
        return self._files(use, tree, tools)

    def _files(self, use: PathUse, tree: Tree, tools: Sequence[str]) -> int:
        """The files of a tree that the command uses."""
        found = list(tree.files)
        if use.how == "tracked":
            known = self._tracked(use.path)
            if known is None:
                return UNSURE
            found = [name for name in (*found, *known) if name.split("/", 1)[0] != ".git"]
        paths = [posixpath.join(use.path, name) for name in found if not _passed_over(name, use)]
        if use.only and not paths and self._may_name_closed(use):
            return UNSURE
        if use.split and any(map(_SPLITS.search, paths)):
            return UNSURE
        links = {posixpath.join(use.path, name) for name in tree.links} if use.follows else set()
        led = min((self._one(READ, path) for path in paths if path in links), default=YES)
        return min(led, *(self._open(paths, tool) for tool in tools))

    def _may_name_closed(self, use: PathUse) -> bool:
        """Whether a file that isn't there yet, but may be when the command runs, could be a closed one."""
        lasts = {_last(path) for one in self.closed[READ].globs for path in one.alternatives}
        return any(meets(pattern, last) for pattern in use.only for last in lasts)

    def _expanded_moved(self, use: PathUse) -> int:
        """The folders that a pattern names now, each with all below it."""
        found = self._expanded(use.path)
        if found is None:
            return YES if self.paths is None else UNSURE
        return min((self._tree(replace(use, path=name, wild=False)) for name in found), default=YES)

    def _tracked(self, path: str) -> Sequence[str] | None:
        """What git tracks: a file may be shown that isn't in the folder any more."""
        if self.paths is None or self.cwd is None:
            return None
        return self.paths.tracked(posixpath.join(self.cwd, path), most=MOST_ENTRIES)

    def _open(self, paths: list[str], tool: str) -> int:
        """YES if a tool is closed to none of many paths that lie in an open folder, else UNSURE."""
        closed = self.closed[tool]
        suspects = paths
        if closed.relevant is not None and not closed.untold:
            chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
            suspects = [path for chunk in chunks if closed.relevant("\n".join(chunk)) for path in chunk]
            suspects = [path for path in suspects if closed.relevant(path)]
        if len(suspects) > _MOST_JUDGED:
            return UNSURE
        judged = (self.by_text(PolicyCall("", tool, {"path": path}, self.cwd)).action for path in suspects)
        return YES if all(action == "allow" for action in judged) else UNSURE

    def _tree_of(self, path: str, *, deep: bool = True) -> Tree | None:
        """What lies below a path, or in it, if all of it can be told."""
        if self.paths is None or self.cwd is None:
            return None
        tree = self.paths.tree(posixpath.join(self.cwd, path), most=MOST_ENTRIES, deep=deep)
        return tree if tree is not None and tree.complete else None

    def _repository(self, use: PathUse) -> int:
        """Whether nothing in git's own files can make a reading command run a program, or shows a password."""
        if self.paths is None or self.cwd is None:
            return YES
        folder = posixpath.join(self.cwd, use.path)
        if self.paths.tree(folder, most=0) is None:
            return UNSURE
        found = self.paths.repository(folder)
        if found is None:
            return YES
        return UNSURE if found.armed is not None or (use.how == "addresses" and found.secret) else YES


_ANSWERS: Final = {"allow": YES, "approve": UNSURE, "deny": NO}


#: Characters that end a name for xargs, or that xargs takes off a name (POSIX, xargs).
_SPLITS: Final = re.compile(r"[\s'\"\\]")


def _example(pattern: str) -> str:
    """A name that a pattern matches, if nothing else is known of it."""
    return "".join("x" if char in WILD else char for char in pattern.replace("]", ""))


def _last(alternative: str) -> str:
    """The name that a glob's files end with; of a glob for all below a folder, the folder's."""
    return alternative.removesuffix("/**").rpartition("/")[2]


def _passed_over(name: str, use: PathUse) -> bool:
    """Whether the command leaves a file out: a hidden one, or one whose name no pattern covers."""
    parts = name.split("/")
    if use.visible and any(part.startswith(".") for part in parts):
        return True
    return bool(use.only) and not any(fnmatchcase(parts[-1], pattern) for pattern in use.only)
