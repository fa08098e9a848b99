"""Decides whether a command may use its paths. Each path is judged as if a tool read or wrote that file.

A command that reads a file may run only if the policy allows ``read_file`` on that file. A command that writes a file
may run only if the policy allows ``write_file`` on it. So a command can never use a file that is denied to the tool.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hitl.policy.globs import WILD, Glob, clean, meets, names_in
from hitl.policy.listing import MOST_ENTRIES, Listing, above, may_be
from hitl.policy.made import SPLITS, mistaken, outdated
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

_MOST_JUDGED: Final = 200
_CHUNK: Final = 200
#: A command's use of a path is judged as a call of one of these tools: one reads a file, the other writes it.
READ, WRITE = "read_file", "write_file"


@dataclass(frozen=True, slots=True)
class Closed:
    """The paths of one tool that rules deny or ask about.

    - ``globs`` are the path globs of these rules.
    - ``untold`` says that a rule also tests paths in another way.
    - ``relevant`` gets a text with many paths, and quickly returns False if no glob covers any of the paths. It is None
      if the globs allow no quick test.
    """

    globs: tuple[Glob, ...]
    untold: bool
    relevant: Callable[[str], bool] | None


@dataclass(frozen=True, slots=True)
class Vouching:
    """Judges the paths that a command uses.

    - ``judge`` is the policy's method.
    - ``by_text`` is the same method of the policy that doesn't use the file system.
    - ``paths`` is the file system. It is None if the file system can't be used, for example because the working folder
      ``cwd`` is on another machine.
    - ``closed`` holds the paths that rules deny or ask about, for each of the two tools.
    """

    judge: Callable[[PolicyCall], Verdict]
    by_text: Callable[[PolicyCall], Verdict]
    cwd: str | None
    paths: Paths | None
    closed: Mapping[str, Closed]

    def holds(self, found: Effects) -> int:
        """Return YES if the policy allows every use of a path by a command, NO if it denies one use, else UNSURE."""
        answer = UNSURE if outdated(found.uses, self._moved_names) else YES
        for use in found.uses:
            answer = min(answer, self._use(use))
            if answer == NO:
                break
        return answer

    def open_trees(self, folders: Sequence[str]) -> int:
        """Return YES if the policy allows reading every file below the folders, else NO or UNSURE."""
        return min((self._tree(PathUse("tree", folder)) for folder in folders), default=YES)

    @property
    def _listing(self) -> Listing:
        return Listing(self.cwd, self.paths)

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
        """Return YES if the path is a file now, else UNSURE.

        If the path is a folder, or git takes it for the name of a branch, git would show all files in the folder or
        branch.
        """
        tree = self._listing.tree(path, deep=False)
        return YES if self.paths is None or (tree is not None and tree.single) else UNSURE

    # --- paths that are patterns of file names

    def _matches(self, use: PathUse, tool: str) -> int:
        """Return YES, NO or UNSURE: whether the command may use the files of a pattern, such as `*.txt`.

        If no rule that denies or asks can match a file of the pattern, two things are judged: one example name, and
        each symbolic link that the pattern matches. Otherwise each file that the pattern matches now is judged, and the
        answer is YES only if the tool may use all of them. The answer is at most UNSURE in three cases: the pattern
        matches no file, it can't be expanded, or a program could take a matched name for an option.
        """
        if self._meets_none(use, tool):
            return self._any(use.path, tool)
        found = self._listing.expanded(use.path)
        if not found and tool == READ and self._meets_none(use, tool, hidden=False):
            # A shell's wildcards match no hidden file, unless a shell option or a leading dot in the pattern asks for
            # it.
            return self._any(use.path, tool)
        if found is None or any(_mistaken(name, use) for name in found):
            return UNSURE
        if not found:
            # The pattern matches no file now, but a file that a rule denies may be there when the command runs.
            return min(UNSURE, self._one(tool, _example(use.path)))
        return min(self._one(tool, name) for name in found)

    def _any(self, pattern: str, tool: str) -> int:
        """Return YES if the tool may use every file that a pattern matches, else NO or UNSURE.

        The caller has checked that no rule that denies or asks can match these files. So one example name is enough for
        the rules that allow. Symbolic links that the pattern matches are judged too, because they lead elsewhere.
        """
        return min(self._one(tool, _example(pattern)), self._links(pattern, tool))

    def _meets_none(self, use: PathUse, tool: str, *, hidden: bool = True) -> bool:
        """Return whether no rule that denies or asks can apply to a file that the pattern matches."""
        closed = self.closed[tool]
        if use.dashes or use.named or closed.untold:
            return False
        return not any(self._meets(one, use.path, hidden=hidden) for one in closed.globs)

    def _meets(self, closed: Glob, pattern: str, *, hidden: bool) -> bool:
        absolute = clean(pattern if pattern.startswith("/") or self.cwd is None else f"{self.cwd}/{pattern}")
        relative = clean(pattern)
        if not closed.alternatives or meets(absolute, closed.alternatives, hidden=hidden):
            return True
        # A glob that begins with ** or / was compared with the absolute pattern above. A comparison with the relative
        # pattern would add nothing.
        return not closed.absolute and meets(relative, closed.alternatives, hidden=hidden)

    def _links(self, pattern: str, tool: str) -> int:
        """Return YES if the tool may use the target of each symbolic link that the pattern now matches, also as a
        folder in the middle of the path.

        Else return NO or UNSURE.
        """
        linked = self._listing.links(pattern)
        return UNSURE if linked is None else min((self._one(tool, name) for name in linked), default=YES)

    # --- folders and repositories

    def _tree(self, use: PathUse) -> int:
        """Return YES, NO or UNSURE: whether the command may use all files below a folder.

        The policy must allow ``read_file`` on each file; if the command moves the folder, ``write_file`` too. A
        symbolic link may lead to another file after it is moved, so the answer for a link is at most UNSURE.
        """
        if use.wild and use.how == "moved":
            return min(self._matches(use, READ), self._matches(use, WRITE), self._expanded_moved(use))
        tools = (READ, WRITE) if use.how == "moved" else (READ,)
        answer = min(self._one(tool, use.path) for tool in tools)
        if answer != YES or use.wild:
            return min(answer, UNSURE)
        if self.paths is None and looks_like_a_file(use.path):
            return YES
        tree = self._listing.tree(use.path)
        if tree is None or (use.how == "moved" and (tree.links or self._listing.is_link(use.path))):
            return UNSURE
        if tree.single:
            return YES
        return self._files(use, tree, tools)

    def _files(self, use: PathUse, tree: Tree, tools: Sequence[str]) -> int:
        """Return YES, NO or UNSURE: whether the policy allows the command to use each file of ``tree`` that it would
        use.
        """
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
        if use.split and any(map(SPLITS.search, paths)):
            return UNSURE
        if any(_mistaken(name, use) or (use.dashes and not _PLAIN.fullmatch(name)) for name in found):
            return UNSURE
        links = {posixpath.join(use.path, name) for name in tree.links} if use.follows else set()
        led = min((self._one(READ, path) for path in paths if path in links), default=YES)
        return min(led, *(self._open(paths, tool) for tool in tools))

    def _unhidden(self, path: str, tree: Tree) -> list[str] | None:
        """Return the patterns of hidden names that ignore files (such as .gitignore) add to a search.

        Return None if the ignore files can't be read.
        """
        if self.paths is None or self.cwd is None:
            return None
        patterns = self.paths.unhidden(posixpath.join(self.cwd, path), tree.files)
        return None if patterns is None else [name for one in patterns for name in names_in(one)]

    def _may_name_closed(self, use: PathUse) -> bool:
        """Return whether a file that is made before the command runs could match both the command and a rule that
        denies or asks.
        """
        lasts = dict.fromkeys(_last(path) for one in self.closed[READ].globs for path in one.alternatives)
        # Globs of hidden names with any ending, such as `.env.*`, are left out. A new file `.env.md` could match
        # `.env.*` and the command's pattern `*.md`, so a person would be asked about every such command.
        named = tuple(last for last in lasts if not (last.startswith(".") and last.endswith("*")))
        return any(meets(pattern, named) for pattern in use.only)

    def _moved_names(self, use: PathUse) -> Iterable[str] | None:
        """Return every name that a command takes to another place when it moves or copies a file or folder.

        Return None if the names can't be listed. Without a file system, return the names in the path.
        """
        if self.paths is None:
            return use.path.split("/")
        moved = self._listing.expanded(use.path) if use.wild else [use.path]
        trees = None if moved is None else [self._listing.tree(path) for path in moved]
        if moved is None or trees is None or None in trees:
            return None
        below = [name for tree in trees if tree is not None and not tree.single for name in tree.files]
        return [part for path in (*moved, *below) for part in path.split("/")]

    def _expanded_moved(self, use: PathUse) -> int:
        """Return YES, NO or UNSURE: whether the command may move the folders that a pattern matches now."""
        found = self._listing.expanded(use.path)
        if found is None:
            return YES if self.paths is None else UNSURE
        return min((self._tree(replace(use, path=name, wild=False)) for name in found), default=YES)

    def _tracked(self, path: str, tree: Tree) -> Sequence[str] | None:
        """Return the files below a folder that git may show: the files that it tracks, even deleted ones, and all files
        in submodules.

        Without a repository, git may show every file.

        Return None if git's list of files can't be read.
        """
        if self.paths is None or self.cwd is None:
            return None
        folder = posixpath.join(self.cwd, path)
        repository = self.paths.repository(folder)
        known = self.paths.tracked(folder, most=MOST_ENTRIES)
        if repository is None or known is None:
            return None if known is None else tree.files
        # In git's list, a submodule is an entry like a file.
        files, inner = {name.rstrip("/") for name in known}, tree.root.removeprefix(repository.root).strip("/")
        return [*known, *(name for name in tree.files if not files.isdisjoint(above(posixpath.join(inner, name))))]

    def _open(self, paths: list[str], tool: str) -> int:
        """Return YES if the policy allows the tool to use each of these paths, else UNSURE."""
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

    def _repository(self, use: PathUse) -> int:
        """Return YES if reading with git is safe in this repository, else UNSURE.

        It is safe if the repository's settings let no reading command run a program or show a password.
        """
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


#: Matches names that git and a shell pass on unchanged. git quotes other names (git-config(1), core.quotePath).
_PLAIN: Final = re.compile(r"[^\x00-\x20\x7f-\uffff\U00010000-\U0010ffff\"'\\*?\[]*")


def _mistaken(path: str, use: PathUse) -> bool:
    """Return whether a program could mistake a matched file (``mistaken``).

    The line may have gone to a folder of the path, so the name may begin after any slash.
    """
    return any(mistaken(name, use) for name in path.split("/"))


def _example(pattern: str) -> str:
    """Return one name that a pattern matches, as an example."""
    return "".join("x" if char in WILD else char for char in pattern.replace("]", ""))


def _last(alternative: str) -> str:
    """Return the last component of a glob, without a ``/**`` at the end."""
    return alternative.removesuffix("/**").rpartition("/")[2]


def _passed_over(name: str, use: PathUse) -> bool:
    """Return whether the command doesn't read a file, because the file or its folder is hidden, or no pattern matches
    its name.
    """
    parts = name.split("/")
    hidden = [part.lower() for part in parts if part.startswith(".")]
    if use.shown is not None and not all(any(may_be(part, pattern) for pattern in use.shown) for part in hidden):
        return True
    return bool(use.only) and not any(may_be(parts[-1], pattern) for pattern in use.only)
