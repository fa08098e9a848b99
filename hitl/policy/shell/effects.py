"""What a plain line does to files and hosts, told by the tables of programs; or that it can't be told.

``effects`` gives an Effects for a line that is understood whole: every program is in the tables with each option and
operand that it is given. The paths are told, not judged: ``conditions`` judges each as the tools that read and write
files are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hitl.policy.shell import special
from hitl.policy.shell.found import EFFECTS, Found, PathUse
from hitl.policy.shell.plain import Step, steps
from hitl.policy.shell.plain_words import NotPlain, ShellWord

MAX_WORDS: Final = 1024  # of an argument list
_MOST_KEPT = 8_192  # characters; the texts of so many longer commands would fill the memory


@dataclass(frozen=True, slots=True)
class Effects:
    """What a line does: the kinds of effects, a phrase for the strongest, and the paths that it uses."""

    does: frozenset[str]
    says: str
    uses: tuple[PathUse, ...]
    programs: tuple[str, ...]

    @property
    def strongest(self) -> str:
        """The strongest of the kinds."""
        return max(self.does, key=EFFECTS.index, default=EFFECTS[0])


def effects(command: str | tuple[str, ...], folder: str = "") -> Effects | str:
    """The effects of a line or an argument list; a text says why they can't be told.

    ``folder`` is where it runs, if that isn't the call's working folder; every path is told from the latter.
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
