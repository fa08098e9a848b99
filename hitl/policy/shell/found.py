"""Collects the effects of the steps (simple commands) of a line: the kinds of effects, and the paths that they use."""

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
#: The kinds of effects, from the weakest to the strongest.
EFFECTS: Final = known.EFFECTS
MAX_USES: Final = 128  # a line with more paths is refused, because each path is judged as a separate call
_MOST_STEPS = 512
_MOVES = frozenset(("cp", "mv"))  # programs that write a file, or everything below a folder, to another place
_PATHS = frozenset(("path", "named", "item"))


@dataclass(frozen=True, slots=True)
class PathUse:
    """One path that a command uses.

    ``how`` is one of these:

    - ``read``: reads this file, or the names in this folder
    - ``write``: writes this file or folder
    - ``tree``: reads every file below this folder
    - ``tracked``: reads every file that git may track in this folder
    - ``former``: git shows this file, perhaps with its former contents
    - ``moved``: the file, and everything below a folder, may be written to another place
    - ``repository``: git reads the repository of this folder and its configuration
    - ``addresses``: as ``repository``, and git shows the addresses of other repositories
    """

    how: str
    path: str
    #: Whether the path is a pattern of file names.
    wild: bool = False
    #: For ``tree`` and ``tracked``: the patterns of the base names that are read, or () for all files.
    only: tuple[str, ...] = ()
    #: None if hidden files are read too. Otherwise, a hidden file is read only if its name matches one of the patterns.
    shown: tuple[str, ...] | None = None
    #: Whether the program could take a file name that begins with a dash for an option.
    dashes: bool = False
    #: Whether the program takes some file names for something else than a file (the kind ``named`` of the tables).
    named: bool = False
    #: Whether symbolic links below the folder are followed.
    follows: bool = False
    #: Whether xargs splits the names at blanks and passes on the parts, so that a name with a blank becomes several
    #: names.
    split: bool = False


@dataclass(slots=True)
class Found:
    """Collects the effects of the steps of a line."""

    #: Program -> the function that adds the effects of a step with this program. Other programs need only their table.
    handlers: Mapping[str, Callable[[Found, Step], None]]
    does: set[str] = field(default_factory=set)
    says: str = ""
    uses: list[PathUse] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    steps_taken: int = 0

    def run(self, found: Sequence[Step]) -> None:
        """Add the effects of every step (simple command) of a line."""
        for step in found:
            self.step(step)

    def step(self, step: Step) -> None:
        """Add the effects of one step and of its redirections.

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
        """Add the effects of a step by the table of its program. A function in ``handlers`` isn't called."""
        self.apply(parse(step))

    def apply(self, call: ParsedArguments) -> None:
        """Add the effects of a command whose words are already parsed by its program's table."""
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
        """Add the paths that are values of options: files, and the folder in which the program works."""
        for kind, word in call.values:
            if kind in _PATHS:
                self.path("read", word, call.folders)
            elif kind == "out":
                self.path("write", word, call.folders)
            elif kind == "folder":
                self.uses += [PathUse("read", folder) for folder in call.folders]

    def effect(self, does: str, says: str) -> None:
        """Add an effect. Of all phrases ``says``, the phrase of the strongest effect is kept."""
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
        shown: tuple[str, ...] | None = None,
        guarded: bool = True,
        follows: bool = False,
    ) -> None:
        """Add a path that the line uses, once for each folder that may be the shell's working folder.

        ``only``, ``shown`` and ``follows`` are those of PathUse. ``guarded`` says that the program can't take a file
        name that matches the word for an option. Raises NotPlain for a path that is known only when the line runs.
        """
        if word.below is not None:
            if how == "write":
                raise NotPlain("files are written whose names are known only when the line runs")
            below = word.below
            # The word is the name of a file below ``below.roots``. If the name is a folder's, a program that reads
            # trees reads every file in it. So the patterns of names limit only a use that reads one file.
            named = below.only if how == "read" else ()
            self.uses += [
                PathUse(
                    "tree",
                    posixpath.join(folder, root),
                    only=named,
                    shown=below.shown,
                    dashes=below.bare,
                    named=word.named,
                    follows=True,
                    split=below.split,
                )
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
            self.uses.append(PathUse(how, joined, word.wild, only, shown, dashes, word.named, follows))
