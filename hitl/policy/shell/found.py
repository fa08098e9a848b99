"""The effects of the steps of a line, collected one after the other: their kinds, and the paths that they use."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hitl.policy.globs import is_pattern
from hitl.policy.shell.arguments import ParsedArguments, parse, program_name
from hitl.policy.shell.plain import Step
from hitl.policy.shell.plain_words import NotPlain, ShellWord
from hitl.policy.tables import known

_SAYS: Final = {
    "read": "only reads",
    "query": "asks a service",
    "write": "changes files",
    "build": "runs code of the project",
    "connect": "connects to another host",
    "delete": "deletes or discards something",
}
#: From the weakest to the strongest.
EFFECTS: Final = known.EFFECTS
MAX_USES: Final = 128  # each is judged as a call of its own
_MOST_STEPS = 512
_MOVES = frozenset(("cp", "mv"))  # files, and all below folders, get another place under their own names
_PATHS = frozenset(("path", "named", "item"))


@dataclass(frozen=True, slots=True)
class PathUse:
    """One path that a command uses.

    ``how``: ``read`` (this file, or the names in this folder), ``write``, ``tree`` (every file below it), ``tracked``
    (every file that git may track there), ``former`` (git shows this file, also as it was), ``moved`` (it, and all
    below it, may be written elsewhere), ``repository`` (git looks at the repository that the folder is in, and its
    configuration) or ``addresses`` (it shows the addresses of other repositories). ``wild``: the path is a pattern.
    ``only``: of a tree, the patterns of base names that are read. ``visible``: hidden files are left out. ``dashes``: a
    name that the pattern matches could be taken for an option. ``follows``: links in the tree are read where they lead.
    ``split``: the names are handed on as text, so that a name with a blank would be taken for several names.
    """

    how: str
    path: str
    wild: bool = False
    only: tuple[str, ...] = ()
    visible: bool = False
    dashes: bool = False
    follows: bool = False
    split: bool = False


@dataclass(slots=True)
class Found:
    """Collects the effects of steps."""

    #: The programs whose words a function reads, and that function.
    handlers: Mapping[str, Callable[[Found, Step], None]]
    does: set[str] = field(default_factory=set)
    says: str = ""
    uses: list[PathUse] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    steps_taken: int = 0

    def run(self, found: Sequence[Step]) -> None:
        """Take in every step of a line."""
        for step in found:
            self.step(step)

    def step(self, step: Step) -> None:
        """Take in one step, with what its redirections read and write.

        Raises NotPlain for a program, option or operand that no table knows.
        """
        self.steps_taken += 1
        if self.steps_taken > _MOST_STEPS:
            raise NotPlain("the line runs too many commands")
        for word in step.inputs:
            self.path("read", word, step.folders)
        for word in step.outputs:
            self.path("write", word, step.folders)
        if step.outputs:
            self.effect("write", "writes to a file")
        name = program_name(step)
        self.programs.append(name)
        handler = self.handlers.get(name)
        if handler is not None:
            handler(self, step)
            return
        self.listed(step)

    def listed(self, step: Step) -> None:
        """Take in a program that its table tells whole."""
        self.apply(parse(step))

    def apply(self, call: ParsedArguments) -> None:
        """Take in a program whose words are read by its table."""
        program = call.program
        self.effect(program.does, program.says)
        folders = call.folders
        self.options_of(call)
        paths = [word for kind, word in call.operands if kind in _PATHS]
        written = [word for kind, word in call.operands if kind == "out"]
        tree = call.reads_trees()
        changes = program.does in ("write", "delete") and not written
        for word in paths:
            how = "write" if changes else "tree" if tree else "read"
            self.path(how, word, folders, only=call.only(), guarded=call.guarded(word), follows=call.follows())
        for word in written:
            self.path("write", word, folders)
        for word in (*paths, *written[:-1]) if program.path[0] in _MOVES else ():
            self.path("moved", word, folders, guarded=call.guarded(word))
        if not paths and (program.bare or call.has(*program.tree)) and not written:
            self.path("tree" if tree else "read", ShellWord("."), folders, only=call.only())

    def options_of(self, call: ParsedArguments) -> None:
        """Note the paths that options name: files, and the folder that the program works in."""
        for kind, word in call.values:
            if kind in _PATHS:
                self.path("read", word, call.folders)
            elif kind == "out":
                self.path("write", word, call.folders)
            elif kind == "folder":
                self.uses += [PathUse("read", folder) for folder in call.folders]

    def effect(self, does: str, says: str) -> None:
        """Note an effect; the strongest one's phrase is kept."""
        if not self.says or (self.does and EFFECTS.index(does) > max(map(EFFECTS.index, self.does))):
            self.says = says or _SAYS[does]
        self.does.add(does)

    def path(
        self,
        how: str,
        word: ShellWord,
        folders: Sequence[str],
        *,
        only: tuple[str, ...] = (),
        visible: bool = False,
        guarded: bool = True,
        follows: bool = False,
    ) -> None:
        """Note a path that is used, in every folder that the shell may be in.

        Raises NotPlain for a path that is known only when the line runs.
        """
        if word.below is not None:
            if how == "write":
                raise NotPlain("files are written whose names are known only when the line runs")
            below = word.below
            # One of the names may be a folder's, and a reader of trees reads every file in it.
            named = below.only if how == "read" else ()
            self.uses += [
                PathUse("tree", posixpath.join(folder, root), only=named, follows=True, split=below.split)
                for folder in folders
                for root in below.roots
            ]
            return
        if word.text is None:
            raise NotPlain("a path is known only when the line runs")
        if word.text in ("/dev/null", "-", "/dev/stdin", "/dev/stdout", "/dev/stderr") and not word.wild:
            return
        dashes = word.wild and not guarded and is_pattern(word.text[:1])
        if len(self.uses) + len(folders) > MAX_USES:
            raise NotPlain("the command names too many paths")
        for folder in folders:
            joined = posixpath.join(folder, word.text) if folder else word.text
            self.uses.append(PathUse(how, joined, word.wild, only, visible, dashes, follows))
