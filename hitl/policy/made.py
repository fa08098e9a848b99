"""Finds out whether a line makes a file that changes which files a command of the same line reads.

The use of a folder is judged by the files that are in the folder before the line runs. But a line may first make a file
there, and some names change what the next command does: with a `HEAD`, a folder becomes a repository whose
configuration names programs; with an ignore file, ripgrep reads hidden files; a name that begins with a dash becomes an
option behind a shell's pattern; with `@`, the name of a file with options; a name with a blank becomes two names behind
xargs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from hitl.policy.listing import may_be
from hitl.policy.shell.found import PathUse
from hitl.policy.tables import names
from hitl.policy.tables.known import accepts

#: The uses of a path for which git looks for a repository.
_GIT: Final = names("repository addresses")
#: The names without which git takes no folder for a repository (gitrepository-layout(5)), in lower case.
_REPOSITORY: Final = names("head objects refs commondir")
#: The files whose patterns ripgrep obeys (ripgrep's guide, "Automatic filtering").
_IGNORE: Final = names(".gitignore .ignore .rgignore")
#: Characters at which xargs ends a name, or which it removes from a name (POSIX, xargs).
SPLITS: Final = re.compile(r"[\s'\"\\]")


def outdated(uses: Sequence[PathUse], moved: Callable[[PathUse], Iterable[str] | None]) -> bool:
    """Return whether the line makes a name that may change what one of its uses of a path reads.

    ``moved`` returns the names that a use of the kind ``moved`` takes to another place, or None if they are unknown.
    """
    looking = [
        use for use in uses if use.how in ("repository", "addresses") or use.dashes or use.split or _ignores(use)
    ]
    if not looking:
        return False
    for use in uses:
        made = moved(use) if use.how == "moved" else use.path.split("/") if use.how == "write" else ()
        wild = use.wild and use.how == "write"
        if made is None or any(_changes(name, one, wild=wild) for name in made for one in looking):
            return True
    return False


def _ignores(use: PathUse) -> bool:
    """Return whether the program leaves out the hidden files of a folder, except those that an ignore file includes."""
    return use.how in ("tree", "tracked") and use.shown is not None


def _changes(name: str, use: PathUse, *, wild: bool) -> bool:
    """Return whether a file with this name changes what ``use`` reads. With ``wild``, the name is a pattern."""
    if use.how in _GIT:
        return _is_one(name.lower(), _REPOSITORY, wild=wild)
    if _ignores(use) and _is_one(name.lower(), _IGNORE, wild=wild):
        return True
    return mistaken(name, use) or (use.split and SPLITS.search(name) is not None)


def mistaken(name: str, use: PathUse) -> bool:
    """Return whether a program could take the name of a file for an option, or for something else than a file."""
    return (use.dashes and name.startswith(("-", "+"))) or (use.named and not accepts("named", name))


def _is_one(name: str, of: Iterable[str], *, wild: bool) -> bool:
    return any(may_be(one, name) for one in of) if wild else name in of
