"""Finds the effects of a shell line on files and hosts, from the tables of programs.

``effects`` returns an Effects only if the tables list every program of the line, with each of its options and operands.
An Effects lists the paths that the line uses. ``hitl.policy.vouching`` judges each path as a call of a tool that reads
or writes a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hitl.policy.shell import special
from hitl.policy.shell.found import EFFECTS, Found, PathUse
from hitl.policy.shell.plain import Step, steps
from hitl.policy.shell.plain_words import NotPlain, ShellWord

MAX_WORDS: Final = 1024  # effects are unknown for an argument list with more words
# Effects are cached only for commands of at most this many characters, because longer texts take much memory.
_MOST_KEPT = 8_192


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a line.

    - ``does`` are the kinds of effects, such as `read`.
    - ``says`` describes the strongest effect. It completes the sentence "The command ...".
    - ``uses`` are the paths that the line uses.
    - ``programs`` are the programs that the line runs.
    """

    does: frozenset[str]
    says: str
    uses: tuple[PathUse, ...]
    programs: tuple[str, ...]

    @property
    def strongest(self) -> str:
        """The strongest kind of effect in ``does``."""
        return max(self.does, key=EFFECTS.index, default=EFFECTS[0])


def effects(command: str | tuple[str, ...], folder: str = "") -> Effects | str:
    """Return the effects of a line or an argument list, or the reason, in words, why the effects are unknown.

    ``folder`` is the folder in which the line runs, if it isn't the call's working folder. Relative paths in the result
    and in ``folder`` start from the call's working folder.
    """
    size = len(folder) + (len(command) if isinstance(command, str) else sum(map(len, command)))
    return (_kept if size <= _MOST_KEPT else _told)(command, folder)


def _told(command: str | tuple[str, ...], folder: str) -> Effects | str:
    found = Found(special.HANDLERS)
    try:
        if folder:
            found.path("read", ShellWord(folder), ("",))
        where = (folder,)
        whole = steps(command, where) if isinstance(command, str) else [Step(tuple(map(ShellWord, command)), where)]
        found.run(whole)
    except NotPlain as why:
        return str(why)
    return Effects(frozenset(found.does), found.says, tuple(dict.fromkeys(found.uses)), tuple(found.programs))


_kept = lru_cache(maxsize=512)(_told)
