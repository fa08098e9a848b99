"""Decides whether a command may use its paths: each path is judged as a call of a tool that reads or writes files.

A command that reads a file may run only if the policy allows ``read_file`` on that file. A command that writes a file
may run only if the policy allows ``write_file`` on it. So a command can never use a file that is denied to the tool.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from hitl.policy.globs import WILD, Glob, broadened, clean, is_pattern, meets, names_in
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

#: At most this many files and folders of a tree are looked at. For a larger tree, a person is asked.
MOST_ENTRIES: Final = 5_000
_MOST_MATCHES: Final = 200
_MOST_JUDGED: Final = 200
_CHUNK: Final = 200
#: The two tools by which a path of a command is judged: one tool reads files, the other writes files.
READ, WRITE = "read_file", "write_file"


@dataclass(frozen=True, slots=True)
class Closed:
    """The paths of one tool that rules deny or ask about.

    ``globs`` are the path globs of these rules. ``untold`` says that a rule also tests paths in another way.
    ``relevant`` is a quick test of a text with many paths, false if no glob covers any of them, or None if the globs
    allow no such test.
    """

    globs: tuple[Glob, ...]
    untold: bool
    relevant: Callable[[str], bool] | None


@dataclass(frozen=True, slots=True)
class Vouching:
    """Judges the paths of a command by the policy, the working folder, and the file system if it is on this machine.

    ``judge`` is the policy itself. ``by_text`` is the same policy without a look at the file system. ``closed`` holds
    the paths that rules deny or ask about, for each of the two tools.
    """

    judge: Callable[[PolicyCall], Verdict]
    by_text: Callable[[PolicyCall], Verdict]
    cwd: str | None
    paths: Paths | None
    closed: Mapping[str, Closed]

    def holds(self, found: Effects) -> int:
        """Return YES if the policy allows every use of a path, NO if it denies one, else UNSURE."""
        answer = YES
        for use in found.uses:
            answer = min(answer, self._use(use))
            if answer == NO:
                break
        return answer

    def open_trees(self, folders: Sequence[str]) -> int:
        """Return YES if every file below the folders may be read, else NO or UNSURE."""
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
        """Return YES if the path is a file now, else UNSURE. If the path names a branch or a folder, git would show all
        files in it.
        """
        tree = self._tree_of(path, deep=False)
        return YES if self.paths is None or (tree is not None and tree.single) else UNSURE

    # --- patterns

    def _matches(self, use: PathUse, tool: str) -> int:
        """Judge a pattern of file names.

        If the pattern overlaps no glob of a rule that denies or asks (a closed glob), judge one example name and the
        links that the pattern reaches. Otherwise judge each file that the pattern matches now, and return YES only if
        the tool may use all of them. Return at most UNSURE if the pattern matches no file or can't be expanded, or if a
        matched name could be read as an option.
        """
        if self._meets_none(use, tool):
            return self._any(use.path, tool)
        found = self._expanded(use.path)
        if not found and tool == READ and self._meets_none(use, tool, hidden=False):
            # By default, the wildcards of a shell match no hidden file.
            return self._any(use.path, tool)
        if found is None or (use.dashes and any(name.startswith(("-", "+")) for name in found)):
            return UNSURE
        if not found:
            # The pattern matches nothing now, but a closed file may be there when the command runs.
            return min(UNSURE, self._one(tool, _example(use.path)))
        return min(self._one(tool, name) for name in found)

    def _any(self, pattern: str, tool: str) -> int:
        """Judge a pattern that meets no closed glob: judge one name that the pattern matches, and the links that the
        pattern reaches.
        """
        return min(self._one(tool, _example(pattern)), self._links(pattern, tool))

    def _meets_none(self, use: PathUse, tool: str, *, hidden: bool = True) -> bool:
        """Return whether the pattern meets no closed glob, and no other condition can close a file that it matches."""
        closed = self.closed[tool]
        if use.dashes or closed.untold:
            return False
        return not any(self._meets(one, use.path, hidden=hidden) for one in closed.globs)

    def _meets(self, closed: Glob, pattern: str, *, hidden: bool) -> bool:
        absolute = clean(pattern if pattern.startswith("/") or self.cwd is None else f"{self.cwd}/{pattern}")
        relative = clean(pattern)
        if not closed.alternatives or meets(absolute, closed.alternatives, hidden=hidden):
            return True
        # A glob that begins with ** or / is compared only with the absolute form of the path, because the relative form
        # has the same end.
        return not closed.absolute and meets(relative, closed.alternatives, hidden=hidden)

    def _links(self, pattern: str, tool: str) -> int:
        """Return YES if the tool may use the target of each link that the pattern matches now or passes through."""
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
                    names = [name for name in tree.files if _may_be(name, part)]
                    reached += [posixpath.join(folder, name) for name in names]
                    linked |= {posixpath.join(folder, name) for name in names if name in links}
            folders = reached
            if len(linked) > _MOST_MATCHES or len(folders) > MOST_ENTRIES:
                return UNSURE
        return min((self._one(tool, name) for name in linked), default=YES)

    def _expanded(self, pattern: str) -> list[str] | None:
        """Return the names that a pattern matches now, hidden names too, or None if a folder can't be listed whole."""
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
                if _may_be(name, part)
            ]
            if len(found) > _MOST_MATCHES:
                return None
        return [name for name in found if self._is_folder(name)] if pattern.endswith("/") else found

    def _is_folder(self, path: str) -> bool:
        tree = self._tree_of(path, deep=False)
        return tree is None or not tree.single

    # --- trees and repositories

    def _tree(self, use: PathUse) -> int:
        """Judge every file below a folder: ``read_file`` must be allowed on each, for moves ``write_file`` as well."""
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
        """Judge the files of a tree that the command uses."""
        found = list(tree.files)
        if use.how == "tracked":
            known = self._tracked(use.path, tree)
            if known is None:
                return UNSURE
            found = [name for name in known if name.split("/", 1)[0] != ".git"]
        if use.shown is not None:
            unhidden = self._unhidden(use.path, tree)
            if unhidden is None:
                return UNSURE
            use = replace(use, shown=(*use.shown, *unhidden))
        found = [name for name in found if not _passed_over(name, use)]
        paths = [posixpath.join(use.path, name) for name in found]
        if use.only and not paths and self._may_name_closed(use):
            return UNSURE
        if use.split and any(map(_SPLITS.search, paths)):
            return UNSURE
        if use.dashes and any(name.startswith(("-", "+")) or not _PLAIN.fullmatch(name) for name in found):
            return UNSURE
        links = {posixpath.join(use.path, name) for name in tree.links} if use.follows else set()
        led = min((self._one(READ, path) for path in paths if path in links), default=YES)
        return min(led, *(self._open(paths, tool) for tool in tools))

    def _unhidden(self, path: str, tree: Tree) -> list[str] | None:
        """Return the patterns of hidden names that the ignore files add to a search, or None if they can't be read."""
        if self.paths is None or self.cwd is None:
            return None
        patterns = self.paths.unhidden(posixpath.join(self.cwd, path), tree.files)
        return None if patterns is None else [name for one in patterns for name in names_in(one)]

    def _may_name_closed(self, use: PathUse) -> bool:
        """Return whether a file that appears before the command runs could match a closed glob."""
        lasts = dict.fromkeys(_last(path) for one in self.closed[READ].globs for path in one.alternatives)
        # Hidden names with any ending, such as `.env.*`, would meet each pattern that names only an ending, such as
        # `*.md`.
        named = tuple(last for last in lasts if not (last.startswith(".") and last.endswith("*")))
        return any(meets(pattern, named) for pattern in use.only)

    def _expanded_moved(self, use: PathUse) -> int:
        """Judge the folders that a pattern matches now, each with all files below it."""
        found = self._expanded(use.path)
        if found is None:
            return YES if self.paths is None else UNSURE
        return min((self._tree(replace(use, path=name, wild=False)) for name in found), default=YES)

    def _tracked(self, path: str, tree: Tree) -> Sequence[str] | None:
        """Return the files that git may show: the files that it tracks, also if they aren't there any more, and all
        files in submodules. Without a repository, git may show every file.

        Return None if git's list of files can't be read.
        """
        if self.paths is None or self.cwd is None:
            return None
        folder = posixpath.join(self.cwd, path)
        repository = self.paths.repository(folder)
        known = self.paths.tracked(folder, most=MOST_ENTRIES)
        if repository is None or known is None:
            return None if known is None else tree.files
        # The list has a submodule as if it were a file.
        files, above = {name.rstrip("/") for name in known}, tree.root.removeprefix(repository.root).strip("/")
        return [*known, *(name for name in tree.files if not files.isdisjoint(_above(posixpath.join(above, name))))]

    def _open(self, paths: list[str], tool: str) -> int:
        """Return YES if the policy allows a tool on each of these paths, else UNSURE."""
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
        """Return the tree below a path, or None if it can't be listed whole.

        Without ``deep``, it has only the folder's own entries.
        """
        if self.paths is None or self.cwd is None:
            return None
        tree = self.paths.tree(posixpath.join(self.cwd, path), most=MOST_ENTRIES, deep=deep)
        return tree if tree is not None and tree.complete else None

    def _repository(self, use: PathUse) -> int:
        """Return YES if git's own files can't make a reading command run a program or show a password, else UNSURE."""
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


#: Names that git and a shell leave unchanged: git quotes other characters (git-config(1), core.quotePath).
_PLAIN: Final = re.compile(r"[^\x00-\x20\x7f-\uffff\U00010000-\U0010ffff\"'\\*?\[]*")


def _example(pattern: str) -> str:
    """Return one name that a pattern matches, as an example for all of them."""
    return "".join("x" if char in WILD else char for char in pattern.replace("]", ""))


def _may_be(name: str, pattern: str) -> bool:
    """Return whether a program could take a name for a match of a pattern."""
    return fnmatchcase(name, broadened(pattern))


def _above(path: str) -> Iterator[str]:
    """Yield the folders above a relative path."""
    return (path[:at] for at, char in enumerate(path) if char == "/")


def _last(alternative: str) -> str:
    """Return the last component of a glob; for a glob of all files below a folder, the name of the folder."""
    return alternative.removesuffix("/**").rpartition("/")[2]


def _passed_over(name: str, use: PathUse) -> bool:
    """Return whether the command leaves a file out: it or its folder is hidden, or no pattern covers its name."""
    parts = name.split("/")
    hidden = [part.lower() for part in parts if part.startswith(".")]
    if use.shown is not None and not all(any(_may_be(part, pattern) for pattern in use.shown) for part in hidden):
        return True
    return bool(use.only) and not any(_may_be(parts[-1], pattern) for pattern in use.only)
